// From serving options to level tables, in three passes: measure each option in closed
// loops from the shallowest batch depth up, and stop where the pace or the KV cache
// fails; compute what each depth carries within each waiting budget; and drop what no
// planner would take.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "base/rng.h"
#include "base/stopping.h"
#include "place/planner/tables.h"
#include "place/planner/wait_curve.h"

namespace isochrone::place {
namespace {

using Metric = sim::Objective::Metric;
using Objectives = std::span<const sim::Objective>;

constexpr double kMaxPreempted = 0.01;
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
    stop_if_asked();
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

/// Reach in us over typical_access(), cut at the longest RTT; -1 where there is none.
std::vector<double> reaches(const LevelTable& level, const ServingOption& option,
                            Objectives objectives, bool degraded,
                            const LevelQuestion& question) {
  std::vector<double> result;
  for (const geo::AtomicLaw& access : typical_access()) {
    const auto one = reach(level, option, objectives, degraded, access, question.trips,
                           question.transfer);
    result.push_back(
        one ? static_cast<double>(std::min(*one, question.longest_rtt).count()) : -1);
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
  level.degraded_wait_share = wait_share(question.degraded);
  level.degraded_wait_budget_ms = level.wait_budget_ms;
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

/// What one depth of an option carries at every support point. Remembers what it was
/// asked, because budgets come back as degraded budgets.
class DepthCapacity {
 public:
  DepthCapacity(const LevelTable& level, const RateEpochs& epochs) : epochs_(epochs) {
    for (const std::int64_t n : kSupport) {
      curves_.emplace_back(level.occupancy, level.residence_s, level.max_num_seqs, n);
      if (!epochs.poisson()) grids_.emplace_back(curves_.back());
    }
  }

  const std::vector<MicroRps>& within(double budget_ms, double share) {
    std::vector<MicroRps>& capacity = known_[{budget_ms, share}];
    if (!capacity.empty()) return capacity;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      stop_if_asked();
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
  std::map<std::pair<double, double>, std::vector<MicroRps>> known_;
};

/// Reach that is not worth a level of its own: a 25th of the tightest TTFT or E2E
/// limit, at most 20 ms.
double reach_tolerance_us(std::span<const sim::Objective> objectives) {
  double tolerance = 20'000;
  for (const sim::Objective& objective : objectives) {
    if (objective.metric == Metric::kTpot) continue;
    tolerance =
        std::min(tolerance, static_cast<double>(objective.limit.count()) / 1e3 / 25);
  }
  return tolerance;
}

/// A level with what is compared when levels are weighed against each other.
struct Weighed {
  LevelTable level;
  std::vector<double> far;
  std::vector<double> degraded_far;
  double tolerance_us = 0;
};

/// Requests per second and replica with every slot taken.
double full_rate(const LevelTable& level) {
  return static_cast<double>(level.max_num_seqs) / level.residence_s.back();
}

bool no_shorter(const Weighed& a, const Weighed& b) {
  return no_shorter(a.far, b.far, a.tolerance_us) &&
         no_shorter(a.degraded_far, b.degraded_far, a.tolerance_us);
}

/// Whether `a` carries at least what `b` does without a need to compute it: it has more
/// slots, is no slower with all taken, and may wait longer.
bool surely_better(const Weighed& a, const Weighed& b) {
  return a.level.max_num_seqs >= b.level.max_num_seqs &&
         full_rate(a.level) >= full_rate(b.level) &&
         a.level.wait_share >= b.level.wait_share &&
         a.level.wait_budget_ms >= b.level.wait_budget_ms &&
         a.level.degraded_wait_budget_ms >= b.level.degraded_wait_budget_ms &&
         no_shorter(a, b);
}

/// Waiting budgets that are neither negligible beside the tightest TTFT or E2E limit
/// nor more than half of it; the smallest where none is left.
std::vector<double> budgets_worth_trying(std::span<const sim::Objective> objectives) {
  double limit_ms = std::numeric_limits<double>::max();
  for (const sim::Objective& objective : objectives) {
    if (objective.metric == Metric::kTpot) continue;
    limit_ms = std::min(limit_ms, static_cast<double>(objective.limit.count()) / 1e6);
  }
  std::vector<double> budgets;
  for (const double budget : kWaitBudgetsMs) {
    if (budget >= limit_ms / 40 && budget <= 0.6 * limit_ms) budgets.push_back(budget);
  }
  if (budgets.empty()) budgets.push_back(*std::begin(kWaitBudgetsMs));
  return budgets;
}

/// Adds the levels of one depth that leave a reach, without capacity.
void add_depth(std::vector<Weighed>& levels, LevelTable level,
               const ServingOption& option, const LevelQuestion& question) {
  const double share = wait_share(question.objectives);
  for (const double part : kWaitShareParts) {
    level.wait_share = share * part;
    for (const double budget : budgets_worth_trying(question.objectives)) {
      level.wait_budget_ms = budget;
      auto far = reaches(level, option, question.objectives, false, question);
      if (std::ranges::max(far) < 0) break;
      choose_degraded_budget(level, option, question);
      auto degraded_far = reaches(level, option, question.degraded, true, question);
      levels.push_back({level, std::move(far), std::move(degraded_far),
                        reach_tolerance_us(question.objectives)});
    }
  }
}

/// The levels of an option whose capacity is worth computing, deepest first, each depth
/// with the longest budget first.
std::vector<Weighed> promising_levels(std::size_t option_index,
                                      const ServingOption& option,
                                      const std::vector<Measured>& measured,
                                      const LevelQuestion& question) {
  LevelTable level;
  level.option = option_index;
  level.correction.assign(std::size(kSupport), 1);
  level.degraded_correction = level.correction;
  std::vector<Weighed> all;
  for (const Measured& one : measured) {
    level.max_num_seqs = one.depth;
    level.law = one.law;
    level.occupancy.push_back(static_cast<double>(one.depth));
    level.residence_s.push_back(one.law.mean_residence_s);
    add_depth(all, level, option, question);
  }
  std::vector<Weighed> kept;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (std::ranges::none_of(kept,
                             [&](const Weighed& k) { return surely_better(k, *it); })) {
      kept.push_back(std::move(*it));
    }
  }
  return kept;
}

/// Fills in the capacity of levels of one depth.
void compute_capacity(std::span<Weighed> levels, const RateEpochs& epochs) {
  DepthCapacity capacity(levels.front().level, epochs);
  for (Weighed& one : levels) {
    LevelTable& it = one.level;
    it.capacity = capacity.within(it.wait_budget_ms, it.wait_share);
    it.degraded_capacity =
        capacity.within(it.degraded_wait_budget_ms, it.degraded_wait_share);
  }
}

bool dominates(const Weighed& a, const Weighed& b) {
  for (std::size_t i = 0; i < a.level.capacity.size(); ++i) {
    if (a.level.capacity[i] < b.level.capacity[i]) return false;
    if (a.level.degraded_capacity[i] < b.level.degraded_capacity[i]) return false;
  }
  return no_shorter(a, b);
}

/// A replica alone that may be busy for less than 2 % of its time serves nobody, and
/// its capacity is beyond what the grid of rates resolves.
bool worth_offering(const Weighed& one) {
  return to_rps(one.level.capacity.front()) >= 0.02 * full_rate(one.level);
}

/// A level falls if one that is kept dominates it. Those of the largest capacity are
/// looked at first, so that the tolerance never lets two levels drop each other.
std::vector<LevelTable> without_dominated(std::vector<Weighed> levels) {
  std::ranges::stable_sort(levels, std::ranges::greater{}, [](const Weighed& one) {
    return std::pair(one.level.capacity.back(), one.level.capacity.front());
  });
  std::vector<Weighed> kept;
  for (Weighed& one : levels) {
    if (worth_offering(one) && std::ranges::none_of(kept, [&](const Weighed& k) {
          return dominates(k, one);
        })) {
      kept.push_back(std::move(one));
    }
  }
  std::ranges::sort(kept, {}, [](const Weighed& k) {
    return std::tuple(k.level.max_num_seqs, k.level.wait_budget_ms, k.level.wait_share);
  });
  std::vector<LevelTable> result;
  for (Weighed& one : kept) result.push_back(std::move(one.level));
  return result;
}

}  // namespace

double strictest_share(std::span<const sim::Objective> objectives) {
  double strictest = 0;
  for (const sim::Objective& objective : objectives) {
    if (objective.metric != Metric::kTpot) {
      strictest = std::max(strictest, objective.percentile);
    }
  }
  return strictest / 100;
}

double wait_share(std::span<const sim::Objective> objectives) {
  const double strictest = strictest_share(objectives);
  return strictest > 0 ? 0.8 * (1 - strictest) : kDefaultWaitShare;
}

std::vector<LevelTable> build_tables(std::span<const ServingOption> options,
                                     const LevelQuestion& question,
                                     std::uint64_t seed) {
  const Rng root = Rng(seed).stream("service laws");
  const RateEpochs epochs(question.modulation);
  const auto measured = parallel_map(options.size(), [&](std::size_t i) {
    return measure(options[i], question, root);
  });

  std::vector<Weighed> levels;
  std::vector<std::size_t> starts;  // of each (option, depth) in levels
  for (std::size_t i = 0; i < options.size(); ++i) {
    for (Weighed& one : promising_levels(i, options[i], measured[i], question)) {
      if (levels.empty() || levels.back().level.option != i ||
          levels.back().level.max_num_seqs != one.level.max_num_seqs) {
        starts.push_back(levels.size());
      }
      levels.push_back(std::move(one));
    }
  }
  starts.push_back(levels.size());
  parallel_for_each_index(starts.size() - 1, [&](std::size_t task) {
    compute_capacity(
        std::span(levels).subspan(starts[task], starts[task + 1] - starts[task]),
        epochs);
  });

  std::vector<std::vector<Weighed>> by_option(options.size());
  for (Weighed& one : levels) {
    by_option[one.level.option].push_back(std::move(one));
  }
  std::vector<LevelTable> result;
  for (std::vector<Weighed>& all : by_option) {
    auto kept = without_dominated(std::move(all));
    std::ranges::move(kept, std::back_inserter(result));
  }
  return result;
}

}  // namespace isochrone::place
