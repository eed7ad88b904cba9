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
  std::function<bool()> interrupted;   ///< polled; true: stop with the best so far
  /// A line of progress, for a log: "dual 200/600: bound $1,234, plan $1,300".
  std::function<void(std::string_view)> progress;
};

enum class Ending { kPlanned, kInfeasible, kUndecided, kInterrupted };

struct Planned {
  Ending ending = Ending::kUndecided;
  /// kPlanned, kInterrupted with a plan: a full plan. Else status and conflicts only.
  plan::Plan plan;
};

/// The whole line: question, tables, bound and plan, simulation of the pools used,
/// tables corrected, planned and bounded again, lived through with fresh streams.
Planned make_plan(const scenarios::Scenario& scenario, const datasets::Catalog& catalog,
                  const PlannerSettings& settings);

/// Lives through a given plan with fresh streams: its cells and drills are replaced.
void simulate_plan(plan::Plan& plan, const scenarios::Scenario& scenario,
                   const datasets::Catalog& catalog);

}  // namespace isochrone::place
