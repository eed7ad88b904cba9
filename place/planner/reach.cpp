// How far a level may stand from its users. A user's total is a sum of independent
// parts: round trips over the wide area (fixed, per arc), access time and jitter (a law
// of the country), and the engine's own time (a law of the level). The chance that the
// sum stays within a limit is a convolution; adding the parts' 95th percentiles instead
// would let up to 9.75 % miss, or refuse sites that are fine. Both laws stand at the
// upper edges of their cells, so the chance is never overstated.
#include <algorithm>
#include <stdexcept>

#include "place/planner/tables.h"

namespace isochrone::place {
namespace {

using Metric = sim::Objective::Metric;

constexpr std::int64_t kStepUs = 10;
constexpr double kRounding = 1e-9;  // sums of masses that should be exact

/// P(service <= x): the grid's probability up to the last quantile that is not above.
double share_within(const std::vector<Nanos>& law, double x_ns) {
  const auto above = std::ranges::upper_bound(
      law, x_ns, {}, [](Nanos t) { return static_cast<double>(t.count()); });
  const auto cells = static_cast<std::size_t>(above - law.begin());
  return cells == 0 ? 0 : sim::service_grid()[cells - 1];
}

struct Chain {
  const std::vector<Nanos>* service;
  double left_ns = 0;  ///< of the limit, once the fixed parts are paid
  double needed = 0;   ///< probability
};

/// P(trips * (rtt + access) + service <= left).
double attained(const Chain& chain, const geo::AtomicLaw& access, std::int64_t trips,
                std::int64_t rtt_us) {
  const auto times = static_cast<double>(trips);
  const double left = chain.left_ns - times * static_cast<double>(rtt_us) * 1e3;
  double sum = 0;
  for (std::size_t i = 0; i < access.mass.size(); ++i) {
    const double x = left - times * access.value_ms[i] * 1e6;
    if (x < 0) break;
    sum += access.mass[i] * share_within(*chain.service, x);
  }
  return sum;
}

bool met(const Chain& chain, const geo::AtomicLaw& access, std::int64_t trips,
         std::int64_t rtt_us) {
  return attained(chain, access, trips, rtt_us) >= chain.needed - kRounding;
}

/// Largest multiple of 10 us at which the chain is met.
std::optional<std::int64_t> reach_of(const Chain& chain, const geo::AtomicLaw& access,
                                     std::int64_t trips) {
  if (chain.needed > 1 || !met(chain, access, trips, 0)) return std::nullopt;
  const double limit_us = chain.left_ns / 1e3 / static_cast<double>(trips);
  std::int64_t low = 0;
  std::int64_t high = static_cast<std::int64_t>(limit_us) / kStepUs + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (met(chain, access, trips, middle * kStepUs) ? low : high) = middle;
  }
  return low * kStepUs;
}

}  // namespace

bool meets_pace(const sim::ServiceLaw& law,
                std::span<const sim::Objective> objectives) {
  if (law.tpot.empty()) return true;
  return std::ranges::all_of(objectives, [&](const sim::Objective& objective) {
    return objective.metric != Metric::kTpot ||
           share_within(law.tpot, static_cast<double>(objective.limit.count())) >=
               objective.percentile / 100 - kRounding;
  });
}

std::optional<Micros> reach(const LevelTable& level, const ServingOption& option,
                            std::span<const sim::Objective> objectives, bool degraded,
                            const geo::AtomicLaw& access, std::int64_t trips,
                            Nanos transfer) {
  if (trips < 1) throw std::invalid_argument("a request needs at least one round trip");
  if (!meets_pace(level.law, objectives)) return std::nullopt;
  const double budget_ms =
      degraded ? level.degraded_wait_budget_ms : level.wait_budget_ms;
  const double wait_share = degraded ? level.degraded_wait_share : level.wait_share;
  const double fixed_ns =
      static_cast<double>((transfer + option.front_end).count()) + budget_ms * 1e6;
  std::int64_t rtt_us = kUnlimitedReach.count();
  for (const sim::Objective& objective : objectives) {
    if (objective.metric == Metric::kTpot) continue;
    const Chain chain{objective.metric == Metric::kTtft ? &level.law.first_token
                                                        : &level.law.last_token,
                      static_cast<double>(objective.limit.count()) - fixed_ns,
                      objective.percentile / 100 / (1 - wait_share)};
    const auto one = reach_of(chain, access, trips);
    if (!one) return std::nullopt;
    rtt_us = std::min(rtt_us, *one);
  }
  return Micros(rtt_us);
}

std::optional<Micros> reach(const LevelTable& level, const ServingOption& option,
                            std::span<const sim::Objective> objectives, bool degraded,
                            const geo::AccessLaw& access, std::int64_t trips,
                            Nanos transfer) {
  return reach(level, option, objectives, degraded, access.atoms_with_jitter(), trips,
               transfer);
}

}  // namespace isochrone::place
