#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "place/verify/checks.h"
#include "place/verify/pool_load.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::kBlocks;
using scenarios::Population;
using scenarios::PopulationId;

class AssignmentCheck {
 public:
  AssignmentCheck(const Facts& facts, Faults& faults, int index)
      : facts_(facts),
        faults_(faults),
        assigned_(facts.plan.assignments(index)),
        where_(fmt::format("assignments[{}]", index)) {}

  void run() {
    const auto id = facts_.population(assigned_.demand(), assigned_.metro());
    const plan::Pool* pool = facts_.pool(assigned_.pool());
    if (!id) {
      faults_.add(at("metro"), fmt::format("the scenario has no users of \"{}\" in {}",
                                           assigned_.demand(), assigned_.metro()));
      return;
    }
    if (pool == nullptr) {
      faults_.add(at("pool"), "there is no such pool");
      return;
    }
    const Population& population = facts_.demand.populations[*id];
    faults_.equal(at("country"), assigned_.country(),
                  population.endpoint.country.text());
    faults_.equal(at("pool"), pool->workload(), facts_.workload(population).name());
    check_shares();
    const CandidateSite* site = facts_.site_of(*pool);
    if (site == nullptr) return;
    check_law(population, *site);
    check_distance(*id, *site);
    check_reach(*id, *pool);
  }

 private:
  std::string at(const char* field) const { return where_ + "." + field; }

  void check_shares() {
    if (assigned_.share_ppb_size() != static_cast<int>(kBlocks)) {
      faults_.add(at("share_ppb"), fmt::format("{} blocks, there are {}",
                                               assigned_.share_ppb_size(), kBlocks));
    }
    if (std::ranges::all_of(assigned_.share_ppb(), [](auto ppb) { return ppb == 0; })) {
      faults_.add(at("share_ppb"), "nobody is assigned");
    }
  }

  void check_law(const Population& population, const CandidateSite& site) {
    if (facts_.lawful(population, site)) return;
    faults_.add(where_, fmt::format("data of users in {} may not be processed in {}",
                                    population.endpoint.country.text(),
                                    site.endpoint.country.text()));
  }

  void check_distance(PopulationId id, const CandidateSite& site) {
    const geo::RttEntry& rtt = facts_.rtt(id, site);
    faults_.equal(at("rtt_us"), assigned_.rtt_us(), rtt.rtt.count());
    faults_.equal(at("rtt_basis"), assigned_.rtt_basis(), rtt_basis_name(rtt.basis));
  }

  void check_reach(PopulationId id, const plan::Pool& pool) {
    const plan::Table* table = facts_.table(pool);
    if (table == nullptr || pool.profile() == "batch") return;
    const auto reach = facts_.reach_us(*table, id);
    if (!reach) {
      faults_.add(at("reach_us"),
                  fmt::format("its table reaches nobody of \"{}\" in {}",
                              assigned_.demand(), assigned_.country()));
      return;
    }
    faults_.equal(at("reach_us"), assigned_.reach_us(), reach->normal);
    faults_.equal(at("degraded_reach_us"), assigned_.degraded_reach_us(),
                  reach->degraded);
    if (assigned_.rtt_us() > assigned_.reach_us()) {
      faults_.add(at("rtt_us"), fmt::format("{} us, beyond the reach of {} us",
                                            assigned_.rtt_us(), assigned_.reach_us()));
    }
  }

  const Facts& facts_;
  Faults& faults_;
  const plan::Assignment& assigned_;
  std::string where_;
};

using Blocks = std::array<std::int64_t, kBlocks>;

void check_sums(const Facts& facts, Faults& faults) {
  std::map<PopulationId, Blocks> sums;
  for (const plan::Assignment& assigned : facts.plan.assignments()) {
    const auto id = facts.population(assigned.demand(), assigned.metro());
    if (!id) continue;
    Blocks& sum = sums[*id];
    for (int b = 0; b < std::min<int>(assigned.share_ppb_size(), kBlocks); ++b) {
      sum[static_cast<std::size_t>(b)] += assigned.share_ppb(b);
    }
  }
  std::map<PopulationId, std::int64_t> unserved;
  for (const plan::Unserved& left : facts.plan.unserved()) {
    const auto id = facts.population(left.demand(), left.metro());
    if (id) unserved[*id] += left.share_ppb();
  }
  for (std::uint32_t i = 0; i < facts.demand.populations.size(); ++i) {
    const Population& population = facts.demand.populations[PopulationId{i}];
    const Blocks& sum = sums[PopulationId{i}];
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const std::int64_t total = sum[b] + unserved[PopulationId{i}];
      if (total == kWholeShare) continue;
      faults.add("assignments.share_ppb",
                 fmt::format("shares of \"{}\" in {} sum to {} in block {}, not to {}",
                             facts.entry_name(population), population.metro, total, b,
                             kWholeShare));
      break;
    }
  }
}

void check_loads(const Facts& facts, Faults& faults) {
  const std::vector<PoolLoad> loads = pool_loads(facts);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const plan::Pool& pool = facts.plan.pools(static_cast<int>(i));
    if (pool.profile() == "batch") continue;
    const auto busiest = std::ranges::max_element(loads[i].scaled);
    if (*busiest > Wide{pool.capacity()} * kWholeShare) {
      faults.add(fmt::format("pools[{}].capacity", i),
                 fmt::format("{} micro-rps, {} come in block {}", pool.capacity(),
                             static_cast<std::int64_t>(*busiest / kWholeShare),
                             busiest - loads[i].scaled.begin()));
    }
    const auto peak = static_cast<double>(*std::ranges::max_element(loads[i].rounded));
    const double use =
        pool.capacity() > 0 ? peak / static_cast<double>(pool.capacity()) : 0;
    faults.near(fmt::format("pools[{}].peak_utilisation", i), pool.peak_utilisation(),
                use, 1e-6);
  }
}

/// `sticky: site` lets a session stay: its users' shares are the same at all hours.
void check_sticky(const Facts& facts, Faults& faults, int index) {
  const plan::Assignment& assigned = facts.plan.assignments(index);
  const auto id = facts.population(assigned.demand(), assigned.metro());
  if (!id) return;
  const Population& population = facts.demand.populations[*id];
  if (facts.workload(population).session().sticky() != "site") return;
  const auto& shares = assigned.share_ppb();
  if (!std::ranges::all_of(shares, [&](auto ppb) { return ppb == shares[0]; })) {
    faults.add(fmt::format("assignments[{}].share_ppb", index),
               "sessions stay at their site, but the shares change with the hour");
  }
}

/// By population, then by pool: one plan has one form.
void check_order(const Facts& facts, Faults& faults) {
  std::pair<std::size_t, std::uint32_t> last;
  for (int i = 0; i < facts.plan.assignments_size(); ++i) {
    const plan::Assignment& assigned = facts.plan.assignments(i);
    const auto id = facts.population(assigned.demand(), assigned.metro());
    if (!id) continue;
    const std::pair now(id->index(), assigned.pool());
    if (now < last) {
      faults.add(fmt::format("assignments[{}]", i),
                 "they are not in the order of populations and pools");
    }
    last = now;
  }
}

}  // namespace

void check_assignments(const Facts& facts, Faults& faults) {
  std::set<std::tuple<std::string, std::string, std::uint32_t>> seen;
  for (int i = 0; i < facts.plan.assignments_size(); ++i) {
    AssignmentCheck(facts, faults, i).run();
    check_sticky(facts, faults, i);
    const plan::Assignment& assigned = facts.plan.assignments(i);
    if (!seen.insert({assigned.demand(), assigned.metro(), assigned.pool()}).second) {
      faults.add(fmt::format("assignments[{}]", i),
                 "the same users on the same pool twice");
    }
  }
  check_order(facts, faults);
  check_sums(facts, faults);
  check_loads(facts, faults);
}

}  // namespace isochrone::verify
