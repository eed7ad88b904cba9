#pragma once

#include <cstddef>
#include <vector>

#include "datasets/catalog.h"

namespace isochrone::sim {

/// Where a search keeps the coefficients of a step; what else it moves follows them.
enum StepParameter : std::size_t {
  kT0,
  kB,
  kC,
  kT0Prefill,
  kA,
  kF,
  kBPrefill,
  kCPrefill,
  kD,
  kStepParameters
};

/// In picoseconds, by StepParameter.
std::vector<double> parameters_of(const datasets::StepTimes& step);

/// The reverse, rounded; `parameters` may hold more, which is left out.
datasets::StepTimes step_at(const std::vector<double>& parameters);

}  // namespace isochrone::sim
