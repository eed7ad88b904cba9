#pragma once

#include <string>

#include "place/plan.pb.h"

namespace isochrone::place {

/// Whose data goes where, under which mechanism of law, at what RTT: one row for users
/// of a region (or of a country of it) and a country that serves them, with its sites
/// by their share of the users' requests. Countries that may only be used after a loss
/// stand in rows of their own. Empty if nobody is served.
std::string served_where(const plan::Plan& plan, bool by_country);

}  // namespace isochrone::place
