#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "datasets/catalog.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// What is wrong with settings whatever else the scenario says, each at `--set PATH`.
struct SettingFaults {
  std::vector<Diagnostic> paths;   ///< they lead nowhere
  std::vector<Diagnostic> values;  ///< of another type, out of range, unknown words
};

/// Applies the settings to a scenario file, without checking what its values mean
/// together. Throws InputError if the file cannot be read as YAML.
SettingFaults setting_faults(const std::string& path, const datasets::Catalog& catalog,
                             std::span<const Setting> settings);

}  // namespace isochrone::scenarios
