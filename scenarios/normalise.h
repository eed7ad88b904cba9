#pragma once

#include <string>

#include "scenarios/scenario.pb.h"

namespace isochrone::scenarios {

/// The scenario as JSON that the reader reads back to the same messages: fields in the
/// order of the format, map keys and objectives sorted, numbers in their shortest form.
/// Equal messages give equal bytes, whatever YAML they came from.
std::string normalise(const spec::Scenario& scenario);

}  // namespace isochrone::scenarios
