#include "place/verify/pool_load.h"

#include <algorithm>

namespace isochrone::verify {

using scenarios::kBlocks;

std::vector<PoolLoad> pool_loads(const Facts& facts) {
  std::vector<PoolLoad> loads(static_cast<std::size_t>(facts.plan.pools_size()));
  for (const plan::Assignment& assigned : facts.plan.assignments()) {
    const auto id = facts.population(assigned.demand(), assigned.metro());
    if (!id || assigned.pool() >= loads.size()) continue;
    const scenarios::Population& population = facts.demand.populations[*id];
    for (int b = 0; b < std::min<int>(assigned.share_ppb_size(), kBlocks); ++b) {
      const auto block = static_cast<std::size_t>(b);
      const Wide part = Wide{population.load[block].count()} * assigned.share_ppb(b);
      loads[assigned.pool()].scaled[block] += part;
      loads[assigned.pool()].rounded[block] +=
          static_cast<std::int64_t>((part + kWholeShare - 1) / kWholeShare);
    }
  }
  return loads;
}

}  // namespace isochrone::verify
