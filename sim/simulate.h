#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/blame.h"
#include "sim/deployment.h"
#include "sim/latency.h"

namespace isochrone::sim {

enum class Verdict { kMet, kMissed, kNotShown };
std::string to_text(Verdict verdict);

/// Attainment of one objective in one cell: (workload, region) x {the three worst
/// blocks, each; rest of day}.
struct Cell {
  std::size_t workload = 0;
  scenarios::RegionId region;
  std::string hours;  ///< "14 UTC", or "other hours"
  Objective objective;
  std::uint64_t requests = 0;    ///< measured: kept + late + unfinished
  std::uint64_t kept = 0;        ///< within the limit
  std::uint64_t late = 0;        ///< finished beyond it
  std::uint64_t unfinished = 0;  ///< given up; counted as missed
  std::uint64_t windows = 0;
  bool complete = false;    ///< every pool of the cell had windows
  double window_share = 0;  ///< kept, weighted by what the windows stand for: no fluid
  double attained = 0;      ///< estimate of P(within the limit)
  double low = 0;           ///< one-sided 95 % limits
  double high = 0;
  double standard_error = 0;      ///< of `attained`
  double degrees = 1;             ///< of freedom of the standard error
  double effective_requests = 0;  ///< independent ones that would tell as much
  Verdict verdict = Verdict::kNotShown;
  Nanos at_percentile{0};  ///< the metric's value at the objective's percentile
  LatencySplit mean;
  /// Of the missed requests, weighted like window_share, the share charged to network,
  /// queue, prefill and decode; sums to 1, or is 0 where none was missed.
  std::array<double, kCulprits> missed_by{};
};

struct SimulationSettings {
  std::uint64_t seed = 42;
  std::int64_t max_requests = 10'000'000;
  int blocks = 24;
  std::string stream_name = "validation";  ///< "training" for table correction
};

struct SimulationResult {
  std::vector<Cell> cells;
  std::uint64_t simulated_requests = 0;
};

/// Lives through the deployment. The same result at any thread count. Throws
/// std::invalid_argument for a pool kind that cannot run, or a stream whose load is
/// negative.
SimulationResult simulate(const Deployment& deployment,
                          const SimulationSettings& settings);

/// One pool alone under a modulated stream of mean rate `load`: the share of requests
/// that wait longer than `budget` for a sequence slot, with the half width of its 95 %
/// interval. For the correction of capacity tables. At least `requests` are simulated
/// (warm-up and background count), in batches of 16 windows.
struct WaitShare {
  double share = 0;
  double half_width = 0;
  std::uint64_t requests = 0;
};
WaitShare measure_wait(const PoolKind& kind, std::int64_t replicas, MicroRps load,
                       const scenarios::Modulation& modulation, Nanos budget,
                       std::uint64_t requests, std::uint64_t seed);

}  // namespace isochrone::sim
