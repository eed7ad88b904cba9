#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "place/verify/checks.h"
#include "place/verify/loss.h"
#include "place/verify/seal.h"

namespace isochrone::verify {
namespace {

using scenarios::kBlocks;

/// Degraded capacity of each pool with the least replicas that carry what the plan
/// sends to it.
std::vector<std::int64_t> capacities_by_day(const Facts& facts) {
  std::vector<std::array<Wide, kBlocks>> loads(
      static_cast<std::size_t>(facts.plan.pools_size()));
  for (const plan::Assignment& assigned : facts.plan.assignments()) {
    const auto id = facts.population(assigned.demand(), assigned.metro());
    if (!id || assigned.pool() >= loads.size()) continue;
    const scenarios::Population& population = facts.demand.populations[*id];
    for (int b = 0; b < std::min<int>(assigned.share_ppb_size(), kBlocks); ++b) {
      const auto block = static_cast<std::size_t>(b);
      loads[assigned.pool()][block] +=
          Wide{population.load[block].count()} * assigned.share_ppb(b);
    }
  }
  std::vector<std::int64_t> capacities;
  for (std::size_t p = 0; p < loads.size(); ++p) {
    const plan::Pool& pool = facts.plan.pools(static_cast<int>(p));
    const plan::Table* table = facts.table(pool);
    const Wide peak = *std::ranges::max_element(loads[p]);
    std::int64_t n = 1;
    while (table != nullptr && n < pool.replicas() &&
           Wide{carried(*table, n, false)} * kWholeShare < peak) {
      ++n;
    }
    const bool none = table == nullptr || pool.profile() == "batch";
    capacities.push_back(none ? 0 : carried(*table, n, true));
  }
  return capacities;
}

}  // namespace

void check_repairs(const Facts& facts, Faults& faults) {
  const plan::Repairs& repairs = facts.plan.repairs();
  faults.equal("repairs.seal", repairs.seal(), seal_of(repairs));
  const Losses losses(facts);
  const ServedLoads loads = loads_to_survive(facts);
  const std::vector<std::int64_t> by_day = capacities_by_day(facts);
  const std::vector<std::int64_t> now = losses.capacities();
  for (int i = 0; i < repairs.cuts_size(); ++i) {
    const plan::Repair& claimed = repairs.cuts(i);
    const std::string where = fmt::format("repairs.cuts[{}]", i);
    if (!losses.elements().contains(claimed.element())) {
      faults.add(where + ".element", "the plan does not use it");
      continue;
    }
    const auto worth = losses.measure(claimed.element(), claimed.cut(), loads, now);
    const auto before = losses.measure(claimed.element(), claimed.cut(), loads, by_day);
    if (!worth || !before) {
      faults.add(where + ".cut", "it is no set of ascending populations in a block");
      continue;
    }
    faults.equal(where + ".cut.need", claimed.cut().need(), worth->need);
    faults.equal(where + ".cut.left", claimed.cut().left(), worth->left);
    // Whoever interpolates in doubles may be off by one in each pool.
    if (std::abs(claimed.had() - before->left) > facts.plan.pools_size()) {
      faults.add(where + ".had",
                 fmt::format("{}, it should be {}", claimed.had(), before->left));
    }
    if (!(claimed.had() < claimed.cut().need() &&
          claimed.cut().need() <= claimed.cut().left())) {
      faults.add(where + ".cut",
                 fmt::format("{} < {} <= {} does not hold", claimed.had(),
                             claimed.cut().need(), claimed.cut().left()));
    }
    if (i == 0) continue;
    const plan::Repair& last = repairs.cuts(i - 1);
    const auto key = [](const plan::Repair& repair) {
      const auto& users = repair.cut().populations();
      return std::tuple(repair.element(),
                        std::vector<std::uint32_t>(users.begin(), users.end()));
    };
    if (key(last) >= key(claimed)) {
      faults.add(where, "it does not follow its predecessor in their order");
    }
  }
}

}  // namespace isochrone::verify
