#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "sim/cells.h"
#include "sim/deployment.h"
#include "sim/estimate.h"
#include "sim/histogram.h"
#include "sim/latency.h"
#include "sim/window.h"

namespace isochrone::sim {

/// What was measured of one key in one unit. Only integers are added up, so tallies
/// merge in any order; the windows stay in theirs.
struct KeyTally {
  std::vector<WindowCount> windows;
  std::uint64_t requests = 0;
  std::uint64_t unfinished = 0;
  Histogram values;
  LatencySplit sums;  ///< over the finished requests
};

struct UnitTally {
  std::vector<KeyTally> keys;  ///< by local index of the key
  std::uint64_t windows = 0;
  double measured_s = 0;  ///< of one window; the same for all of a unit
  std::uint64_t simulated = 0;

  void merge(const UnitTally& later);
};

/// Simulates windows of one unit. Immutable, so that tasks may share one.
class UnitRun {
 public:
  UnitRun(const Deployment& deployment, const CellPlan& plan, std::size_t unit,
          const WindowPool& pool, const Rng& rng);

  std::size_t blocks() const { return paths_.size(); }
  /// Requests that a window is likely to cost.
  double likely_cost() const;
  /// Windows `first` .. `first + count` - 1 of a round of `of` windows; all even.
  UnitTally run(std::uint64_t round, std::size_t first, std::size_t count,
                std::size_t of) const;

 private:
  /// Streams of a group in one block, with the running sums of their loads.
  struct Choice {
    std::vector<std::size_t> streams;
    std::vector<double> up_to;
  };
  void add_block(std::size_t block, std::size_t epochs, const Rng& rng);
  std::size_t pick_stream(std::size_t path, std::uint32_t group, Rng& rng) const;
  void count(const MeasuredRequest& request, std::size_t stream, Rng& rng,
             UnitTally& tally) const;
  double longest_limit_s() const;

  const Deployment& deployment_;
  const CellPlan& plan_;
  PoolId pool_id_;
  WindowPool pool_;
  Rng rng_;
  double measured_s_ = 0;
  std::vector<FluidPath> paths_;
  std::vector<std::vector<Choice>> choices_;  // by path and group
  std::vector<StateOrder> order_;             // one
};

}  // namespace isochrone::sim
