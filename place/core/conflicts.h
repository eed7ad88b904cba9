#pragma once

#include <vector>

#include "place/core/model.h"

namespace isochrone::place {

/// Proofs that no plan exists, cheapest first: demands without an arc, sites that
/// cannot be pinned, demands that need more sites than allowed, shares of too few
/// groups, loads that exceed everything that could be built. Empty: nothing was proven.
std::vector<Conflict> structural_conflicts(const Model& model);

/// Likewise, but for what is left after each loss; one flow per element and block, so
/// asked for only when no plan was found.
std::vector<Conflict> survival_conflicts(const Model& model);

}  // namespace isochrone::place
