// From serving options to level tables, in three passes: measure each option in closed
// loops from the shallowest batch depth up, and stop where the pace or the KV cache
// fails; compute what each depth carries within each waiting budget; and drop what no
// planner would take.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/parallel.h"
#include "base/rng.h"
#include "place/planner/tables.h"
#include "place/planner/wait_curve.h"

namespace isochrone::place {
namespace {

using Metric = sim::Objective::Metric;
using Objectives = std::span<const sim::Objective>;

constexpr double kMaxPreempted = 0.01;
constexpr double kReachToleranceUs = 1000;
constexpr double kDefaultWaitShare = 0.04;

/// One option at one depth: law and residence of a replica that is always full.
struct Measured {
  std::int64_t depth = 0;
  sim::ServiceLaw law;
};

/// What reach is compared over, when levels are weighed against each other: no access
/// time (servers), a good fixed line, and a mobile network.
const std::vector<geo::AtomicLaw>& typical_access() {
  static const std::vector<geo::AtomicLaw> laws = [] {
    geo::AccessLaw fixed, mobile;
    fixed.p50_ms = 8, fixed.p75_ms = 12, fixed.p90_ms = 20, fixed.p95_ms = 30,
    fixed.p99_ms = 60;
    mobile.p50_ms = 35, mobile.p75_ms = 50, mobile.p90_ms = 80, mobile.p95_ms = 110,
    mobile.p99_ms = 200;
    return std::vector<geo::AtomicLaw>{geo::AtomicLaw{{0}, {1}},
                                       fixed.atoms_with_jitter(),
                                       mobile.atoms_with_jitter()};
  }();
  return laws;
}

bool has_latency(Objectives objectives) {
  return std::ranges::any_of(objectives,
                             [](const auto& o) { return o.metric != Metric::kTpot; });
}

std::vector<std::int64_t> depths_of(const ServingOption& option) {
  if (!option.kind.batching) return {option.kind.max_num_seqs};
  return {std::begin(kBatchDepths), std::end(kBatchDepths)};
}

/// Whether a closed loop is worth running: its decode steps alone keep the pace, and
/// the cache holds the mean requests. Both are necessary, so nothing is lost.
bool promising(const sim::PoolKind& kind, std::int64_t depth, Objectives objectives) {
  if (!kind.batching) return true;
  const sim::BatchingEngine& engine = *kind.batching;
  const auto b = static_cast<double>(depth);
  const double cached = b * (kind.prompt_tokens.mean() + kind.answer_tokens.mean() / 2);
  const double held = static_cast<double>(engine.kv_blocks) *
                      static_cast<double>(engine.kv_block_tokens);
  if (engine.chunk_tokens < depth || cached > held) return false;
  const double step_ns =
      (static_cast<double>(engine.step.t0) + static_cast<double>(engine.step.b) * b) /
      1e3;
  return std::ranges::all_of(objectives, [&](const auto& o) {
    return o.metric != Metric::kTpot || kind.answer_tokens.mean() < 2 ||
           step_ns <= static_cast<double>(o.limit.count());
  });
}

/// Closed loops of one option, shallowest first, up to the last depth that holds.
std::vector<Measured> measure(const ServingOption& option,
                              const LevelQuestion& question, const Rng& root) {
  std::vector<Measured> measured;
  for (const std::int64_t depth : depths_of(option)) {
    if (!promising(option.kind, depth, question.objectives)) break;
    sim::PoolKind kind = option.kind;
    kind.max_num_seqs = depth;
    Rng stream = root.stream(option.profile, static_cast<std::uint64_t>(depth));
    sim::ServiceLaw law =
        sim::measure_service(kind, depth, question.requests, stream.next());
    if (law.preemption_share > kMaxPreempted) break;
    if (!meets_pace(law, question.objectives)) break;
    measured.push_back({depth, std::move(law)});
  }
  return measured;
}

/// Reach over typical_access(); -1 where there is none.
std::vector<double> reaches(const LevelTable& level, const ServingOption& option,
                            Objectives objectives, bool degraded,
                            const LevelQuestion& question) {
  std::vector<double> result;
  for (const geo::AtomicLaw& access : typical_access()) {
    const auto one = reach(level, option, objectives, degraded, access, question.trips,
                           question.transfer);
    result.push_back(one ? static_cast<double>(one->count()) : -1);
  }
  return result;
}

bool no_shorter(const std::vector<double>& a, const std::vector<double>& b,
                double tolerance) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (b[i] >= 0 && (a[i] < 0 || a[i] < b[i] - tolerance)) return false;
  }
  return true;
}

/// Waiting longer during a loss buys capacity, as long as no arc is lost by it.
void choose_degraded_budget(LevelTable& level, const ServingOption& option,
                            const LevelQuestion& question) {
  level.degraded_wait_share =
      has_latency(question.degraded) ? wait_share(question.degraded) : level.wait_share;
  level.degraded_wait_budget_ms = level.wait_budget_ms;
  if (question.degraded.empty()) return;
  const auto normal = reaches(level, option, question.objectives, false, question);
  for (const double budget : kWaitBudgetsMs) {
    if (budget <= level.wait_budget_ms) continue;
    LevelTable trial = level;
    trial.degraded_wait_budget_ms = budget;
    if (!no_shorter(reaches(trial, option, question.degraded, true, question), normal,
                    0)) {
      break;
    }
    level.degraded_wait_budget_ms = budget;
  }
}

/// What one depth of an option carries at every support point.
class DepthCapacity {
 public:
  DepthCapacity(const LevelTable& level, const RateEpochs& epochs) : epochs_(epochs) {
    for (const std::int64_t n : kSupport) {
      curves_.emplace_back(level.occupancy, level.residence_s, level.max_num_seqs, n);
      if (!epochs.poisson()) grids_.emplace_back(curves_.back());
    }
  }

  std::vector<MicroRps> within(double budget_ms, double share) const {
    std::vector<MicroRps> capacity;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const double rate =
          epochs_.poisson() ? largest_rate(curves_[i], budget_ms / 1e3, share)
                            : largest_rate(grids_[i], epochs_, budget_ms / 1e3, share);
      capacity.push_back(
          MicroRps::of(static_cast<std::int64_t>(std::floor(rate * 1e6))));
    }
    return capacity;
  }

 private:
  const RateEpochs& epochs_;
  std::vector<WaitCurve> curves_;
  std::vector<WaitGrid> grids_;
};

/// The levels of one depth: those budgets that leave any reach at all.
std::vector<LevelTable> levels_of(std::size_t option_index, const ServingOption& option,
                                  std::span<const Measured> up_to_depth,
                                  const LevelQuestion& question,
                                  const RateEpochs& epochs) {
  LevelTable level;
  level.option = option_index;
  level.max_num_seqs = up_to_depth.back().depth;
  level.law = up_to_depth.back().law;
  for (const Measured& one : up_to_depth) {
    level.occupancy.push_back(static_cast<double>(one.depth));
    level.residence_s.push_back(one.law.mean_residence_s);
  }
  level.wait_share = wait_share(question.objectives);
  level.correction.assign(std::size(kSupport), 1);

  std::vector<LevelTable> levels;
  std::optional<DepthCapacity> capacity;
  for (const double budget : kWaitBudgetsMs) {
    level.wait_budget_ms = budget;
    const auto far = reaches(level, option, question.objectives, false, question);
    if (std::ranges::max(far) < 0) break;
    choose_degraded_budget(level, option, question);
    if (!capacity) capacity.emplace(level, epochs);
    level.capacity = capacity->within(budget, level.wait_share);
    level.degraded_capacity =
        capacity->within(level.degraded_wait_budget_ms, level.degraded_wait_share);
    for (std::size_t i = 0; i < level.capacity.size(); ++i) {
      level.degraded_capacity[i] =
          std::max(level.degraded_capacity[i], level.capacity[i]);
    }
    levels.push_back(level);
  }
  return levels;
}

struct Weighed {
  LevelTable level;
  std::vector<double> far;
  std::vector<double> degraded_far;
};

bool dominates(const Weighed& a, const Weighed& b) {
  for (std::size_t i = 0; i < a.level.capacity.size(); ++i) {
    if (a.level.capacity[i] < b.level.capacity[i]) return false;
    if (a.level.degraded_capacity[i] < b.level.degraded_capacity[i]) return false;
  }
  return no_shorter(a.far, b.far, kReachToleranceUs) &&
         no_shorter(a.degraded_far, b.degraded_far, kReachToleranceUs);
}

/// A level falls if one that is kept dominates it. Those of the largest capacity are
/// looked at first, so that the tolerance never lets two levels drop each other.
std::vector<LevelTable> without_dominated(std::vector<LevelTable> levels,
                                          const ServingOption& option,
                                          const LevelQuestion& question) {
  std::ranges::stable_sort(levels, std::ranges::greater{}, [](const LevelTable& level) {
    return std::pair(level.capacity.back(), level.capacity.front());
  });
  std::vector<Weighed> kept;
  for (LevelTable& level : levels) {
    Weighed one{std::move(level), {}, {}};
    one.far = reaches(one.level, option, question.objectives, false, question);
    one.degraded_far = reaches(one.level, option, question.degraded, true, question);
    if (std::ranges::none_of(kept,
                             [&](const Weighed& k) { return dominates(k, one); })) {
      kept.push_back(std::move(one));
    }
  }
  std::ranges::sort(kept, {}, [](const Weighed& k) {
    return std::pair(k.level.max_num_seqs, k.level.wait_budget_ms);
  });
  std::vector<LevelTable> result;
  for (Weighed& one : kept) result.push_back(std::move(one.level));
  return result;
}

}  // namespace

double wait_share(std::span<const sim::Objective> objectives) {
  double strictest = 0;
  for (const sim::Objective& objective : objectives) {
    if (objective.metric != Metric::kTpot) {
      strictest = std::max(strictest, objective.percentile);
    }
  }
  return strictest > 0 ? 0.8 * (1 - strictest / 100) : kDefaultWaitShare;
}

std::vector<LevelTable> build_tables(std::span<const ServingOption> options,
                                     const LevelQuestion& question,
                                     std::uint64_t seed) {
  const Rng root = Rng(seed).stream("service laws");
  const RateEpochs epochs(question.modulation);
  const auto measured = parallel_map(options.size(), [&](std::size_t i) {
    return measure(options[i], question, root);
  });

  std::vector<std::pair<std::size_t, std::size_t>> tasks;  // option, measured depths
  for (std::size_t i = 0; i < options.size(); ++i) {
    for (std::size_t depth = 1; depth <= measured[i].size(); ++depth) {
      tasks.emplace_back(i, depth);
    }
  }
  const auto levels = parallel_map(tasks.size(), [&](std::size_t task) {
    const auto [option, depths] = tasks[task];
    return levels_of(option, options[option], std::span(measured[option]).first(depths),
                     question, epochs);
  });

  std::vector<std::vector<LevelTable>> by_option(options.size());
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    auto& all = by_option[tasks[task].first];
    all.insert(all.end(), levels[task].begin(), levels[task].end());
  }
  std::vector<LevelTable> result;
  for (std::size_t i = 0; i < options.size(); ++i) {
    auto kept = without_dominated(std::move(by_option[i]), options[i], question);
    std::ranges::move(kept, std::back_inserter(result));
  }
  return result;
}

}  // namespace isochrone::place
