#pragma once

#include <cstdint>

#include "place/core/instance.h"

namespace isochrone::place {

/// Objective of what a solution builds and routes, exact, rounded up to a MicroUsd.
std::int64_t objective_of(const Instance& instance, const Solution& solution);

/// What is billed of it: fixed bills, bills of the choices, traffic and the constant.
std::int64_t bill_of(const Instance& instance, const Solution& solution);

}  // namespace isochrone::place
