#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "sim/blame.h"
#include "sim/cells.h"
#include "sim/control.h"
#include "sim/deployment.h"
#include "sim/estimate.h"
#include "sim/histogram.h"
#include "sim/latency.h"
#include "sim/window.h"

namespace isochrone::sim {

/// The parts of a latency in the order of LatencySplit, in ns.
std::array<std::int64_t, 8> parts_of(const LatencySplit& split);

/// What was measured of one key in one unit.
struct KeyTally {
  std::vector<WindowCount> windows;
  std::uint64_t requests = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t kept = 0;
  std::uint64_t kept_units = 0;  ///< kept requests in the unit of `values`
  /// Missed requests by what they are charged to, in the unit of `values`.
  std::array<std::uint64_t, kCulprits> charged_units{};
  Histogram values;  ///< each request as often as its window's weight says, times 1,024
  /// Over the finished requests, weighted; parts in the order of LatencySplit, in ns.
  std::array<double, 8> sums{};
  double weights = 0;
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
          const WindowPool& pool, const GammaTables& tables, const Rng& rng);

  std::size_t blocks() const { return paths_.size(); }
  /// Fluid of a key, per second, summed over the blocks.
  const FluidLife& life(std::size_t local) const { return lives_[local]; }
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
  void add_block(std::size_t block, std::size_t epochs, const GammaTables& tables,
                 const Rng& rng);
  void ask_of_block(std::size_t path);
  double slack_s(std::size_t local) const;
  std::size_t pick_stream(std::size_t path, std::uint32_t group, Rng& rng) const;
  void count(const MeasuredRequest& request, std::size_t stream, Rng& rng,
             UnitTally& tally) const;
  Culprit culprit(const MeasuredRequest& request, const Objective& objective,
                  std::size_t stream, const LatencySplit& latency) const;
  UnitTally run_one(const FluidState& state, Rng& rng) const;
  double longest_limit_s() const;

  const Deployment& deployment_;
  const CellPlan& plan_;
  PoolId pool_id_;
  WindowPool pool_;
  Rng rng_;
  double measured_s_ = 0;
  std::vector<FluidPath> paths_;
  std::vector<std::vector<Choice>> choices_;           // by path and group
  std::vector<std::vector<FluidQuestion>> questions_;  // by path and local key
  std::vector<FluidLife> lives_;                       // by local key
  std::optional<StateOrder> order_;
};

}  // namespace isochrone::sim
