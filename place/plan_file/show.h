#pragma once

#include <string>

#include "place/plan.pb.h"

namespace isochrone::place {

/// The plan for a person at a terminal: verdict, money with its gap and what it would
/// be at other step times, pools by site, who is served where under which law, bill,
/// what the spend rests on, simulated cells, warnings. `detail`: users by country and
/// not by region. Plain text, UTF-8, ends with a line feed.
std::string show_plan(const plan::Plan& plan, bool detail = false);

}  // namespace isochrone::place
