#include "sim/simulate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "sim/cells.h"
#include "sim/estimate.h"
#include "sim/unit_run.h"
#include "sim/window.h"

// The work goes in rounds. In the first every unit (a pool in some blocks) gets a few
// windows; then the units of cells whose verdict is not shown yet get as many again, as
// long as the limit of requests allows. What a round does depends on the results of the
// rounds before it, never on how the work was spread over threads.

namespace isochrone::sim {
namespace {

constexpr std::size_t kFirstWindows = 8;
constexpr std::size_t kFewestWindows = 48;  // of a cell: fewer show nothing
constexpr std::size_t kWindowsPerTask = 4;  // even: pairs stay together
constexpr std::size_t kMostWindows = 4096;  // of a unit in a round
constexpr double kMattersFrom = 0.03;       // share of a cell's variance
constexpr std::uint64_t kServiceRequests = 4000;

void check(const Deployment& deployment, const SimulationSettings& settings) {
  if (settings.blocks < 1 || settings.blocks > static_cast<int>(scenarios::kBlocks)) {
    throw std::invalid_argument("a simulation covers 1 .. 24 blocks");
  }
  for (const Stream& stream : deployment.streams) {
    if (stream.pool.index() >= deployment.pools.size() ||
        stream.entry >= deployment.objectives.size() ||
        stream.entry >= deployment.modulation.size()) {
      throw std::invalid_argument("a stream names a pool or entry that is not there");
    }
    for (const MicroRps load : stream.load) {
      if (load.count() < 0) throw std::invalid_argument("a stream's load is negative");
    }
  }
}

/// Windows to run of a unit in the coming round.
using Round = std::vector<std::size_t>;

class Simulation {
 public:
  Simulation(const Deployment& deployment, const SimulationSettings& settings)
      : deployment_(deployment),
        settings_(settings),
        root_(Rng(settings.seed).stream(settings.stream_name)) {
    pools_ = IdVector<PoolId, WindowPool>(
        parallel_map(deployment.pools.size(), [&](std::size_t i) {
          const Pool& pool = deployment.pools.items()[i];
          return measured_pool(pool.kind, pool.replicas, kServiceRequests,
                               root_.stream("service", i).next());
        }));
    plan_ = plan_cells(deployment, static_cast<std::size_t>(settings.blocks), pools_);
    const GammaTables tables(deployment.modulation);
    runs_.resize(plan_.units.size());
    tallies_.resize(plan_.units.size());
    parallel_for_each_index(runs_.size(), [&](std::size_t u) {
      const Unit& unit = plan_.units[u];
      const Rng rng =
          root_.stream("pool", unit.pool.index()).stream("blocks", unit.blocks.front());
      runs_[u].emplace(deployment_, plan_, u, pools_[unit.pool], tables, rng);
    });
  }

  SimulationResult run() {
    Round round = first_round();
    for (std::uint64_t number = 0; !round.empty(); ++number) {
      play(number, round);
      round = next_round();
    }
    SimulationResult result;
    result.simulated_requests = simulated();
    for (const std::size_t key : ordered_keys()) {
      for (std::size_t hours = 0; hours <= kWorstBlocks; ++hours) {
        if (!plan_.contributions[key][hours].empty()) {
          result.cells.push_back(cell_of(key, hours));
        }
      }
    }
    return result;
  }

 private:
  std::uint64_t simulated() const {
    std::uint64_t sum = 0;
    for (const UnitTally& tally : tallies_) sum += tally.simulated;
    return sum;
  }

  double left() const {
    return static_cast<double>(settings_.max_requests) -
           static_cast<double>(simulated());
  }

  /// Every unit once; if that is already too much, the cheapest first.
  Round first_round() const {
    std::vector<std::size_t> order(runs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return runs_[a]->likely_cost() < runs_[b]->likely_cost();
    });
    Round round(runs_.size(), 0);
    double budget = left();
    bool any = false;
    for (const std::size_t wanted : {std::size_t{2}, kFirstWindows}) {
      for (const std::size_t unit : order) {
        const auto more = static_cast<double>(wanted - round[unit]);
        const double cost = runs_[unit]->likely_cost() * more;
        if (cost > budget) break;
        budget -= cost;
        round[unit] = wanted;
        any = true;
      }
    }
    return any ? round : Round{};
  }

  /// As many windows again for the units of cells that are not shown; fewer, in even
  /// parts, where the limit of requests is near.
  Round next_round() const {
    std::vector<bool> wanted(runs_.size());
    for (std::size_t key = 0; key < plan_.keys.size(); ++key) {
      for (std::size_t hours = 0; hours <= kWorstBlocks; ++hours)
        want(key, hours, wanted);
    }
    double cost = 0;
    for (std::size_t u = 0; u < runs_.size(); ++u) {
      if (wanted[u]) cost += static_cast<double>(tallies_[u].simulated);
    }
    const double share = cost > 0 ? std::clamp(left() / cost, 0.0, 1.0) : 0;
    Round round(runs_.size(), 0);
    bool any = false;
    for (std::size_t u = 0; u < runs_.size(); ++u) {
      if (!wanted[u]) continue;
      const double windows = share * static_cast<double>(tallies_[u].windows);
      round[u] = std::min(kMostWindows, static_cast<std::size_t>(windows / 2) * 2);
      any = any || round[u] > 0;
    }
    return any ? round : Round{};
  }

  /// Marks the units that keep a cell from being shown: those that its uncertainty
  /// comes from, or all where only the number of requests is too small.
  void want(std::size_t key, std::size_t hours, std::vector<bool>& wanted) const {
    const auto& parts = plan_.contributions[key][hours];
    if (parts.empty() || cell_of(key, hours).verdict != Verdict::kNotShown) return;
    const ShareEstimate missed = missed_of(key, hours);
    const bool few = missed.binomial || windows_of(key, hours) < kFewestWindows;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (few || missed.variance_parts[i] >= kMattersFrom) {
        wanted[parts[i].unit] = true;
      }
    }
  }

  void play(std::uint64_t number, const Round& round) {
    struct Task {
      std::size_t unit = 0;
      std::size_t first = 0;
      std::size_t count = 0;
    };
    std::vector<Task> tasks;
    for (std::size_t unit = 0; unit < round.size(); ++unit) {
      for (std::size_t first = 0; first < round[unit]; first += kWindowsPerTask) {
        tasks.push_back({unit, first, std::min(kWindowsPerTask, round[unit] - first)});
      }
    }
    const auto tallies = parallel_map(tasks.size(), [&](std::size_t i) {
      const Task& task = tasks[i];
      return runs_[task.unit]->run(number, task.first, task.count, round[task.unit]);
    });
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tallies_[tasks[i].unit].merge(tallies[i]);
    }
  }

  /// What one window of the unit stands for: the blocks of the unit, shared among its
  /// windows.
  double scale_of(std::size_t unit) const {
    const UnitTally& tally = tallies_[unit];
    return static_cast<double>(runs_[unit]->blocks()) /
           (static_cast<double>(tally.windows) * tally.measured_s);
  }

  std::uint64_t windows_of(std::size_t key, std::size_t hours) const {
    std::uint64_t windows = 0;
    for (const Contribution& part : plan_.contributions[key][hours]) {
      windows += tallies_[part.unit].windows;
    }
    return windows;
  }

  ShareEstimate missed_of(std::size_t key, std::size_t hours) const {
    static const std::vector<WindowCount> none;
    std::vector<UnitWindows> windows;
    for (const Contribution& part : plan_.contributions[key][hours]) {
      const FluidLife& life = runs_[part.unit]->life(part.local);
      const bool seen = tallies_[part.unit].windows > 0;
      windows.push_back({seen ? &tallies_[part.unit].keys[part.local].windows : &none,
                         seen ? scale_of(part.unit) : 1, life.rate.requests,
                         life.rate.missed, life.missed_variance});
    }
    return missed_share(windows);
  }

  Cell cell_of(std::size_t key, std::size_t hours) const {
    Cell cell;
    cell.workload = plan_.keys[key].workload;
    cell.region = plan_.keys[key].region;
    cell.objective = plan_.keys[key].objective;
    cell.hours = hours == kWorstBlocks ? "other hours"
                                       : hour_name(plan_.worst_blocks[key][hours]);
    std::vector<WeightedHistogram> values;
    double units = 0;
    double kept_units = 0;
    cell.complete = true;
    for (const Contribution& part : plan_.contributions[key][hours]) {
      if (tallies_[part.unit].windows == 0) {
        cell.complete = false;
        continue;
      }
      const KeyTally& tally = tallies_[part.unit].keys[part.local];
      cell.requests += tally.requests;
      cell.unfinished += tally.unfinished;
      cell.kept += tally.kept;
      const double scale = scale_of(part.unit);
      units += scale * static_cast<double>(tally.values.count());
      kept_units += scale * static_cast<double>(tally.kept_units);
      values.push_back({&tally.values, scale});
    }
    const ShareEstimate missed = missed_of(key, hours);
    const double wanted = cell.objective.percentile / 100;
    cell.late = cell.requests - cell.kept - cell.unfinished;
    cell.windows = windows_of(key, hours);
    cell.window_share = units > 0 ? kept_units / units : 0;
    cell.attained = 1 - missed.share;
    cell.low = cell.complete ? 1 - missed.high : 0;
    cell.high = cell.complete ? 1 - missed.low : 1;
    cell.standard_error = missed.standard_error;
    cell.degrees = missed.degrees;
    cell.effective_requests = missed.effective_requests;
    if (cell.requests > 0 && cell.windows >= kFewestWindows) {
      if (cell.low >= wanted) cell.verdict = Verdict::kMet;
      if (cell.high < wanted) cell.verdict = Verdict::kMissed;
    }
    cell.at_percentile = Nanos{quantile(values, wanted)};
    cell.mean = mean_split(plan_.contributions[key][hours]);
    cell.missed_by = missed_by(plan_.contributions[key][hours]);
    return cell;
  }

  std::array<double, kCulprits> missed_by(
      const std::vector<Contribution>& parts) const {
    std::array<double, kCulprits> charged{};
    double sum = 0;
    for (const Contribution& from : parts) {
      if (tallies_[from.unit].windows == 0) continue;
      const KeyTally& tally = tallies_[from.unit].keys[from.local];
      for (std::size_t i = 0; i < kCulprits; ++i) {
        const double units =
            scale_of(from.unit) * static_cast<double>(tally.charged_units[i]);
        charged[i] += units;
        sum += units;
      }
    }
    for (double& share : charged) share = sum > 0 ? share / sum : 0;
    return charged;
  }

  LatencySplit mean_split(const std::vector<Contribution>& parts) const {
    std::array<double, 8> sums{};
    double weights = 0;
    for (const Contribution& from : parts) {
      if (tallies_[from.unit].windows == 0) continue;
      const KeyTally& tally = tallies_[from.unit].keys[from.local];
      const double scale = scale_of(from.unit);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += scale * tally.sums[i];
      weights += scale * tally.weights;
    }
    const auto mean = [&](std::size_t part) {
      return Nanos{weights > 0 ? std::llround(sums[part] / weights) : 0};
    };
    return {mean(0), mean(1), mean(2), mean(3), mean(4), mean(5), mean(6), mean(7)};
  }

  std::vector<std::size_t> ordered_keys() const {
    std::vector<std::size_t> order(plan_.keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [this](std::size_t i) {
      const CellKey& key = plan_.keys[i];
      return std::tuple(key.workload, key.region, key.objective.metric,
                        key.objective.percentile, key.objective.limit);
    };
    std::sort(order.begin(), order.end(),
              [&rank](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    return order;
  }

  const Deployment& deployment_;
  const SimulationSettings& settings_;
  Rng root_;
  IdVector<PoolId, WindowPool> pools_;
  CellPlan plan_;
  std::vector<std::optional<UnitRun>> runs_;
  std::vector<UnitTally> tallies_;
};

}  // namespace

std::string to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMet:
      return "met";
    case Verdict::kMissed:
      return "missed";
    case Verdict::kNotShown:
      break;
  }
  return "not shown";
}

SimulationResult simulate(const Deployment& deployment,
                          const SimulationSettings& settings) {
  check(deployment, settings);
  return Simulation(deployment, settings).run();
}

}  // namespace isochrone::sim
