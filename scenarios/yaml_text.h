#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"

namespace isochrone::scenarios {

/// Reports what keeps a text from being YAML that can be read safely: too many bytes,
/// no UTF-8, control characters, tabs in the indentation. At most one fault of each
/// kind.
void check_yaml_text(std::string_view yaml, const std::string& name,
                     Diagnostics& faults);

}  // namespace isochrone::scenarios
