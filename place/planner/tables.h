#pragma once

#include <cstdint>
#include <optional>
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
inline constexpr std::int64_t kBatchDepths[] = {1,  2,  3,  4,  6,  8,   12,  16,
                                                24, 32, 48, 64, 96, 128, 192, 256};
inline constexpr double kWaitBudgetsMs[] = {1, 5, 20, 80, 320};
/// How much of the misses that an objective allows may come from waiting beyond the
/// budget: these parts of 0.8 * (1 - p). A small part costs capacity and leaves room
/// for users whose last mile has a long tail.
inline constexpr double kWaitShareParts[] = {1, 0.5, 0.125};
/// Replica counts where capacity is computed. Between them, in exact integers rounded
/// down: first A(n_i) is raised to floor(A(n_{i-1}) * n_i / n_{i-1}), so that capacity
/// per replica never falls; then capacity / n is linear in n; beyond the last it stays.
inline constexpr std::int64_t kSupport[] = {1, 2, 4, 8, 16, 32, 64};

/// Something that can serve a workload: a step profile, or the rate or service view on
/// one GPU type.
struct ServingOption {
  std::string profile;  ///< step profile id; "rate/GPU", "service/GPU"
  datasets::GpuId gpu;
  int gpus_per_replica = 1;
  std::string precision;
  sim::PoolKind kind;  ///< max_num_seqs is set per level
  Nanos front_end{0};
  std::string rests_on;
  double step_error_pct = 0;  ///< half width of the band of step times, in per cent
};

/// What the capacity of a level depends on beside the option.
struct LevelQuestion {
  std::vector<sim::Objective>
      objectives;  ///< strictest of each metric over the entries
  std::vector<sim::Objective> degraded;
  scenarios::Modulation modulation;  ///< the burstiest of the workload's entries
  std::int64_t trips = 1;            ///< of the connection
  Nanos transfer{0};
  std::uint64_t requests = 6000;  ///< measured per closed loop
  /// No arc is longer, so reach beyond it is worth nothing when levels are compared.
  Micros longest_rtt{400'000};
};

/// One (option, batch depth, waiting budget): an enforced engine setting and what it
/// can promise.
struct LevelTable {
  std::size_t option = 0;
  std::int64_t max_num_seqs = 1;
  double wait_budget_ms = 0;
  double degraded_wait_budget_ms = 0;
  double wait_share = 0;  ///< epsilon = 0.8 * (1 - p) * one of kWaitShareParts
  double degraded_wait_share = 0;
  sim::ServiceLaw law;
  std::vector<double> occupancy;            ///< grid of b per replica
  std::vector<double> residence_s;          ///< mean time in the engine at b
  std::vector<MicroRps> capacity;           ///< at kSupport
  std::vector<MicroRps> degraded_capacity;  ///< at kSupport
  std::vector<double> correction;           ///< at kSupport, 1 until simulated
  std::vector<double> degraded_correction;  ///< likewise, of the degraded capacity

  /// Load that n replicas carry within the waiting budget.
  MicroRps carries(std::int64_t n) const;
  MicroRps degraded_carries(std::int64_t n) const;
};

/// Largest mean load at which n replicas, each of at most `max_num_seqs` requests with
/// mean residence given by (occupancy, residence_s), keep P(wait > budget) <=
/// wait_share under the modulated stream: a birth-death chain with load-dependent rates
/// inside each rate epoch, and a fluid backlog carried over from epoch to epoch
/// (place/MODEL.md).
MicroRps carried_load(std::span<const double> occupancy,
                      std::span<const double> residence_s, std::int64_t max_num_seqs,
                      std::int64_t n, double budget_s, double wait_share,
                      const scenarios::Modulation& modulation);

/// R*: the largest WAN RTT at which P(objective met) >= p for every objective,
///   TTFT: trips * (RTT + access) + transfer + front end + budget + first_token <=
///   limit
/// with probability >= p / (1 - wait_share), and likewise E2E with last_token;
/// TPOT by the level alone. nullopt: not even at RTT 0.
/// In steps of 10 us; kUnlimitedReach where no objective depends on distance. Throws
/// std::invalid_argument for trips below 1.
std::optional<Micros> reach(const LevelTable& level, const ServingOption& option,
                            std::span<const sim::Objective> objectives, bool degraded,
                            const geo::AccessLaw& access, std::int64_t trips,
                            Nanos transfer);
/// The same for an access law that is already in atoms (AccessLaw::atoms_with_jitter(),
/// about a millisecond of work): for callers that ask many levels about one country.
std::optional<Micros> reach(const LevelTable& level, const ServingOption& option,
                            std::span<const sim::Objective> objectives, bool degraded,
                            const geo::AtomicLaw& access, std::int64_t trips,
                            Nanos transfer);

/// Longer than any round trip.
inline constexpr Micros kUnlimitedReach{3'600'000'000};

/// Whether the level's pace meets every TPOT objective, wherever it stands.
bool meets_pace(const sim::ServiceLaw& law, std::span<const sim::Objective> objectives);

/// The strictest TTFT or E2E percentile, as a share; 0 where there is none.
double strictest_share(std::span<const sim::Objective> objectives);

/// Share of requests that may wait beyond the budget: 0.8 * (1 - p) of the strictest
/// TTFT or E2E percentile; 0.04 where no such objective is given.
double wait_share(std::span<const sim::Objective> objectives);

/// All levels worth offering: every batch depth whose pace and KV hold, with every
/// waiting budget that leaves a reach, less those that another level of the same option
/// matches in reach (to a 25th of the limit, at most 20 ms, over typical access laws,
/// up to longest_rtt) and in capacity at every n. Ordered by option, depth, budget. The
/// degraded budget is the largest at which the degraded objectives reach at least as
/// far as the normal ones; with stricter degraded percentiles its capacity may be the
/// smaller one. Deterministic; parallel over options and depths.
std::vector<LevelTable> build_tables(std::span<const ServingOption> options,
                                     const LevelQuestion& question, std::uint64_t seed);

/// Capacity as simulation sees it. At each n of `replicas` (points of kSupport) the
/// load is moved, in at most two secant steps, until the simulated P(wait > budget) is
/// wait_share within its confidence; `correction` is the ratio to the birth-death
/// value. Other support points take the correction of their neighbours, linear in log
/// n. Corrections given before are replaced; the degraded capacity moves in proportion.
/// At most `requests` are simulated, in all.
LevelTable corrected(const LevelTable& level, const ServingOption& option,
                     const scenarios::Modulation& modulation,
                     std::span<const std::int64_t> replicas, std::uint64_t seed,
                     std::uint64_t requests);

/// What living through a plan showed of n replicas of a level.
struct Lived {
  std::int64_t replicas = 1;
  MicroRps load;      ///< the largest that they had
  double excess = 0;  ///< share of misses beyond what is allowed; 0: nothing was missed
};

/// The level (its degraded capacity alone, if `degraded`) as living through it showed:
/// where too much was missed, n replicas carry less than the load they had, by as much
/// as the model says that `excess` fewer may wait, 3 % at least and 40 % at most. The
/// ratio spreads to other n as in corrected(), but not to those where nothing was
/// missed; and fewer replicas carry no more per replica than more do, so they fall with
/// them. Never raises a capacity.
LevelTable tightened(const LevelTable& level, const scenarios::Modulation& modulation,
                     std::span<const Lived> lived, bool degraded);

/// Points of kSupport on both sides of n, which decide what n replicas carry.
std::vector<std::int64_t> supports_of(std::int64_t n);

}  // namespace isochrone::place
