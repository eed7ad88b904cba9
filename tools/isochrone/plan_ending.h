#pragma once

#include <string>

#include "place/plan.pb.h"
#include "place/planner/planner.h"
#include "place/verify/verify.h"

namespace isochrone::tools {

/// Exit code of a planning run.
int exit_code(const place::Planned& planned, const verify::Verification& checked);

/// Every cell of the day and of every drill is shown to be met.
bool all_met(const plan::Plan& plan);

/// What was checked, or every fault, one per line.
std::string verification_text(const verify::Verification& checked);

}  // namespace isochrone::tools
