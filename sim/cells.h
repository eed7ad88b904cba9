#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/deployment.h"
#include "sim/simulate.h"
#include "sim/window.h"

namespace isochrone::sim {

/// An objective of one (workload, region), over all demand entries that set it.
struct CellKey {
  std::size_t workload = 0;
  scenarios::RegionId region;
  Objective objective;
};

/// Blocks that are looked at by themselves, for one (workload, region).
inline constexpr std::size_t kWorstBlocks = 3;

/// A pool in a set of blocks that no region served by it tells apart: simulated as one.
struct Unit {
  PoolId pool;
  std::vector<std::size_t> blocks;
};

/// Where the hours of a unit count for a key: hours 0 .. 2 are the worst blocks, hours
/// 3 the rest of the day.
struct Contribution {
  std::size_t unit = 0;
  std::size_t local = 0;  ///< index of the key in keys_of_pool[pool]
};

/// What is to be measured, and by simulating what.
struct CellPlan {
  std::vector<CellKey> keys;
  std::vector<std::vector<std::size_t>> worst_blocks;  ///< by key, the worst first
  IdVector<PoolId, std::vector<std::size_t>> keys_of_pool;
  IdVector<PoolId, std::vector<std::size_t>> streams_of_pool;
  std::vector<std::vector<std::size_t>> locals_of_stream;  ///< into keys_of_pool
  std::vector<Unit> units;
  /// By key and hours (kWorstBlocks + 1 of them).
  std::vector<std::vector<std::vector<Contribution>>> contributions;
};

/// Blocks 0 .. blocks - 1 are covered. The worst ones of a (workload, region) are those
/// in which a pool that serves it is busiest; the earlier among equals.
CellPlan plan_cells(const Deployment& deployment, std::size_t blocks,
                    const IdVector<PoolId, WindowPool>& pools);

/// "14 UTC"
std::string hour_name(std::size_t block);

}  // namespace isochrone::sim
