#pragma once

#include "place/plan.pb.h"
#include "place/planner/question.h"

namespace isochrone::place {

/// Lives through plan and drills with validation streams, fresh ones after each
/// revision that the plan tells of, and writes cells, drills and counts of requests
/// into the plan. `simulate.max_requests` bounds the day; a drill may use a quarter of
/// it more.
void live_through(const Question& question, plan::Plan& plan);

}  // namespace isochrone::place
