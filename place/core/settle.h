#pragma once

#include <optional>

#include "place/core/plan_state.h"

namespace isochrone::place {

/// Shares for a plan: least cost of traffic where it has a cost, rounded to parts per
/// 10^9 that add up and keep every load within its capacity. Fills choices, flows,
/// unserved and objective; nullopt if the plan cannot carry its service.
std::optional<Solution> settle(const Model& model, const PlanState& state,
                               const Service& service);

}  // namespace isochrone::place
