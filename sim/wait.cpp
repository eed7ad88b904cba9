#include <algorithm>
#include <stdexcept>

#include "base/parallel.h"
#include "sim/control.h"
#include "sim/estimate.h"
#include "sim/simulate.h"
#include "sim/window.h"

namespace isochrone::sim {
namespace {

constexpr std::size_t kEpochs = 16384;
constexpr std::size_t kBatch = 16;  // windows between two looks at the budget
constexpr std::uint64_t kServiceRequests = 2000;

struct Look {
  WindowCount count;
  std::uint64_t simulated = 0;
};

double seconds(Nanos time) { return static_cast<double>(time.count()) / 1e9; }

Look look_at(const WindowPool& pool, const FluidPath& path,
             const FluidQuestion& question, std::size_t slot, Nanos budget,
             const Rng& rng) {
  const double measured_s = window_length_s(pool, path.mean_rps());
  const Window window = run_window(pool, path, slot, measured_s, seconds(budget), rng);
  Look look;
  look.simulated = window.simulated;
  const FluidAnswer fluid = ask(path, question, window.begin_s, measured_s);
  look.count.fluid_requests = fluid.requests;
  look.count.fluid_missed = fluid.missed;
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
                     pool.capacity_rps, slot_for(pool), kEpochs,
                     GammaTables({modulation}), root.stream("path"));
  const FluidQuestion question({true}, seconds(budget), pool.capacity_rps,
                               pool.busy_chances);
  const StateOrder order(paths, seconds(budget));
  WaitShare result;
  std::vector<WindowCount> counts;
  for (std::uint64_t batch = 0; result.requests < requests; ++batch) {
    const Rng rng = root.stream("batch", batch);
    const auto looks = parallel_map(kBatch, [&](std::size_t i) {
      Rng own = rng.stream("window", i);
      const FluidState state = order.draw(i / 2, kBatch / 2, own);
      Look look = look_at(pool, paths[state.path], question, state.slot, budget, own);
      look.count.weight = state.weight;
      return look;
    });
    for (const Look& look : looks) {
      counts.push_back(look.count);
      result.requests += look.simulated;
    }
  }
  const FluidLife life = live(paths[0], question);
  const double scale = 1 / (static_cast<double>(counts.size()) *
                            window_length_s(pool, paths[0].mean_rps()));
  const ShareEstimate share = missed_share(
      {{&counts, scale, life.rate.requests, life.rate.missed, life.missed_variance}});
  result.share = share.share;
  // Two-sided: the one-sided limits at 95 % would leave out a tenth.
  result.half_width =
      std::max({student_quantile(0.975, share.degrees) * share.standard_error,
                share.high - share.share, share.share - share.low});
  return result;
}

}  // namespace isochrone::sim
