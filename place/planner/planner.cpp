// From a scenario to a plan. The capacity tables start from queueing theory; the plan
// that they yield is measured pool by pool in the simulator; the tables of those pools
// are corrected, in both directions, and plan and bound are computed again on the
// corrected tables. The simulator never edits a plan, only tables. At last the plan is
// lived through once, with streams that nothing was fitted to.
#include "place/planner/planner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/core/solve.h"
#include "place/planner/assemble.h"
#include "place/planner/build_instance.h"
#include "place/planner/conflicts.h"
#include "place/planner/live_through.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

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
  return {500, 8'000};
}

class Planner {
 public:
  Planner(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
          const PlannerSettings& settings)
      : scenario_(scenario),
        settings_(settings),
        question_(Question::ask(scenario, catalog)) {}

  Planned plan() {
    say(fmt::format("{} populations, {} candidate sites",
                    question_.demand.populations.size(),
                    question_.candidates.sites.size()));
    make_servings();
    // Which tables matter shows soon: the full effort is kept for the corrected ones.
    solve_once(Pass::kScout);
    if (solved()) correct_tables();
    // A scout that found nothing has not shown that there is nothing.
    if (solved() || solution_.status == Status::kUndecided) solve_once(Pass::kFull);
    return conclude();
  }

 private:
  static constexpr std::uint64_t kTrainingRequests = 5'000'000;  // for all tables

  void say(const std::string& line) const {
    if (settings_.progress) settings_.progress(line);
  }

  bool solved() const { return solution_.status == Status::kSolved; }

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

  void solve_once(Pass pass) {
    built_ = build_instance(question_, servings_);
    std::size_t options = 0;
    std::size_t sizes = 0;
    std::size_t classes = 0;
    for (const Site& site : built_.instance.sites) {
      options += site.options.size();
      classes += site.reach.size();
      for (const Option& option : site.options) sizes += option.cost.size();
    }
    say(fmt::format("{} options of {} sizes at {} sites, {} reach classes", options,
                    sizes, built_.instance.sites.size(), classes));
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
    effort.time_limit_s = settings_.time_limit_s;
    effort.interrupted = settings_.interrupted;
    effort.progress = [this](std::int64_t incumbent, std::int64_t bound) {
      say(fmt::format("plan {}, bound {}", to_text(MicroUsd::of(incumbent)),
                      to_text(MicroUsd::of(bound))));
    };
    const Certificate before = std::move(solution_.certificate);
    if (pass == Pass::kFull) effort.warm_start = &before;
    solution_ = solve(built_.instance, effort);
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
      for (const std::int64_t n : neighbours(choice.replicas)) {
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

  /// Support points of the capacity table on both sides of n.
  static std::set<std::int64_t> neighbours(std::int64_t n) {
    std::set<std::int64_t> around;
    const auto* above = std::ranges::lower_bound(kSupport, n);
    if (above == std::end(kSupport)) return {*std::prev(above)};
    around.insert(*above);
    if (*above != n && above != std::begin(kSupport)) around.insert(*std::prev(above));
    return around;
  }

  Serving& serving_of(std::size_t workload) {
    const auto it = std::ranges::find(servings_, workload, &Serving::workload);
    INVARIANT(it != servings_.end(), "a choice of a workload that is not served");
    return *it;
  }

  Planned conclude() {
    Planned planned;
    if (solution_.choices.empty()) {
      plan::Plan& plan = planned.plan;
      plan.set_format(1);
      plan.set_scenario(scenario_.spec.name());
      planned.ending = solution_.status == Status::kInfeasible    ? Ending::kInfeasible
                       : solution_.status == Status::kInterrupted ? Ending::kInterrupted
                                                                  : Ending::kUndecided;
      plan.set_status(planned.ending == Ending::kInfeasible ? "infeasible"
                                                            : "undecided");
      explain_conflicts(question_, servings_, built_, solution_, plan);
      return planned;
    }
    planned.ending = solution_.status == Status::kInterrupted ? Ending::kInterrupted
                                                              : Ending::kPlanned;
    planned.plan = assemble_plan(question_, servings_, built_, solution_);
    planned.plan.set_reproducible(!settings_.time_limit_s &&
                                  planned.ending == Ending::kPlanned);
    say("living through the plan");
    live_through(question_, planned.plan);
    return planned;
  }

  const scenarios::Scenario& scenario_;
  const PlannerSettings& settings_;
  Question question_;
  std::vector<Serving> servings_;
  BuiltInstance built_;
  Solution solution_;
};

}  // namespace

Planned make_plan(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
                  const PlannerSettings& settings) {
  return Planner(scenario, catalog, settings).plan();
}

void simulate_plan(plan::Plan& plan, const scenarios::Scenario& scenario,
                   const datasets::Catalog& catalog) {
  const Question question = Question::ask(scenario, catalog);
  live_through(question, plan);
}

}  // namespace isochrone::place
