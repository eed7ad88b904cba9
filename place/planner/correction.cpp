#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "place/planner/tables.h"
#include "place/planner/wait_curve.h"
#include "sim/simulate.h"

namespace isochrone::place {
namespace {

constexpr int kSimulations = 3;  // the start and two secant steps
constexpr double kMaxStep = 2;   // no step moves the load by more than this factor
// Near saturation a run that saw no backlog proves little, and one per cent more load
// brings it. So the load never rises beyond where the model sees this many times the
// share, nor is a run believed whose interval is wider than the share itself.
constexpr double kMaxOptimism = 2.5;

struct Probe {
  double log_load = 0;
  double log_share = 0;
};

/// What the birth-death model carries at a share, one replica count of one level.
class Model {
 public:
  Model(const LevelTable& level, std::int64_t n,
        const scenarios::Modulation& modulation, bool degraded = false)
      : curve_(level.occupancy, level.residence_s, level.max_num_seqs, n),
        grid_(curve_),
        epochs_(modulation),
        budget_s_((degraded ? level.degraded_wait_budget_ms : level.wait_budget_ms) /
                  1e3) {}

  double load(double share) const {
    return epochs_.poisson() ? largest_rate(curve_, budget_s_, share)
                             : largest_rate(grid_, epochs_, budget_s_, share);
  }

 private:
  WaitCurve curve_;
  WaitGrid grid_;
  RateEpochs epochs_;
  double budget_s_;
};

sim::WaitShare simulate(const LevelTable& level, const ServingOption& option,
                        std::int64_t n, double load,
                        const scenarios::Modulation& modulation, std::uint64_t requests,
                        std::uint64_t seed) {
  sim::PoolKind kind = option.kind;
  kind.max_num_seqs = level.max_num_seqs;
  const Nanos budget(std::llround(level.wait_budget_ms * 1e6));
  return sim::measure_wait(kind, n, requests_per_second(load), modulation, budget,
                           requests, seed);
}

/// Next load to try. The first step trusts the model's slope: if it promised `target`
/// and the simulation shows s, it should be asked for target^2 / s. The second is a
/// secant through the two probes, in logarithms.
double next_log_load(const std::vector<Probe>& probes, const Model& model,
                     double base_load, double target) {
  const Probe& last = probes.back();
  double step = 0;
  if (probes.size() > 1) {
    const Probe& before = probes[probes.size() - 2];
    const double slope =
        (last.log_share - before.log_share) / (last.log_load - before.log_load);
    if (std::isfinite(slope) && slope > 0) {
      step = (std::log(target) - last.log_share) / slope;
    }
  }
  if (step == 0) {
    const double asked =
        std::clamp(target * target / std::exp(last.log_share), target / 30, 0.7);
    step = std::log(model.load(asked) / base_load);
  }
  step = std::clamp(step, -std::log(kMaxStep), std::log(kMaxStep));
  return std::min(last.log_load + step, std::log(model.load(kMaxOptimism * target)));
}

/// Load at which the simulated share is `target`, within what `requests` can tell.
double corrected_load(const LevelTable& level, const ServingOption& option,
                      std::int64_t n, const scenarios::Modulation& modulation,
                      std::uint64_t requests, std::uint64_t seed) {
  const Model model(level, n, modulation);
  const double target = level.wait_share;
  const double base_load = model.load(target);
  std::vector<Probe> probes;
  double log_load = std::log(base_load);
  for (int i = 0; i < kSimulations; ++i) {
    const sim::WaitShare seen = simulate(level, option, n, std::exp(log_load),
                                         modulation, requests / kSimulations, seed);
    if (std::abs(seen.share - target) <= seen.half_width) break;
    if (seen.share < target && seen.half_width > target) break;
    // Nobody waited: the share lies somewhere below the half width.
    probes.push_back(
        {log_load, std::log(std::max({seen.share, seen.half_width / 2, 1e-9}))});
    log_load = next_log_load(probes, model, base_load, target);
  }
  return std::exp(log_load);
}

double between(double x0, double y0, double x1, double y1, double x) {
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/// Correction at n from the points that were simulated, ascending in n.
double interpolated(std::span<const std::int64_t> replicas,
                    const std::vector<double>& correction, std::int64_t n) {
  const auto high = static_cast<std::size_t>(std::ranges::lower_bound(replicas, n) -
                                             replicas.begin());
  if (high == replicas.size()) return correction.back();
  if (high == 0 || replicas[high] == n) return correction[high];
  return between(std::log(static_cast<double>(replicas[high - 1])),
                 correction[high - 1], std::log(static_cast<double>(replicas[high])),
                 correction[high], std::log(static_cast<double>(n)));
}

MicroRps scaled(MicroRps capacity, double ratio) {
  return MicroRps::of(static_cast<std::int64_t>(
      std::floor(static_cast<double>(capacity.count()) * ratio)));
}

constexpr double kLeastTightening = 0.97;
constexpr double kMostTightening = 0.6;

/// What n replicas should carry of what the table says, after what was lived through.
double tightening(const LevelTable& level, const scenarios::Modulation& modulation,
                  const Lived& lived, bool degraded) {
  if (lived.excess <= 0) return 1;
  const double share = degraded ? level.degraded_wait_share : level.wait_share;
  const Model model(level, lived.replicas, modulation, degraded);
  const double asked = std::max(share - lived.excess, share / 30);
  const double part = std::clamp(model.load(asked) / model.load(share), kMostTightening,
                                 kLeastTightening);
  const MicroRps carried =
      degraded ? level.degraded_carries(lived.replicas) : level.carries(lived.replicas);
  if (carried.count() <= 0) return 1;
  return std::min(part * static_cast<double>(lived.load.count()) /
                      static_cast<double>(carried.count()),
                  1.0);
}

/// Fewer replicas never carry more per replica: what tables assume, see kSupport.
void let_fewer_fall(std::vector<MicroRps>& capacity, std::vector<double>& correction) {
  __extension__ using Wide = __int128;
  for (std::size_t i = std::size(kSupport) - 1; i-- > 0;) {
    const auto most = MicroRps::of(static_cast<std::int64_t>(
        Wide{capacity[i + 1].count()} * kSupport[i] / kSupport[i + 1]));
    if (capacity[i] <= most) continue;
    correction[i] *=
        static_cast<double>(most.count()) / static_cast<double>(capacity[i].count());
    capacity[i] = most;
  }
}

}  // namespace

std::vector<std::int64_t> supports_of(std::int64_t n) {
  const auto* above = std::ranges::lower_bound(kSupport, n);
  if (above == std::end(kSupport)) return {*std::prev(above)};
  if (*above == n || above == std::begin(kSupport)) return {*above};
  return {*std::prev(above), *above};
}

LevelTable corrected(const LevelTable& level, const ServingOption& option,
                     const scenarios::Modulation& modulation,
                     std::span<const std::int64_t> replicas, std::uint64_t seed,
                     std::uint64_t requests) {
  if (replicas.empty()) return level;
  std::vector<std::int64_t> points(replicas.begin(), replicas.end());
  std::ranges::sort(points);
  points.erase(std::ranges::unique(points).begin(), points.end());
  for (const std::int64_t n : points) {
    if (std::ranges::find(kSupport, n) == std::end(kSupport)) {
      throw std::invalid_argument(fmt::format("{} replicas are no support point", n));
    }
  }
  const Rng root = Rng(seed).stream("correction");
  const auto ratio = parallel_map(points.size(), [&](std::size_t i) {
    const std::int64_t n = points[i];
    Rng stream = root.stream(option.profile, static_cast<std::uint64_t>(n));
    const double base = Model(level, n, modulation).load(level.wait_share);
    return corrected_load(level, option, n, modulation, requests / points.size(),
                          stream.next()) /
           base;
  });

  LevelTable result = level;
  for (std::size_t i = 0; i < std::size(kSupport); ++i) {
    const double now = interpolated(points, ratio, kSupport[i]);
    const double change = now / level.correction[i];
    result.correction[i] = now;
    result.degraded_correction[i] *= change;
    result.capacity[i] = scaled(level.capacity[i], change);
    result.degraded_capacity[i] = scaled(level.degraded_capacity[i], change);
  }
  return result;
}

LevelTable tightened(const LevelTable& level, const scenarios::Modulation& modulation,
                     std::span<const Lived> lived, bool degraded) {
  std::map<std::int64_t, double> ratio_at;  // support points that something is known of
  for (const Lived& one : lived) {
    const double ratio = tightening(level, modulation, one, degraded);
    for (const std::int64_t n : supports_of(one.replicas)) {
      const auto [it, fresh] = ratio_at.try_emplace(n, ratio);
      it->second = std::min(it->second, ratio);
    }
  }
  if (ratio_at.empty()) return level;
  std::vector<std::int64_t> points;
  std::vector<double> ratios;
  for (const auto& [n, ratio] : ratio_at) {
    points.push_back(n);
    ratios.push_back(ratio);
  }
  LevelTable result = level;
  auto& capacity = degraded ? result.degraded_capacity : result.capacity;
  auto& correction = degraded ? result.degraded_correction : result.correction;
  for (std::size_t i = 0; i < std::size(kSupport); ++i) {
    const double ratio = interpolated(points, ratios, kSupport[i]);
    if (ratio >= 1) continue;
    capacity[i] = scaled(capacity[i], ratio);
    correction[i] *= ratio;
  }
  let_fewer_fall(capacity, correction);
  return result;
}

}  // namespace isochrone::place
