#pragma once

#include <cstdint>

#include "place/core/model.h"

namespace isochrone::place {

/// evaluate_bound() for a model that is made already.
std::int64_t evaluate_bound(const Model& model, const Certificate& certificate);

/// The same question asked for the bill alone: costs are bills, nothing is a premium or
/// a penalty. Its bound above the budget proves that no plan is within the budget.
Instance billed(const Instance& instance);

}  // namespace isochrone::place
