// From a scenario to a plan. The capacity tables start from queueing theory; the plan
// that they yield is measured pool by pool in the simulator; the tables of those pools
// are corrected, in both directions, and plan and bound are computed again on the
// corrected tables. The simulator never edits a plan, only tables. At last the plan is
// lived through once, with streams that nothing was fitted to. Where that shows misses,
// it goes on: tables corrected by what was seen, plan and bound again, lived through
// with fresh streams.
#include "place/planner/planner.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/stopping.h"
#include "place/core/solve.h"
#include "place/planner/assemble.h"
#include "place/planner/build_instance.h"
#include "place/planner/conflicts.h"
#include "place/planner/lessons.h"
#include "place/planner/live_through.h"
#include "place/planner/question.h"
#include "place/planner/reconnecting.h"
#include "place/planner/seal.h"
#include "place/planner/serving.h"
#include "place/planner/valleys.h"

namespace isochrone::place {
namespace {

struct Work {
  std::int64_t dual_steps;
  std::int64_t moves;
};

Work work_of(const scenarios::Scenario& scenario) {
  const std::string& wish = scenario.spec.optimize().work();
  if (wish == "quick") return {150, 3'000};
  if (wish == "thorough") return {3000, 200'000};
  return {500, 16'000};
}

class Planner {
 public:
  Planner(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
          const PlannerSettings& settings)
      : scenario_(scenario),
        settings_(settings),
        question_(Question::ask(scenario, catalog)) {}

  /// Whether there is a plan, and what it costs; not lived through.
  Planned decide() {
    if (!completed([&] { make_servings(); })) return nothing();
    solve_once(Pass::kFull);
    if (solution_.choices.empty()) return nothing();
    return {Ending::kPlanned,
            assemble_plan(question_, solved_with_, built_, solution_)};
  }

  Planned plan() {
    say(fmt::format("{} populations, {} candidate sites",
                    question_.demand.populations.size(),
                    question_.candidates.sites.size()));
    if (!completed([&] { make_servings(); })) return nothing();
    // Which tables matter shows soon: the full effort is kept for the corrected ones.
    solve_once(Pass::kScout);
    if (solved() && !completed([&] { correct_tables(); })) return conclude({});
    // A scout that found nothing has not shown that there is nothing.
    if (solved() || solution_.status == Status::kUndecided) settle_on_corrected();
    return revised(conclude({}));
  }

 private:
  static constexpr std::uint64_t kTrainingRequests = 5'000'000;  // for all tables

  void say(const std::string& line) const {
    if (settings_.progress) settings_.progress(line);
  }

  bool solved() const { return solution_.status == Status::kSolved; }

  /// Does work that leaves nothing behind if it is cut short; false: it was.
  bool completed(const std::function<void()>& work) {
    const StopScope scope(settings_.interrupted);
    try {
      work();
    } catch (const Stopped&) {
      solution_.status = Status::kInterrupted;
      return false;
    }
    return true;
  }

  void make_servings() {
    const int workloads = scenario_.spec.workloads_size();
    for (int w = 0; w < workloads; ++w) {
      if (scenario_.spec.workloads(w).kind() == "batch") continue;
      servings_.push_back(build_serving(question_, static_cast<std::size_t>(w)));
      say(fmt::format("{}: {} ways to serve, {} load levels",
                      scenario_.spec.workloads(w).name(),
                      servings_.back().options.size(), servings_.back().levels.size()));
    }
  }

  enum class Pass { kScout, kFull };

  /// Keeps the answer before if it is interrupted without one.
  void solve_once(Pass pass) {
    BuiltInstance built;
    if (!completed([&] { built = build_instance(question_, servings_); })) return;
    tell_size(built);
    const Certificate before = solution_.certificate;
    Effort effort = effort_of(pass);
    if (pass == Pass::kFull) effort.warm_start = &before;
    const auto start = std::chrono::steady_clock::now();
    Solution found = solve(built.instance, effort);
    solving_ += std::chrono::steady_clock::now() - start;
    if (found.status == Status::kInterrupted && found.choices.empty()) {
      solution_.status = Status::kInterrupted;
      return;
    }
    solution_ = std::move(found);
    built_ = std::move(built);
    solved_with_ = servings_;
  }

  /// Where the full effort finds nothing on the corrected tables, the scout's plan is
  /// the answer: living through it shows what theory's tables were worth.
  void settle_on_corrected() {
    Solution scouted = solution_;
    BuiltInstance built = built_;
    std::vector<Serving> servings = solved_with_;
    solve_once(Pass::kFull);
    if (solution_.status != Status::kUndecided || scouted.choices.empty()) return;
    say("no plan on the corrected tables: keeping the one before");
    solution_ = std::move(scouted);
    built_ = std::move(built);
    solved_with_ = std::move(servings);
  }

  void tell_size(const BuiltInstance& built) const {
    std::size_t options = 0;
    std::size_t sizes = 0;
    std::size_t classes = 0;
    for (const Site& site : built.instance.sites) {
      options += site.options.size();
      classes += site.reach.size();
      for (const Option& option : site.options) sizes += option.cost.size();
    }
    say(fmt::format("{} options of {} sizes at {} sites, {} reach classes", options,
                    sizes, built.instance.sites.size(), classes));
  }

  Effort effort_of(Pass pass) const {
    const Work work = work_of(scenario_);
    Effort effort;
    const spec::Optimize& optimize = scenario_.spec.optimize();
    effort.gap =
        settings_.gap_pct.value_or(optimize.has_gap_pct() ? optimize.gap_pct()
                                                          : scenarios::kDefaultGapPct) /
        100;
    effort.dual_steps = pass == Pass::kFull ? work.dual_steps : work.dual_steps / 4;
    effort.moves = pass == Pass::kFull ? work.moves : work.moves / 8;
    effort.seed = scenarios::seed(scenario_);
    if (settings_.time_limit_s) {
      effort.time_limit_s = std::max(0.1, *settings_.time_limit_s - solving_.count());
    }
    effort.interrupted = settings_.interrupted;
    effort.progress = [this](std::optional<std::int64_t> incumbent,
                             std::int64_t bound) {
      say(fmt::format(
          "{}, bound {}",
          incumbent ? "plan " + to_text(MicroUsd::of(*incumbent)) : "no plan yet",
          to_text(MicroUsd::of(bound))));
    };
    return effort;
  }

  /// Simulates what the plan uses and has not been simulated yet; true if a table
  /// moved.
  void correct_tables() {
    std::map<std::pair<std::size_t, std::size_t>, std::set<std::int64_t>> used;
    for (const Choice& choice : solution_.choices) {
      const auto& site = built_.instance.sites[static_cast<std::size_t>(choice.site)];
      const Option& option = site.options[static_cast<std::size_t>(choice.option)];
      if (option.whole) continue;
      const OptionMeaning& meaning = built_.meaning[option.label];
      for (const std::int64_t n : supports_of(choice.replicas)) {
        used[{meaning.workload, meaning.level}].insert(n);
      }
    }
    std::vector<Correction> work;
    for (const auto& [table, sizes] : used) {
      work.push_back({table.first, table.second, {sizes.begin(), sizes.end()}});
    }
    if (work.empty()) return;
    const std::uint64_t each = kTrainingRequests / work.size();
    const auto tables = parallel_map(work.size(), [&](std::size_t i) {
      const Serving& serving = serving_of(work[i].workload);
      const LevelTable& level = serving.levels[work[i].level];
      return corrected(level, serving.options[level.option],
                       serving.question.modulation, work[i].replicas,
                       scenarios::seed(scenario_), each);
    });
    for (std::size_t i = 0; i < work.size(); ++i) {
      say(fmt::format("corrected {} at batch depth {}: {:.3f} of theory",
                      serving_of(work[i].workload).options[tables[i].option].profile,
                      tables[i].max_num_seqs, tables[i].correction.front()));
      serving_of(work[i].workload).levels[work[i].level] = tables[i];
    }
  }

  struct Correction {
    std::size_t workload;
    std::size_t level;
    std::vector<std::int64_t> replicas;
  };

  Serving& serving_of(std::size_t workload) {
    const auto it = std::ranges::find(servings_, workload, &Serving::workload);
    INVARIANT(it != servings_.end(), "a choice of a workload that is not served");
    return *it;
  }

  /// A budget is refused by a bound that rents GPUs for all jobs: those that could run
  /// in valleys may still fit it.
  bool valleys_may_help() const {
    return solution_.status == Status::kInfeasible &&
           std::ranges::count(solution_.conflicts, "budget", &Conflict::kind) > 0 &&
           least_host(question_, built_);
  }

  Planned nothing() {
    if (valleys_may_help()) solution_.status = Status::kUndecided;
    Planned planned;
    planned.ending = solution_.status == Status::kInfeasible    ? Ending::kInfeasible
                     : solution_.status == Status::kInterrupted ? Ending::kInterrupted
                                                                : Ending::kUndecided;
    plan::Plan& plan = planned.plan;
    plan.set_format(1);
    plan.set_scenario(scenario_.spec.name());
    plan.set_status(planned.ending == Ending::kInfeasible ? "infeasible" : "undecided");
    if (planned.ending == Ending::kInterrupted) {
      plan::Conflict& row = *plan.add_conflicts();
      row.set_kind("interrupted");
      row.set_text("interrupted before there was a plan");
    } else {
      explain_conflicts(question_, servings_, built_, solution_, plan);
    }
    return planned;
  }

  /// The answer as a plan, lived through.
  Planned conclude(const std::vector<plan::Revision>& revisions) {
    if (solution_.choices.empty()) return nothing();
    Planned planned;
    const bool cut_short = solution_.status == Status::kInterrupted;
    planned.ending = cut_short ? Ending::kInterrupted : Ending::kPlanned;
    planned.plan = assemble_plan(question_, solved_with_, built_, solution_);
    plan::Plan& plan = planned.plan;
    for (const plan::Revision& revision : revisions) *plan.add_revisions() = revision;
    plan.set_reproducible(!settings_.time_limit_s && !cut_short);
    plan::Plan lived = plan;
    if (!cut_short && completed([&] {
          say("living through the plan");
          live_through(question_, lived);
        })) {
      plan = std::move(lived);
      return planned;
    }
    planned.ending = Ending::kInterrupted;
    plan.set_status("interrupted");
    plan.set_reproducible(false);
    return planned;
  }

  /// Corrects tables by what living through a plan showed, and plans anew, as long as
  /// objectives are open and tables are to blame.
  Planned revised(Planned first) {
    Planned best = std::move(first);
    if (best.ending != Ending::kPlanned) return best;
    plan::Plan latest = best.plan;
    std::vector<plan::Revision> revisions;
    std::vector<std::string> notes;
    bool may_hold = true;
    while (open_cells(best.plan).all() > 0) {
      if (revisions.size() == kMostRevisions || out_of_time()) break;
      const std::vector<Serving> before = servings_;
      const std::vector<LossDrill> losses = lived_drills(question_, latest);
      std::vector<std::string> done;
      if (may_hold) done = hold_to_reconnection(question_, latest, losses, servings_);
      const bool held = !done.empty();
      if (!held) {
        done = learn(lessons_of(question_, servings_, latest, losses), servings_);
      }
      if (done.empty()) {
        notes.push_back("no capacity table is to blame");
        break;
      }
      revisions.push_back(revise(done, latest));
      solve_once(Pass::kFull);
      Planned next = conclude(revisions);
      if (next.ending == Ending::kPlanned) {
        latest = next.plan;
        if (fewer_open(next.plan, best.plan)) best = std::move(next);
        continue;
      }
      notes.push_back(why_no_revision(revisions.back(), next));
      if (next.ending == Ending::kInterrupted) {
        best.ending = Ending::kInterrupted;
        best.plan.set_reproducible(false);
        break;
      }
      if (!held) break;
      // Capacity may still mend what no new connection can.
      servings_ = before;
      revisions.pop_back();
      may_hold = false;
    }
    tell_open(best.plan, revisions.size(), notes);
    return best;
  }

  static std::string why_no_revision(const plan::Revision& revision,
                                     const Planned& next) {
    std::string text =
        fmt::format("corrected ({}) the answer is \"{}\"",
                    fmt::join(revision.corrected(), "; "), next.plan.status());
    for (const plan::Conflict& conflict : next.plan.conflicts()) {
      text += "; " + conflict.text();
    }
    return text;
  }

  bool out_of_time() const {
    return settings_.time_limit_s && solving_.count() >= *settings_.time_limit_s;
  }

  plan::Revision revise(const std::vector<std::string>& done,
                        const plan::Plan& missed) const {
    plan::Revision revision;
    const int open = open_cells(missed).all();
    revision.set_open(static_cast<std::uint32_t>(open));
    revision.set_objective_usd_micro(missed.totals().objective_usd_micro());
    revision.set_bound_usd_micro(missed.bound().objective_usd_micro());
    say(fmt::format("{} objectives are open: correcting tables by what was seen",
                    open));
    for (const std::string& line : done) {
      say("  " + line);
      revision.add_corrected(line);
    }
    seal(revision);
    return revision;
  }

  const scenarios::Scenario& scenario_;
  const PlannerSettings& settings_;
  Question question_;
  std::vector<Serving> servings_;
  // The latest answer, and the tables that it is of: those in `servings_` may be ahead.
  std::vector<Serving> solved_with_;
  BuiltInstance built_;
  Solution solution_;
  std::chrono::duration<double> solving_{0};
};

}  // namespace

Planned make_plan(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
                  const PlannerSettings& settings) {
  return Planner(scenario, catalog, settings).plan();
}

Planned decide(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
               const PlannerSettings& settings) {
  return Planner(scenario, catalog, settings).decide();
}

void simulate_plan(plan::Plan& plan, const scenarios::Scenario& scenario,
                   const datasets::Catalog& catalog) {
  const Question question = Question::ask(scenario, catalog);
  live_through(question, plan);
  if (plan.status() == "interrupted") plan.set_status("planned");
}

}  // namespace isochrone::place
