#pragma once

#include <string>
#include <string_view>

#include "place/plan.pb.h"

namespace isochrone::place {

/// One open site of a plan: its pools with what they carry and how full they run, its
/// lines of the bill, whom it serves at what RTT, what happens when it is lost. Throws
/// std::invalid_argument, with the nearest name, where the plan has no such site.
std::string explain_site(const plan::Plan& plan, std::string_view site);

/// One reporting region of a plan: its users by country, where their data goes and by
/// which law, what of a request's time goes where, every simulated objective by day and
/// after losses. Throws as explain_site().
std::string explain_region(const plan::Plan& plan, std::string_view region);

}  // namespace isochrone::place
