#pragma once

#include <span>
#include <string_view>

#include "base/diagnostics.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {

/// How the place of a setting's faults begins.
inline constexpr std::string_view kSettingPrefix = "--set ";

/// Where the faults of a setting stand.
SourcePosition setting_position(const Setting& setting);

/// Puts each `path = value` into the tree, in order, so that the reader treats it as if
/// it had been written there. List entries are addressed by number or by name,
/// `demand[0].users` or `demand[consumers].users`; a list grows by none. Mappings on
/// the way are made where they are not there. Faults stand at `--set PATH`.
void apply_settings(YamlNode& root, std::span<const Setting> settings,
                    Diagnostics& faults);

}  // namespace isochrone::scenarios
