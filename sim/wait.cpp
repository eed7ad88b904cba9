#include <algorithm>
#include <stdexcept>

#include "base/parallel.h"
#include "sim/estimate.h"
#include "sim/simulate.h"
#include "sim/window.h"

namespace isochrone::sim {
namespace {

constexpr std::size_t kEpochs = 4096;
constexpr std::size_t kBatch = 16;  // windows between two looks at the budget
constexpr std::uint64_t kServiceRequests = 2000;

struct Look {
  WindowCount count;
  std::uint64_t simulated = 0;
};

Look look_at(const WindowPool& pool, const FluidPath& path, std::size_t slot,
             Nanos budget, const Rng& rng) {
  const double budget_s = static_cast<double>(budget.count()) / 1e9;
  const double measured_s = window_length_s(pool, path.mean_rps());
  const Window window = run_window(pool, path, slot, measured_s, budget_s, rng);
  Look look;
  look.simulated = window.simulated;
  for (const MeasuredRequest& request : window.measured) {
    const Outcome& outcome = request.outcome;
    const bool late =
        !request.finished || outcome.assigned_ns - outcome.arrival_ns > budget.count();
    look.count.requests += 1;
    look.count.missed += late ? 1 : 0;
  }
  return look;
}

}  // namespace

WaitShare measure_wait(const PoolKind& kind, std::int64_t replicas, MicroRps load,
                       const scenarios::Modulation& modulation, Nanos budget,
                       std::uint64_t requests, std::uint64_t seed) {
  if (load.count() <= 0) throw std::invalid_argument("a pool is measured under a load");
  const Rng root = Rng(seed).stream("wait");
  const WindowPool pool = measured_pool(kind, replicas, kServiceRequests, seed);
  std::vector<FluidPath> paths;
  paths.emplace_back(std::vector<StreamGroup>{{to_rps(load), modulation}},
                     pool.capacity_rps, slot_for(pool), kEpochs, root.stream("path"));
  const StateOrder order(paths);
  WaitShare result;
  std::vector<WindowCount> counts;
  for (std::uint64_t batch = 0; result.requests < requests; ++batch) {
    const Rng rng = root.stream("batch", batch);
    const auto looks = parallel_map(kBatch, [&](std::size_t i) {
      Rng own = rng.stream("window", i);
      const FluidState state = order.draw(i / 2, kBatch / 2, own);
      return look_at(pool, paths[state.path], state.slot, budget, own);
    });
    for (const Look& look : looks) {
      counts.push_back(look.count);
      result.requests += look.simulated;
    }
  }
  const ShareEstimate share = missed_share({{&counts, 1.0}});
  result.share = share.share;
  // Two-sided: the one-sided limits at 95 % would leave out a tenth.
  result.half_width =
      std::max({student_quantile(0.975, share.degrees) * share.standard_error,
                share.high - share.share, share.share - share.low});
  return result;
}

}  // namespace isochrone::sim
