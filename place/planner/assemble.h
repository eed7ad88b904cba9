#pragma once

#include <string>
#include <vector>

#include "place/core/instance.h"
#include "place/plan.pb.h"
#include "place/planner/build_instance.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// A solved question as a plan: sites, pools, assignments, exact bill, bound, tables
/// and certificate. Cells and drills are added by the simulation.
plan::Plan assemble_plan(const Question& question, const std::vector<Serving>& servings,
                         const BuiltInstance& built, const Solution& solution);

/// The exact bill of a plan's pools and assignments: lines, totals and spend shares.
void write_bill(const Question& question, plan::Plan& plan);

/// The offer that a pool of the plan stands on. Throws std::invalid_argument where the
/// question has none like it.
const scenarios::Offer& offer_of(const Question& question, const plan::Plan& plan,
                                 const plan::Pool& pool);

/// What the plan would need with step times at both ends of their error bands. After
/// pools, totals and drills.
void add_step_times(const Question& question, plan::Plan& plan);

/// "ttft_p95_ms"
std::string objective_name(const sim::Objective& objective);

}  // namespace isochrone::place
