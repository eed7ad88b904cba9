#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/catalog.h"
#include "place/plan.pb.h"
#include "scenarios/scenario.h"

namespace isochrone::place {

struct PlannerSettings {
  std::optional<double> gap_pct;       ///< over optimize.gap_pct
  std::optional<double> time_limit_s;  ///< wall clock; the plan says not reproducible
  /// Polled from many threads; true: stop soon, with the best so far.
  std::function<bool()> interrupted;
  /// A line of progress, for a log: "dual 200/600: bound $1,234, plan $1,300".
  std::function<void(std::string_view)> progress;
};

enum class Ending { kPlanned, kInfeasible, kUndecided, kInterrupted };

struct Planned {
  Ending ending = Ending::kUndecided;
  /// kPlanned: a full plan. kInterrupted with a plan: of status "planned" if it was
  /// lived through, else "interrupted", without cells. Else status and conflicts only.
  plan::Plan plan;
};

/// The whole line: question, tables, bound and plan, simulation of the pools used,
/// tables corrected, planned and bounded again, lived through with fresh streams. Where
/// objectives are missed then, or not shown, the tables to blame are corrected by what
/// was seen and plan and bound computed again, at most kMostRevisions times; the plan
/// with the fewest open objectives is the answer, and tells what was tried.
Planned make_plan(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
                  const PlannerSettings& settings);

/// Whether there is a plan, by theory's tables: kPlanned with a plan that nobody has
/// lived through, or why not. For trying what a change of the scenario would do.
Planned decide(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
               const PlannerSettings& settings);

inline constexpr int kMostRevisions = 3;

/// Lives through a given plan with fresh streams: its cells and drills are replaced,
/// and an interrupted plan is a planned one then.
void simulate_plan(plan::Plan& plan, const scenarios::Scenario& scenario,
                   const datasets::Catalog& catalog);

}  // namespace isochrone::place
