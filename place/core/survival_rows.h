#pragma once

#include <vector>

#include "place/core/dual_ascent.h"
#include "place/core/plan_state.h"

namespace isochrone::place {

/// Survival rows of the given cuts that the average answer of the dual violates most,
/// at most `most`: for each element, what the others keep against what the cut needs.
std::vector<SurvivalRow> violated_rows(const Model& model, const DualAscent& dual,
                                       const std::vector<Cut>& cuts, std::size_t most);

}  // namespace isochrone::place
