#pragma once

#include <vector>

#include "place/core/instance.h"
#include "place/plan.pb.h"
#include "place/planner/build_instance.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// Why nothing can be built, in the words of the scenario: which populations, which
/// lines make it so, and the cheapest single relaxation where one is found.
void explain_conflicts(const Question& question, const std::vector<Serving>& servings,
                       const BuiltInstance& built, const Solution& solution,
                       plan::Plan& plan);

}  // namespace isochrone::place
