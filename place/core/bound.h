#pragma once

#include <cstdint>
#include <vector>

#include "place/core/model.h"

namespace isochrone::place {

/// evaluate_bound() for a model that is made already.
std::int64_t evaluate_bound(const Model& model, const Certificate& certificate);

/// The least that a plan of the part costs, or of any part that was excluded.
std::int64_t evaluate_bound(const Model& model, const PartProof& proof);
/// The least of all parts.
std::int64_t evaluate_bound(const Model& model, const std::vector<PartProof>& parts);

/// The same question asked for the bill alone: costs are bills, nothing is a premium or
/// a penalty. Its bound above the budget proves that no plan is within the budget.
Instance billed(const Instance& instance);

}  // namespace isochrone::place
