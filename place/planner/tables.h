#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "datasets/catalog.h"
#include "geo/last_mile.h"
#include "scenarios/demand.h"
#include "scenarios/scenario.h"
#include "sim/deployment.h"
#include "sim/engine.h"

namespace isochrone::place {

/// Tries of batch depth and waiting budget (SCENARIO defaults).
inline constexpr std::int64_t kBatchDepths[] = {1,  2,  3,  4,  6,   8,   12,  16,
                                                24, 32, 48, 64, 96, 128, 192, 256};
inline constexpr double kWaitBudgetsMs[] = {1, 5, 20, 80, 320};
/// Replica counts where capacity is computed; between them capacity / n is interpolated
/// linearly in n and made non-decreasing; beyond the last it stays.
inline constexpr std::int64_t kSupport[] = {1, 2, 4, 8, 16, 32, 64};

/// Something that can serve a workload: a step profile, or the rate or service view on
/// one GPU type.
struct ServingOption {
  std::string profile;  ///< step profile id; "rate/GPU", "service/GPU"
  datasets::GpuId gpu;
  int gpus_per_replica = 1;
  std::string precision;
  sim::PoolKind kind;   ///< max_num_seqs is set per level
  Nanos front_end{0};
  std::string rests_on;
};

/// What the capacity of a level depends on beside the option.
struct LevelQuestion {
  std::vector<sim::Objective> objectives;  ///< strictest of each metric over the entries
  std::vector<sim::Objective> degraded;
  scenarios::Modulation modulation;        ///< the burstiest of the workload's entries
};

/// One (option, batch depth, waiting budget): an enforced engine setting and what it can
/// promise.
struct LevelTable {
  std::size_t option = 0;
  std::int64_t max_num_seqs = 1;
  double wait_budget_ms = 0;
  double degraded_wait_budget_ms = 0;
  double wait_share = 0;           ///< epsilon = 0.8 * (1 - p)
  double degraded_wait_share = 0;
  sim::ServiceLaw law;
  std::vector<double> occupancy;    ///< grid of b per replica
  std::vector<double> residence_s;  ///< mean time in the engine at b
  std::vector<MicroRps> capacity;           ///< at kSupport
  std::vector<MicroRps> degraded_capacity;  ///< at kSupport
  std::vector<double> correction;           ///< at kSupport, 1 until simulated

  /// Load that n replicas carry within the waiting budget.
  MicroRps carries(std::int64_t n) const;
  MicroRps degraded_carries(std::int64_t n) const;
};

/// Largest mean load at which n replicas, each of at most `max_num_seqs` requests with
/// mean residence given by (occupancy, residence_s), keep P(wait > budget) <= wait_share
/// under the modulated stream: a birth-death chain with load-dependent rates inside each
/// rate epoch, and a fluid backlog carried over from epoch to epoch (place/MODEL.md).
MicroRps carried_load(std::span<const double> occupancy,
                      std::span<const double> residence_s, std::int64_t max_num_seqs,
                      std::int64_t n, double budget_s, double wait_share,
                      const scenarios::Modulation& modulation);

/// R*: the largest WAN RTT at which P(objective met) >= p for every objective,
///   TTFT: trips * (RTT + access) + transfer + front end + budget + first_token <= limit
/// with probability >= p / (1 - wait_share), and likewise E2E with last_token;
/// TPOT by the level alone. nullopt: not even at RTT 0.
std::optional<Micros> reach(const LevelTable& level, const ServingOption& option,
                            std::span<const sim::Objective> objectives, bool degraded,
                            const geo::AccessLaw& access, std::int64_t trips,
                            Nanos transfer);

}  // namespace isochrone::place
