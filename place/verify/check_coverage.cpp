#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "place/verify/checks.h"

namespace isochrone::verify {
namespace {

using scenarios::Population;
using scenarios::PopulationId;

std::vector<std::size_t> entries_with_coverage(const Facts& facts) {
  std::vector<std::size_t> entries;
  for (int e = 0; e < facts.scenario.spec.demand_size(); ++e) {
    const spec::Demand& entry = facts.scenario.spec.demand(e);
    if (entry.has_coverage() && entry.coverage() < 1) {
      entries.push_back(static_cast<std::size_t>(e));
    }
  }
  return entries;
}

/// By the certificate, whose prices of populations come first and in their order.
std::int64_t paid(const Facts& facts, std::size_t entry) {
  const plan::Certificate& certificate = facts.plan.certificate();
  Wide micros = 0;
  Wide nanos = 0;
  for (std::uint32_t i = 0; i < facts.demand.populations.size(); ++i) {
    const Population& users = facts.demand.populations[PopulationId{i}];
    if (users.entry != entry) continue;
    if (i < static_cast<std::uint32_t>(certificate.prices_size())) {
      for (const std::int64_t price :
           certificate.prices(static_cast<int>(i)).usd_micro()) {
        micros += price;
      }
    }
    for (const plan::Certificate::Row& row : certificate.rows()) {
      if (row.block() >= scenarios::kBlocks) continue;
      const auto times = std::ranges::count(row.demands(), i);
      nanos += Wide{row.multiplier()} * users.load[row.block()].count() * times;
    }
  }
  return static_cast<std::int64_t>((micros * 1000 + nanos) / 1000);
}

}  // namespace

void check_coverage(const Facts& facts, Faults& faults) {
  const std::vector<std::size_t> entries = entries_with_coverage(facts);
  if (facts.plan.coverage_size() != static_cast<int>(entries.size())) {
    faults.add("coverage", fmt::format("{} entries, there should be {}",
                                       facts.plan.coverage_size(), entries.size()));
    return;
  }
  for (int i = 0; i < facts.plan.coverage_size(); ++i) {
    const plan::Coverage& claimed = facts.plan.coverage(i);
    const std::string where = fmt::format("coverage[{}]", i);
    const std::size_t e = entries[static_cast<std::size_t>(i)];
    const spec::Demand& entry = facts.scenario.spec.demand(static_cast<int>(e));
    double users = 0;
    double left_out = 0;
    std::int64_t penalty = 0;
    for (const Population& p : facts.demand.populations) {
      if (p.entry == e) users += p.users;
    }
    for (const plan::Unserved& left : facts.plan.unserved()) {
      const auto id = facts.population(left.demand(), left.metro());
      if (!id || facts.demand.populations[*id].entry != e) continue;
      left_out += facts.demand.populations[*id].users * left.share_ppb() / 1e9;
      penalty += unserved_price(facts, *id, left.share_ppb());
    }
    faults.equal(where + ".demand", claimed.demand(), entry.name());
    faults.equal(where + ".least", claimed.least(), entry.coverage());
    faults.near(where + ".users", claimed.users(), users, 1e-6 * std::max(1.0, users));
    faults.near(where + ".users_left_out", claimed.users_left_out(), left_out,
                1e-6 * std::max(1.0, left_out));
    faults.equal(where + ".left_out_usd_micro", claimed.left_out_usd_micro(), penalty);
    faults.equal(where + ".usd_micro_per_user_left_out",
                 claimed.usd_micro_per_user_left_out(),
                 usd(entry.unserved_usd_user_month()).count());
    faults.equal(where + ".serving_usd_micro", claimed.serving_usd_micro(),
                 paid(facts, e));
  }
}

}  // namespace isochrone::verify
