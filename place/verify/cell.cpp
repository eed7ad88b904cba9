// What the simulator measured cannot be measured again here. But a cell brings all that
// its verdict rests on, and every number in it follows from others in it: counts add
// up, limits follow from the standard error, the verdict from the limits and the
// windows, the value at the percentile lies on the limit's side that the share within
// it says. The seal covers what is left, such as which hours they were.
#include "place/verify/cell.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <fmt/format.h>

#include "place/verify/seal.h"

namespace isochrone::verify {
namespace {

using scenarios::kBlocks;
using scenarios::Population;
using scenarios::PopulationId;
using Cells = google::protobuf::RepeatedPtrField<plan::Cell>;

constexpr double kConfidence = 0.95;
constexpr std::uint64_t kFewestWindows = 48;
constexpr std::size_t kWorstBlocks = 3;
constexpr double kRounding = 1e-9;
constexpr const char* kOtherHours = "other hours";
constexpr const char* kParts[] = {"connection", "last mile", "wan",     "transfer",
                                  "front end",  "queue",     "prefill", "decode"};
constexpr int kTtftParts = 7;
constexpr int kMissParts = 4;  // network, queue, prefill, decode

std::string name_of(const spec::Objective& objective) {
  return fmt::format("{}_p{:g}_ms", objective.metric(), objective.percentile());
}

std::string name_of_block(std::size_t block) { return fmt::format("{:02} UTC", block); }

/// The percentile of "ttft_p99.9_ms", as a share; negative if there is none.
double percentile_of(const std::string& objective) {
  const auto from = objective.find("_p");
  if (from == std::string::npos) return -1;
  return std::strtod(objective.c_str() + from + 2, nullptr) / 100;
}

/// Middle of the histogram bucket that holds `value`: values agree in their first seven
/// bits; below 128 each stands alone.
std::int64_t middle_of_bucket(std::int64_t value) {
  if (value < 128) return value;
  const int dropped =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 7;
  const std::int64_t low = value >> dropped << dropped;
  return low + (std::int64_t{1} << dropped >> 1);
}

struct Limits {
  double low = 0;
  double high = 1;
};

/// One-sided limits of the attained share: Student's t about the estimate, never closer
/// than Clopper and Pearson's for as many independent requests.
Limits limits_of(const plan::Cell& cell) {
  if (!cell.complete()) return {0, 1};
  const double missed = 1 - cell.attained();
  const boost::math::students_t law(std::max(1.0, cell.degrees()));
  const double reach = boost::math::quantile(law, kConfidence) * cell.standard_error();
  double most = std::min(1.0, missed + reach);
  double least = std::max(0.0, missed - reach);
  const double late = missed * cell.effective_requests();
  const double kept = cell.effective_requests() - late;
  most = kept <= 0 ? 1
                   : std::max(most, boost::math::ibeta_inv(
                                        late + 1, std::max(kept, 1e-9), kConfidence));
  least = late <= 0
              ? 0
              : std::min(least, boost::math::ibeta_inv(std::max(late, 1e-9), kept + 1,
                                                       1 - kConfidence));
  return {1 - most, 1 - least};
}

std::string verdict_of(const plan::Cell& cell, double p) {
  if (cell.requests() == 0 || cell.windows() < kFewestWindows) return "not shown";
  if (cell.low() >= p) return "met";
  return cell.high() < p ? "missed" : "not shown";
}

class CellCheck {
 public:
  CellCheck(const plan::Cell& cell, std::string where, Faults& faults)
      : cell_(cell), where_(std::move(where)), faults_(faults) {}

  void run() {
    faults_.equal(at("seal"), cell_.seal(), seal_of(cell_));
    check_counts();
    if (measures_hold()) check_estimate();
    check_percentile();
    check_parts();
    check_missed_by();
  }

 private:
  std::string at(const char* field) const { return where_ + "." + field; }

  void check_counts() {
    const std::uint64_t sum = cell_.kept() + cell_.late() + cell_.unfinished();
    if (cell_.requests() != sum) {
      faults_.add(at("requests"), fmt::format("{}, kept, late and unfinished make {}",
                                              cell_.requests(), sum));
    }
    if (cell_.requests() > 0 && cell_.windows() == 0) {
      faults_.add(at("windows"), "requests without a window");
    }
    // Windows of unequal weight tell less than as many requests, never more.
    if (cell_.effective_requests() >
        static_cast<double>(cell_.requests()) * (1 + kRounding)) {
      faults_.add(at("effective_requests"), "more than were measured");
    }
  }

  /// Whether the measured numbers are such that limits can be worked out of them.
  bool measures_hold() {
    const bool hold =
        cell_.attained() >= 0 && cell_.attained() <= 1 && cell_.standard_error() >= 0 &&
        cell_.degrees() >= 1 && cell_.effective_requests() >= 0 &&
        std::isfinite(cell_.standard_error()) && std::isfinite(cell_.degrees()) &&
        std::isfinite(cell_.effective_requests());
    if (!hold) faults_.add(at("attained"), "it is no share with a standard error");
    return hold;
  }

  void check_estimate() {
    faults_.near(at("attained"), cell_.attained(),
                 cell_.window_share() + cell_.control(), kRounding);
    const Limits limits = limits_of(cell_);
    faults_.near(at("low"), cell_.low(), limits.low, kRounding);
    faults_.near(at("high"), cell_.high(), limits.high, kRounding);
    faults_.equal(at("verdict"), cell_.verdict(),
                  verdict_of(cell_, percentile_of(cell_.objective())));
  }

  /// With at least p of the windows' weight within the limit, the bucket of p is not
  /// beyond the limit's; with less it is not before it.
  void check_percentile() {
    const double ms = cell_.at_percentile_ms();
    if (!(ms >= 0 && ms < 1e12)) {
      faults_.add(at("at_percentile_ms"), fmt::format("{} ms is no time", ms));
      return;
    }
    const auto ns = std::llround(ms * 1e6);
    if (middle_of_bucket(ns) != ns) {
      faults_.add(at("at_percentile_ms"),
                  fmt::format("{} ms is no middle of a bucket", ms));
    }
    if (cell_.requests() == 0) return;
    const std::int64_t limit = middle_of_bucket(std::llround(cell_.limit_ms() * 1e6));
    const double apart = cell_.window_share() - percentile_of(cell_.objective());
    if ((apart > kRounding && ns > limit) || (apart < -kRounding && ns < limit)) {
      faults_.add(at("at_percentile_ms"),
                  fmt::format("{} ms, but {} of the windows' weight is within {} ms",
                              ms, cell_.window_share(), cell_.limit_ms()));
    }
  }

  void check_parts() {
    if (cell_.parts_size() != static_cast<int>(std::size(kParts))) {
      faults_.add(at("parts"), "they are not those of a request");
      return;
    }
    std::int64_t sum = 0;
    for (int i = 0; i < cell_.parts_size(); ++i) {
      const plan::Cell::Part& part = cell_.parts(i);
      const std::string where = fmt::format("{}.parts[{}]", where_, i);
      faults_.equal(where + ".name", part.name(), kParts[i]);
      if (part.ns() < 0) faults_.add(where + ".ns", "it is negative");
      sum += part.ns();
      if (i + 1 == kTtftParts) {
        faults_.equal(at("mean_ttft_ns"), cell_.mean_ttft_ns(), sum);
      }
    }
    faults_.equal(at("mean_e2e_ns"), cell_.mean_e2e_ns(), sum);
  }

  void check_missed_by() {
    const int parts = cell_.late() + cell_.unfinished() > 0 ? kMissParts : 0;
    if (cell_.missed_by_size() != parts) {
      faults_.add(at("missed_by"), fmt::format("{} shares instead of {}",
                                               cell_.missed_by_size(), parts));
      return;
    }
    double sum = 0;
    for (const double share : cell_.missed_by()) {
      if (!(share >= 0)) faults_.add(at("missed_by"), "a share is below 0");
      sum += share;
    }
    if (parts > 0) faults_.near(at("missed_by"), sum, 1, kRounding);
  }

  const plan::Cell& cell_;
  std::string where_;
  Faults& faults_;
};

CellKey key_of(const plan::Cell& cell) {
  return {cell.workload(), cell.region(), cell.objective(), cell.limit_ms()};
}

std::string told(const CellKey& key) {
  return fmt::format("{} within {} ms of \"{}\" in {}", std::get<2>(key),
                     std::get<3>(key), std::get<0>(key), std::get<1>(key));
}

std::pair<std::string, std::string> place_of(const CellKey& key) {
  return {std::get<0>(key), std::get<1>(key)};
}

/// Hours of each objective: the worst blocks of its place, the same for all of its
/// objectives, and the other hours if it is asked for in any.
void check_hours(const Cells& cells, const Asked& asked, const std::string& where,
                 Faults& faults) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> worst;
  std::map<CellKey, std::multiset<std::string>> shown;
  for (const plan::Cell& cell : cells) {
    const CellKey key = key_of(cell);
    shown[key].insert(cell.hours());
    if (cell.hours() != kOtherHours) worst[place_of(key)].insert(cell.hours());
  }
  for (const auto& [place, blocks] : asked.place_blocks) {
    const std::size_t alone = std::min(kWorstBlocks, blocks.size());
    if (worst[place].size() != alone) {
      faults.add(where,
                 fmt::format("{} worst hours of \"{}\" in {}, there should be {}",
                             worst[place].size(), place.first, place.second, alone));
    }
  }
  for (const auto& [key, blocks] : asked.blocks) {
    std::multiset<std::string> should;
    for (const std::size_t block : blocks) {
      const std::string name = name_of_block(block);
      if (worst[place_of(key)].contains(name)) {
        should.insert(name);
      } else if (!should.contains(kOtherHours)) {
        should.insert(kOtherHours);
      }
    }
    if (shown[key] != should) {
      faults.add(where,
                 fmt::format("{} is told of {}, it should be of {}", told(key),
                             fmt::join(shown[key], ", "), fmt::join(should, ", ")));
    }
  }
}

/// Objectives in the order of workloads, regions, metrics, percentiles and limits; of
/// each the worst hours, in one order for all of their place, then the other hours.
void check_cell_order(const Cells& cells, const Asked& asked, const std::string& where,
                      Faults& faults) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> hours;
  const auto rank = [&](const plan::Cell& cell) {
    const auto key = std::ranges::find(asked.order, key_of(cell));
    std::vector<std::string>& seen = hours[place_of(key_of(cell))];
    auto hour = std::ranges::find(seen, cell.hours());
    if (hour == seen.end() && cell.hours() != kOtherHours) {
      hour = seen.insert(seen.end(), cell.hours());
    }
    const auto at = cell.hours() == kOtherHours
                        ? kBlocks
                        : static_cast<std::size_t>(hour - seen.begin());
    return std::pair(key - asked.order.begin(), at);
  };
  for (int i = 1; i < cells.size(); ++i) {
    const auto before = rank(cells[i - 1]);
    if (before < rank(cells[i])) continue;
    faults.add(fmt::format("{}[{}]", where, i), "it does not stand in its order");
  }
}

Asked asked_of(const Facts& facts, const ServedLoads& served,
               const std::set<std::size_t>& covered, bool degraded) {
  Asked asked;
  for (std::uint32_t i = 0; i < facts.demand.populations.size(); ++i) {
    const Population& population = facts.demand.populations[PopulationId{i}];
    const std::string& workload = facts.workload(population).name();
    const std::string& region = facts.demand.regions[population.region].name;
    const EntryObjectives objectives = entry_objectives(facts, population.entry);
    const spec::Slo& slo = degraded ? objectives.degraded : objectives.normal;
    for (const std::size_t block : covered) {
      if (served[i][block] == 0) continue;
      asked.place_blocks[{workload, region}].insert(block);
      for (const spec::Objective& objective : slo.objectives()) {
        asked.blocks[{workload, region, name_of(objective), objective.ms()}].insert(
            block);
      }
    }
  }
  for (const auto& [key, blocks] : asked.blocks) asked.order.push_back(key);
  std::ranges::sort(asked.order, {}, [&](const CellKey& key) {
    const auto& [workload, region, objective, ms] = key;
    const auto metric = objective.starts_with("ttft")   ? 0
                        : objective.starts_with("tpot") ? 1
                                                        : 2;
    const auto& regions = facts.demand.regions.items();
    const auto at = std::ranges::find(regions, region, &scenarios::Region::name);
    return std::tuple(facts.workload_index(workload).value_or(0), at - regions.begin(),
                      metric, percentile_of(objective), ms);
  });
  // A place without an objective has no cells.
  std::erase_if(asked.place_blocks, [&](const auto& place) {
    return std::ranges::none_of(asked.blocks, [&](const auto& cell) {
      return place_of(cell.first) == place.first;
    });
  });
  return asked;
}

}  // namespace

ServedLoads served_loads(const Facts& facts) {
  ServedLoads loads(facts.demand.populations.size());
  for (const plan::Assignment& assigned : facts.plan.assignments()) {
    const auto id = facts.population(assigned.demand(), assigned.metro());
    if (!id) continue;
    const int blocks = std::min<int>(assigned.share_ppb_size(), kBlocks);
    for (int b = 0; b < blocks; ++b) {
      const auto block = static_cast<std::size_t>(b);
      const Wide part = Wide{facts.demand.populations[*id].load[block].count()} *
                        assigned.share_ppb(b);
      loads[id->index()][block] += static_cast<std::int64_t>(part / kWholeShare);
    }
  }
  return loads;
}

Asked asked_of_day(const Facts& facts, const ServedLoads& served) {
  const spec::Simulate& wish = facts.scenario.spec.simulate();
  const std::size_t covered =
      wish.has_hours() ? static_cast<std::size_t>(wish.hours()) : kBlocks;
  std::set<std::size_t> blocks;
  for (std::size_t b = 0; b < std::min(covered, kBlocks); ++b) blocks.insert(b);
  return asked_of(facts, served, blocks, false);
}

Asked asked_of_drill(const Facts& facts, const ServedLoads& served, std::size_t block) {
  return asked_of(facts, served, {block}, true);
}

void check_cell_list(const Cells& cells, const Asked& asked, const std::string& where,
                     Faults& faults) {
  for (int i = 0; i < cells.size(); ++i) {
    const std::string here = fmt::format("{}[{}]", where, i);
    const CellKey key = key_of(cells[i]);
    if (!asked.blocks.contains(key)) {
      faults.add(here, fmt::format("nobody asked for {}", told(key)));
    }
    CellCheck(cells[i], here, faults).run();
  }
  check_hours(cells, asked, where, faults);
  check_cell_order(cells, asked, where, faults);
}

std::uint64_t requests_shown(const Cells& cells) {
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> most;
  for (const plan::Cell& cell : cells) {
    std::uint64_t& requests = most[{cell.workload(), cell.region(), cell.hours()}];
    requests = std::max(requests, cell.requests());
  }
  std::uint64_t sum = 0;
  for (const auto& [key, requests] : most) sum += requests;
  return sum;
}

}  // namespace isochrone::verify
