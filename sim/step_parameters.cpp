#include "sim/step_parameters.h"

#include <cmath>
#include <cstdint>

namespace isochrone::sim {

std::vector<double> parameters_of(const datasets::StepTimes& step) {
  std::vector<double> parameters;
  for (const std::int64_t ps : {step.t0, step.b, step.c, step.t0_prefill, step.a,
                                step.f, step.b_prefill, step.c_prefill, step.d}) {
    parameters.push_back(static_cast<double>(ps));
  }
  return parameters;
}

datasets::StepTimes step_at(const std::vector<double>& parameters) {
  const auto ps = [&](StepParameter p) { return std::llround(parameters[p]); };
  return {ps(kT0), ps(kB),        ps(kC),        ps(kT0Prefill), ps(kA),
          ps(kF),  ps(kBPrefill), ps(kCPrefill), ps(kD)};
}

}  // namespace isochrone::sim
