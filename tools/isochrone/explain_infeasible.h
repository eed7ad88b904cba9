#pragma once

#include <string>

#include "tools/isochrone/session.h"

namespace isochrone::tools {

/// Prints why the scenario has no plan, and what single relaxations do, each tried with
/// quick effort and theory's tables: nothing is lived through. Ends like `plan`.
void explain_infeasible(const std::string& path, Session& session);

}  // namespace isochrone::tools
