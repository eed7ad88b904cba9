#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "sim/deployment.h"
#include "sim/fluid.h"

namespace isochrone::sim {

/// Arrivals at one pool hour after hour: Poisson at the loads of the blocks, times the
/// Gamma multiplier of each (demand entry, region), which is drawn anew each
/// correlation time. Time 0 is the beginning of block `first_block`. What arrives does
/// not depend on what the pool does with it.
class DayTraffic {
 public:
  /// `factor` multiplies all loads.
  DayTraffic(const Deployment& deployment, PoolId pool, std::size_t first_block,
             double factor, const Rng& rng);

  struct Arrival {
    std::int64_t ns = 0;
    std::size_t stream = 0;  ///< index in Deployment::streams
  };
  /// The next one; the largest time if nothing will ever come.
  Arrival next();
  std::size_t block_at(std::int64_t ns) const;

 private:
  struct Group {
    std::size_t entry = 0;
    scenarios::RegionId region;
    const std::vector<double>* multipliers = nullptr;  // nullptr: constant
    std::int64_t epoch_ns = 0;
  };
  void renew();
  double multiplier(std::size_t group) const;

  const Deployment& deployment_;
  GammaTables tables_;
  std::size_t first_block_;
  double factor_;
  bool silent_ = true;  // nothing ever comes
  Rng arrivals_;
  Rng epochs_;
  std::vector<std::size_t> streams_;  // of the pool
  std::vector<std::size_t> group_of_;
  std::vector<Group> groups_;
  std::vector<double> up_to_;  // running sums of the rates of the streams
  double now_ns_ = 0;
  double edge_ns_ = 0;
};

}  // namespace isochrone::sim
