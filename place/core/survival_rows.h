#pragma once

#include <vector>

#include "place/core/dual_ascent.h"
#include "place/core/plan_state.h"

namespace isochrone::place {

/// The rows of any loss of all demands of each commodity.
std::vector<SurvivalRow> rows_of_everything(const Model& model);

/// All of a commodity that must be served, in its fullest block, in units of what the
/// strongest single replica carries: 6.4 replicas are 7.
std::vector<SurvivalRow> rows_of_whole_units(const Model& model);

/// Survival rows of the given cuts that the average answer of the dual violates most,
/// at most `most`: of any loss, and of each element if that says more.
std::vector<SurvivalRow> violated_rows(const Model& model, const DualAscent& dual,
                                       const std::vector<Cut>& cuts, std::size_t most);

}  // namespace isochrone::place
