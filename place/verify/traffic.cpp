#include "place/verify/traffic.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/csv.h"
#include "base/diagnostics.h"

namespace isochrone::verify {
namespace {

using scenarios::kBlocks;
using scenarios::Population;

constexpr std::int64_t kGb = 1'000'000'000;

std::int64_t micro_per_gb(const datasets::EgressTier& tier) {
  return std::llround(tier.usd_per_gb * 1e6);
}

/// Part of [0, volume] that lies in a tier.
std::int64_t bytes_within(const datasets::EgressTier& tier, std::int64_t volume) {
  const std::int64_t from = std::llround(tier.from_gb * 1e9);
  const std::int64_t to =
      tier.to_gb ? std::min(volume, std::int64_t{std::llround(*tier.to_gb * 1e9)})
                 : volume;
  return std::max<std::int64_t>(0, to - from);
}

/// Mean of `value`, weighted by `weight` where the table has one.
double mean_of_table(const CsvTable& table, const std::string& value,
                     const std::string& weight) {
  Diagnostics faults;
  double sum = 0;
  double total = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const double w = weight.empty() ? 1 : table.number_in(row, weight, 0, 1e12, faults);
    sum += w * table.number_in(row, value, 0, 1e9, faults);
    total += w;
  }
  faults.throw_if_errors();
  return total > 0 ? sum / total : 0;
}

double mean_of(const spec::Law& law, const std::string& folder) {
  const auto path = [&](const std::string& file) {
    return (std::filesystem::path(folder) / file).string();
  };
  if (law.has_constant()) return law.constant();
  if (law.has_uniform()) return (law.uniform().min() + law.uniform().max()) / 2;
  if (law.has_lognormal()) return law.lognormal().mean();
  if (law.has_empirical()) {
    return mean_of_table(CsvTable::read(path(law.empirical()), {"value", "weight"}),
                         "value", "weight");
  }
  if (law.has_trace()) {
    const CsvTable table = CsvTable::read(path(law.trace()), {});
    for (const char* column : {"GeneratedTokens", "output_length", "output_toks"}) {
      if (table.has(column)) return mean_of_table(table, column, "");
    }
  }
  return 0;
}

}  // namespace

double transfer_ms(const spec::Workload& workload, const geo::AccessLaw& access) {
  if (access.download_mbps <= 0) return 0;
  const spec::Payload& payload = workload.payload();
  const double kilobytes =
      payload.up_kb() + (workload.kind() == "service" ? payload.down_kb() : 0);
  return 8 * kilobytes / access.download_mbps;
}

std::int64_t connection_trips(const spec::Workload& workload) {
  if (workload.connection() == "cold_tls") return 3;
  return workload.connection() == "cold_quic" ? 2 : 1;
}

std::int64_t reconnection_trips(const spec::Workload& workload) {
  return workload.connection() == "cold_quic" ? 2 : 3;
}

Traffic::Traffic(const Facts& facts) : facts_(facts) {
  for (const spec::Workload& workload : facts.scenario.spec.workloads()) {
    const spec::Payload& payload = workload.payload();
    double bytes = payload.down_kb() * 1000;
    if (payload.down_bytes_per_token() > 0) {
      bytes += payload.down_bytes_per_token() *
               mean_of(workload.output_tokens(), facts.scenario.folder);
    }
    bytes_.push_back(std::llround(bytes));
  }
  std::int64_t all = 0;
  for (const Population& population : facts.demand.populations) {
    for (const std::int64_t requests : population.requests_month) {
      all += requests * bytes_[population.workload];
    }
  }
  everything_ = std::max<std::int64_t>(1, all);
}

std::int64_t Traffic::lowest_paid_rate(const datasets::EgressPrice& price,
                                       std::int64_t volume) {
  std::int64_t lowest = 0;
  for (const datasets::EgressTier& tier : price.tiers) {
    const std::int64_t rate = micro_per_gb(tier);
    if (rate <= 0 || bytes_within({tier.from_gb, std::nullopt, 0}, volume) == 0)
      continue;
    lowest = lowest == 0 ? rate : std::min(lowest, rate);
  }
  return lowest;
}

std::int64_t Traffic::free_allowance(const datasets::EgressPrice& price) const {
  std::int64_t free_bytes = 0;
  for (const datasets::EgressTier& tier : price.tiers) {
    if (micro_per_gb(tier) == 0) free_bytes += bytes_within(tier, everything_);
  }
  // The bill is rounded down once more than the product: a micro-dollar covers it.
  return at_rate(free_bytes, lowest_paid_rate(price)) + 1;
}

std::int64_t Traffic::bill(const datasets::EgressPrice& price, std::int64_t volume) {
  Wide scaled = 0;
  for (const datasets::EgressTier& tier : price.tiers) {
    scaled += Wide{bytes_within(tier, volume)} * micro_per_gb(tier);
  }
  return static_cast<std::int64_t>(scaled / kGb);
}

std::map<std::string, std::int64_t> Traffic::by_site() const {
  std::map<std::string, std::int64_t> bytes;
  for (const plan::Assignment& assigned : facts_.plan.assignments()) {
    const auto id = facts_.population(assigned.demand(), assigned.metro());
    const plan::Pool* pool = facts_.pool(assigned.pool());
    if (!id || pool == nullptr || facts_.site_of(*pool) == nullptr) continue;
    const Population& population = facts_.demand.populations[*id];
    std::int64_t& sum = bytes[facts_.site_of(*pool)->id];
    for (int b = 0; b < std::min<int>(assigned.share_ppb_size(), kBlocks); ++b) {
      const std::int64_t month =
          population.requests_month[static_cast<std::size_t>(b)] *
          bytes_[population.workload];
      sum +=
          static_cast<std::int64_t>(Wide{month} * assigned.share_ppb(b) / kWholeShare);
    }
  }
  return bytes;
}

std::int64_t at_rate(std::int64_t bytes, std::int64_t usd_micro_per_gb) {
  return static_cast<std::int64_t>(Wide{bytes} * usd_micro_per_gb / kGb);
}

}  // namespace isochrone::verify
