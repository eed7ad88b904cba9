#pragma once

#include <cstddef>
#include <string>

#include "place/plan.pb.h"
#include "place/planner/planner.h"
#include "place/verify/verify.h"

namespace isochrone::tools {

/// Exit code of a planning run.
int exit_code(const place::Planned& planned, const verify::Verification& checked);

/// Every cell of the day and of every drill is shown to be met.
bool all_met(const plan::Plan& plan);

inline constexpr std::size_t kFaultsShown = 10;

/// What was checked, or the first faults, one per line, and how many more there are.
std::string verification_text(const verify::Verification& checked,
                              std::size_t shown = kFaultsShown);

}  // namespace isochrone::tools
