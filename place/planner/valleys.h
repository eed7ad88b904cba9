#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "place/core/instance.h"
#include "place/planner/assembly.h"

namespace isochrone::place {

/// A solution whose batch jobs run, where they can, in the valleys of its own pools.
struct Filled {
  Solution solution;  ///< without the pools that the jobs no longer need
  struct Valley {
    plan::Valley row;  ///< all but the pool
    int host = 0;      ///< index in solution.choices
  };
  std::vector<Valley> valleys;
};

/// Moves each batch workload of the solution to the valleys of one pool, if that pool
/// can do all of its jobs in time: MODEL.md, Valleys. Only pools of the solution are
/// looked at; none is enlarged for it.
Filled fill_valleys(const Assembly& a);

/// What a plan that fills valleys costs at least: the cheapest pool that could do the
/// jobs of a batch workload. nullopt where no workload could be done so.
std::optional<std::int64_t> least_host(const Question& question,
                                       const BuiltInstance& built);

}  // namespace isochrone::place
