#pragma once

#include <vector>

#include "place/core/model.h"

namespace isochrone::place {

/// Proofs that no plan exists, cheapest first: demands without an arc, sites that
/// cannot be pinned, demands that need more sites than allowed (two where the one that
/// serves them may be lost), shares of too few or too small groups, loads that exceed
/// what the largest allowed sites, or everything that could be built, carry. Empty:
/// nothing was proven.
std::vector<Conflict> structural_conflicts(const Model& model);

/// Likewise, but for what is left after each loss; one flow per element and block, so
/// asked for only when no plan was found.
std::vector<Conflict> survival_conflicts(const Model& model);

}  // namespace isochrone::place
