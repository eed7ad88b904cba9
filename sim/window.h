#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sim/engine.h"
#include "sim/fluid.h"
#include "sim/work.h"

namespace isochrone::sim {

/// What a window runs: a pool and what the fluid knows about it.
struct WindowPool {
  const PoolKind* kind;
  std::int64_t replicas = 1;
  double residence_s = 0;                 ///< mean time in a slot of a full replica
  double first_token_s = 0;               ///< median, there
  double capacity_rps = 0;                ///< saturation throughput of all replicas
  std::vector<double> busy_chances = {};  ///< see control.h
};

/// Measures `requests` of a closed loop at full batch.
WindowPool measured_pool(const PoolKind& kind, std::int64_t replicas,
                         std::uint64_t requests, std::uint64_t seed);

/// A request that arrived inside a window.
struct MeasuredRequest {
  std::uint32_t group = 0;
  bool finished = false;  ///< within the time-out
  bool ended = false;     ///< has an outcome, in time or not
  bool queued = false;    ///< had no slot when the window was left
  Work work;
  Outcome outcome;  ///< its arrival at least
};

struct Window {
  std::vector<MeasuredRequest> measured;  ///< in the order of their arrival
  double begin_s = 0;                     ///< of the measured part, on the path
  std::uint64_t simulated = 0;            ///< requests, with warm-up and background
};

/// A state of the fluid: where on which path.
struct FluidState {
  std::uint32_t path = 0;
  std::uint32_t slot = 0;
  /// Times that it stands for an average state: states whose outcome is hard to tell
  /// are drawn more often than their share, and weigh less.
  double weight = 1;
};

/// The states of several paths of equal weight, sorted by how much is waiting and then
/// by how busy the pool is. Drawing from equal parts of this order makes windows of all
/// conditions appear in their right shares, up to their weight.
class StateOrder {
 public:
  /// Waits far above `longest_limit_s` are hopeless, hence easy to tell.
  StateOrder(const std::vector<FluidPath>& paths, double longest_limit_s);

  /// A state from part `part` of `parts`.
  FluidState draw(std::size_t part, std::size_t parts, Rng& rng) const;

 private:
  std::vector<FluidState> order_;
  std::vector<double> up_to_;  // running sum of how often each is drawn
};

/// Simulates the pool along a stretch of the path whose measured part of `measured_s`
/// begins inside `slot`: from a warm-up that starts with the fluid's queue, through the
/// measured time, on to the end of every measured request.
Window run_window(const WindowPool& pool, const FluidPath& path, std::size_t slot,
                  double measured_s, double longest_limit_s, Rng rng);

/// Measured time that suits a pool under this mean rate.
double window_length_s(const WindowPool& pool, double mean_rps);

/// Grid of fluid paths that suits the pool.
double slot_for(const WindowPool& pool);

}  // namespace isochrone::sim
