#pragma once

#include <string>

#include "place/plan.pb.h"

namespace isochrone::place {

/// The plan for a person at a terminal: verdict, money with its gap, pools by site,
/// bill, what the spend rests on, simulated cells, warnings. Plain text, UTF-8, ends
/// with a line feed.
std::string show_plan(const plan::Plan& plan);

}  // namespace isochrone::place
