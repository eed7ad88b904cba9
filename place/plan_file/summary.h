#pragma once

#include <string>

#include "place/plan.pb.h"

namespace isochrone::place {

/// The first lines: verdict with every objective that is not shown to be met, money,
/// gap, hardware, how full it runs, and what it would be at other step times.
std::string summary(const plan::Plan& plan);

/// "3.01 M", or whole below a million.
std::string people(double users);

/// Number of populations of a cut, and their regions: "4 populations in europe".
std::string users_of(const plan::Plan& plan, const plan::Cut& cut);

}  // namespace isochrone::place
