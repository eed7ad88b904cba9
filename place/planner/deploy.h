#pragma once

#include "place/plan.pb.h"
#include "place/planner/question.h"
#include "sim/deployment.h"

namespace isochrone::place {

/// The plan as the simulator lives through it: pools with their enforced settings, and
/// the traffic of every assignment. Batch pools are left out: they have no requests.
/// Throws std::invalid_argument if the plan names what the question does not have.
sim::Deployment deploy(const Question& question, const plan::Plan& plan);

}  // namespace isochrone::place
