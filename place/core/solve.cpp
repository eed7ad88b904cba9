// Bound and plans take turns. Each round runs a fixed number of dual steps, then a
// fixed batch of searches that start from the average answer of the dual or from the
// best plan. Searches of a batch know nothing of each other; what they found (plans,
// violated cuts) is merged by index when all have ended, so the outcome does not depend
// on threads.
#include "place/core/solve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/parallel.h"
#include "base/rng.h"
#include "base/units.h"
#include "place/core/bound.h"
#include "place/core/branch.h"
#include "place/core/conflicts.h"
#include "place/core/dual_ascent.h"
#include "place/core/local_search.h"
#include "place/core/money.h"
#include "place/core/open_search.h"
#include "place/core/settle.h"
#include "place/core/survival_rows.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kRounds = 6;
constexpr double kHot = 1.5e-2;  // of a fresh plan: parts of its cost
constexpr double kWarm = 5e-3;   // of the best plan
constexpr int kPatience = 50;    // flips of sites without gain
constexpr std::size_t kBatch = 4;
constexpr std::size_t kMostCandidates = 100;
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kMostSharedCuts = 400;

class Solver {
 public:
  Solver(const Model& model, const Effort& effort)
      : model_(model),
        effort_(effort),
        lagrangian_(model),
        dual_(model, lagrangian_),
        root_(Rng(effort.seed).stream("placement")),
        start_(std::chrono::steady_clock::now()) {
    for (const SurvivalRow& row : rows_of_everything(model)) dual_.add_row(row);
    if (OpenSearch::fits(model)) open_search_.emplace(model);
    if (effort.nodes > 0) {
      for (const SurvivalRow& row : rows_of_whole_units(model)) dual_.add_row(row);
    }
    if (effort.warm_start != nullptr) dual_.warm_start(*effort.warm_start);
  }

  Solution run() {
    for (std::int64_t round = 0; round < kRounds && !stopped_; ++round) {
      ascend(round == 0 ? effort_.dual_steps * 3 / 10
                        : effort_.dual_steps * 7 / 10 / (kRounds - 1));
      if (good_enough() || stopped_) break;
      search(round);
      report();
      if (round == 0 && !best_) {
        conflicts_ = survival_conflicts(model_);
        if (!conflicts_.empty()) break;
      }
      if (good_enough()) break;
      for (const SurvivalRow& row : violated_rows(model_, dual_, cuts_, 24)) {
        if (dual_.rows().size() < kMostRows) dual_.add_row(row);
      }
    }
    if (effort_.nodes > 0 && !good_enough() && !stopped_ && conflicts_.empty())
      branch();
    return outcome();
  }

 private:
  struct Found {
    std::optional<Incumbent> plan;
    std::vector<Cut> cuts;
    std::vector<SurvivalRow> repaired;
    std::int64_t moves = 0;
    std::int64_t flows = 0;
  };

  bool out_of_time() {
    if (effort_.interrupted && effort_.interrupted()) interrupted_ = stopped_ = true;
    if (effort_.time_limit_s) {
      const std::chrono::duration<double> spent =
          std::chrono::steady_clock::now() - start_;
      if (spent.count() >= *effort_.time_limit_s) stopped_ = true;
    }
    return stopped_;
  }

  bool good_enough() const {
    if (!solution_) return false;
    const double objective = static_cast<double>(solution_->objective);
    return objective - dual_.best_value() <= effort_.gap * std::abs(objective);
  }

  void ascend(std::int64_t steps) {
    constexpr std::int64_t kChunk = 20;
    const double target = solution_ ? static_cast<double>(solution_->objective)
                                    : std::numeric_limits<double>::infinity();
    for (std::int64_t done = 0; done < steps && !out_of_time(); done += kChunk) {
      dual_.run(std::min(kChunk, steps - done), target);
      if (good_enough()) return;
    }
  }

  void report() const {
    if (!effort_.progress) return;
    std::optional<std::int64_t> incumbent;
    if (solution_) incumbent = solution_->objective;
    effort_.progress(incumbent, saturate(static_cast<Wide>(dual_.best_value())));
  }

  /// Sites that the average answer uses, then by value at the best prices; and for
  /// every demand at least three that reach it, if there are.
  std::vector<int> candidates() const {
    std::vector<double> weight(at(model_.sites()), 0);
    for (std::size_t i = 0; i < dual_.weights().size(); ++i) {
      weight[i / at(model_.commodities())] +=
          std::accumulate(dual_.weights()[i].begin(), dual_.weights()[i].end(), 0.0);
    }
    std::vector<int> order(at(model_.sites()));
    std::iota(order.begin(), order.end(), 0);
    const auto used = [&](int s) {
      return weight[at(s)] >= 0.01 ? weight[at(s)] : 0.0;
    };
    std::ranges::stable_sort(order, [&](int a, int b) {
      if (used(a) != used(b)) return used(a) > used(b);
      return dual_.site_values()[at(a)] < dual_.site_values()[at(b)];
    });
    std::vector<int> chosen;
    std::vector<int> reached(at(model_.demands()), 0);
    for (const int s : order) {
      bool wanted =
          chosen.size() < kMostCandidates || model_.instance().sites[at(s)].pinned;
      std::vector<int> own;
      for (int k = 0; k < model_.commodities(); ++k) {
        for (const int d : model_.demands_of(k)) {
          const bool reaches =
              std::ranges::any_of(model_.points(s, k), [&](const Point& point) {
                return has_bit(model_.reach(s, point.reach), d);
              });
          if (reaches) own.push_back(d);
          wanted = wanted || (reaches && reached[at(d)] < 3);
        }
      }
      if (!wanted) continue;
      chosen.push_back(s);
      for (const int d : own) ++reached[at(d)];
    }
    return chosen;
  }

  /// What to leave unserved: whom no site reaches and, if asked, whom the average
  /// answer leaves, while the coverage rows allow it.
  Service make_service(bool follow_dual) const {
    const Instance& in = model_.instance();
    std::vector<std::int32_t> unserved(at(model_.demands()), 0);
    std::vector<std::int64_t> slack;
    for (const CoverageGroup& group : in.coverage) slack.push_back(group.slack);
    for (int d = 0; d < model_.demands(); ++d) {
      const DemandRow& row = in.demands[at(d)];
      if (model_.reachable(d) || row.coverage_group < 0) continue;
      unserved[at(d)] = static_cast<std::int32_t>(kWholeShare);
      slack[at(row.coverage_group)] -= row.coverage_weight;
    }
    if (!follow_dual) return Service(model_, std::move(unserved));
    std::vector<int> order(at(model_.demands()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) {
      return dual_.unserved()[at(a)] > dual_.unserved()[at(b)];
    });
    for (const int d : order) {
      const DemandRow& row = in.demands[at(d)];
      if (row.coverage_group < 0 || unserved[at(d)] > 0) continue;
      if (dual_.unserved()[at(d)] < 0.1) break;
      std::int64_t& left = slack[at(row.coverage_group)];
      if (row.coverage_weight <= left) {
        unserved[at(d)] = static_cast<std::int32_t>(kWholeShare);
        left -= row.coverage_weight;
      } else if (left > 0 && !model_.whole(row.commodity)) {
        unserved[at(d)] = static_cast<std::int32_t>(static_cast<Wide>(left) *
                                                    kWholeShare / row.coverage_weight);
        left = 0;
      }
    }
    return Service(model_, std::move(unserved));
  }

  void search(std::int64_t round) {
    if (open_search_) {
      search_open();
      return;
    }
    Guide guide{dual_.weights(), candidates()};
    const std::int64_t moves = std::max<std::int64_t>(
        1, effort_.moves / (kRounds * static_cast<std::int64_t>(kBatch)));
    const Service plain = make_service(false);
    const Service thrifty = make_service(true);
    const std::vector<Found> found = parallel_map(kBatch, [&](std::size_t i) {
      const std::uint64_t index = static_cast<std::uint64_t>(round) * kBatch + i;
      LocalSearch search(model_, guide, root_.stream("start", index), cuts_);
      Found result;
      if (best_ && i < kBatch / 2) {
        result.plan = search.improve(*best_, moves, kWarm);
      } else {
        const double threshold = 0.2 + 0.2 * static_cast<double>(i);
        result.plan = search.construct(i % 2 == 0 ? thrifty : plain, threshold);
        if (!result.plan) result.plan = search.construct(plain, 0.5);
        if (result.plan) {
          result.plan = search.improve(*std::move(result.plan), moves, kHot);
        }
      }
      result.cuts = search.cuts();
      result.repaired = search.repaired();
      result.moves = search.moves();
      result.flows = search.flows_solved();
      return result;
    });
    merge(found);
  }

  void search_open() {
    auto found = open_search_->round(dual_);
    if (!found) return;
    auto settled =
        open_search_->settled(open_search_->improve(*std::move(found), kPatience));
    if (settled && (!solution_ || settled->objective < solution_->objective)) {
      solution_ = std::move(settled);
    }
  }

  void branch() {
    Branching tree(model_, dual_, solution_, effort_.gap);
    if (open_search_) {
      tree.round = [&](const DualAscent& ascent,
                       std::optional<double> beat) -> std::optional<Solution> {
        const auto found = open_search_->round(ascent);
        if (!found || (beat && found->cost >= *beat)) return std::nullopt;
        return open_search_->settled(*found);
      };
      tree.price = [&](const Restriction& within, double enough) {
        return open_search_->prices(within, enough);
      };
    }
    tree.stop = [&] { return out_of_time(); };
    tree.progress = [&](const Branching& now) {
      if (!effort_.progress) return;
      std::optional<std::int64_t> incumbent;
      if (now.best()) incumbent = now.best()->objective;
      effort_.progress(incumbent, saturate(static_cast<Wide>(now.bound())));
    };
    tree.run(effort_.nodes);
    solution_ = tree.best();
    parts_ = tree.proofs();
    nodes_ = tree.nodes();
    tree_steps_ = tree.steps();
  }

  void merge(const std::vector<Found>& found) {
    std::set<std::tuple<int, int, bool, Bits>> known;
    std::vector<Cut> cuts;
    for (const Found& result : found) {
      moves_ += result.moves;
      flows_ += result.flows;
      for (const Cut& cut : result.cuts) {
        if (cuts.size() >= kMostSharedCuts) break;
        if (known.emplace(cut.commodity, cut.block, cut.loss, cut.demands).second) {
          cuts.push_back(cut);
        }
      }
      for (const SurvivalRow& row : result.repaired) {
        if (repaired_.size() < 64) repaired_.push_back(row);
      }
    }
    cuts_ = std::move(cuts);
    std::vector<const Incumbent*> plans;
    for (const Found& result : found) {
      if (result.plan) plans.push_back(&*result.plan);
    }
    std::ranges::stable_sort(plans, {},
                             [](const Incumbent* plan) { return plan->cost; });
    for (const Incumbent* plan : plans) {
      if (solution_ && plan->cost >= solution_->objective) break;
      auto settled = settle(model_, plan->state, plan->service);
      if (!settled) continue;
      if (solution_ && settled->objective >= solution_->objective) continue;
      solution_ = std::move(settled);
      best_ = *plan;
    }
  }

  Solution outcome() {
    Solution result;
    if (solution_) result = *solution_;
    result.status = solution_ ? Status::kSolved : Status::kUndecided;
    if (interrupted_) result.status = Status::kInterrupted;
    if (!solution_ && !conflicts_.empty()) {
      result.status = Status::kInfeasible;
      result.conflicts = conflicts_;
    }
    result.certificate = dual_.certificate();
    result.bound = evaluate_bound(model_, result.certificate);
    if (!parts_.empty()) {
      const std::int64_t bound = evaluate_bound(model_, parts_);
      if (bound > result.bound) {
        result.bound = solution_ ? std::min(bound, solution_->objective) : bound;
        result.parts = parts_;
      }
    }
    result.repaired = repaired_;
    result.statistics = {dual_.steps() + tree_steps_, nodes_, moves_, flows_,
                         model_.arcs()};
    return result;
  }

  const Model& model_;
  const Effort& effort_;
  Lagrangian lagrangian_;
  DualAscent dual_;
  Rng root_;
  std::chrono::steady_clock::time_point start_;
  std::vector<Cut> cuts_;
  std::vector<SurvivalRow> repaired_;
  std::vector<Conflict> conflicts_;
  std::optional<Incumbent> best_;
  std::optional<Solution> solution_;
  std::optional<OpenSearch> open_search_;
  std::vector<PartProof> parts_;
  std::int64_t nodes_ = 0;
  std::int64_t tree_steps_ = 0;
  std::int64_t moves_ = 0;
  std::int64_t flows_ = 0;
  bool stopped_ = false;
  bool interrupted_ = false;
};

void drop_plan(Solution& solution) {
  solution.choices.clear();
  solution.flows.clear();
  solution.unserved_ppb.assign(solution.unserved_ppb.size(), 0);
  solution.objective = 0;
}

/// The plan is over the budget or there is none: asks for the least bill instead.
Solution within_budget(const Instance& instance, const Effort& effort,
                       Solution solution) {
  const std::int64_t budget = *instance.budget;
  const Instance bills = billed(instance);
  const Model model(bills);
  Effort half = effort;
  half.warm_start = nullptr;  // prices of another objective
  half.dual_steps = std::max<std::int64_t>(1, effort.dual_steps / 2);
  half.moves = std::max<std::int64_t>(1, effort.moves / 2);
  const Solution thrifty = Solver(model, half).run();
  const bool affordable = !thrifty.choices.empty() && thrifty.objective <= budget;
  if (affordable) {
    solution.choices = thrifty.choices;
    solution.flows = thrifty.flows;
    solution.unserved_ppb = thrifty.unserved_ppb;
    solution.objective = objective_of(instance, solution);
    solution.status = Status::kSolved;
    return solution;
  }
  const bool found = !solution.choices.empty() || !thrifty.choices.empty();
  std::int64_t cheapest = std::numeric_limits<std::int64_t>::max();
  if (!solution.choices.empty()) cheapest = bill_of(instance, solution);
  if (!thrifty.choices.empty()) cheapest = std::min(cheapest, thrifty.objective);
  drop_plan(solution);
  solution.status = thrifty.status == Status::kInterrupted ? Status::kInterrupted
                                                           : Status::kUndecided;
  if (thrifty.bound > budget) {
    solution.status = Status::kInfeasible;
    solution.certificate = thrifty.certificate;
    solution.conflicts.push_back({"budget",
                                  {},
                                  -1,
                                  -1,
                                  "every plan is billed at least " +
                                      to_text(MicroUsd::of(thrifty.bound)) +
                                      " a month"});
  } else if (found) {
    solution.conflicts.push_back({"budget_open",
                                  {},
                                  -1,
                                  -1,
                                  "the cheapest plan found is billed " +
                                      to_text(MicroUsd::of(cheapest)) +
                                      " a month, the least that is proven is " +
                                      to_text(MicroUsd::of(thrifty.bound))});
  }
  return solution;
}

}  // namespace

Solution solve(const Instance& instance, const Effort& effort) {
  const Model model(instance);
  std::vector<Conflict> conflicts = structural_conflicts(model);
  if (!conflicts.empty()) {
    Solution solution;
    solution.status = Status::kInfeasible;
    solution.conflicts = std::move(conflicts);
    solution.unserved_ppb.assign(instance.demands.size(), 0);
    return solution;
  }
  Solution solution = Solver(model, effort).run();
  const bool open =
      instance.budget && (solution.status == Status::kUndecided ||
                          (solution.status == Status::kSolved &&
                           bill_of(instance, solution) > *instance.budget));
  return open ? within_budget(instance, effort, std::move(solution))
              : std::move(solution);
}

}  // namespace isochrone::place
