#pragma once

#include <string>

#include "place/plan.pb.h"

namespace isochrone::place {

/// Why all pools of a workload stand at one batch depth or one waiting budget, from the
/// tables of the plan: how many of the other levels carry less, and how many carry more
/// but do not reach the users that are served. Empty where levels differ.
std::string one_level(const plan::Plan& plan);

}  // namespace isochrone::place
