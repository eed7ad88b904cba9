#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace isochrone::scenarios {

struct YamlEntry;

/// A YAML value as it was written: duplicate keys are kept, aliases are replaced by a
/// copy of what they name, scalars stay text.
struct YamlNode {
  enum class Kind { kNull, kText, kList, kMapping };

  Kind kind = Kind::kNull;
  std::string text;  ///< of kText
  bool quoted =
      false;  ///< of kText: written in quotes or as a block, so never a number
  SourcePosition position;
  std::vector<YamlNode> items;     ///< of kList
  std::vector<YamlEntry> entries;  ///< of kMapping, in the order of the text

  /// The value of the first entry with that key; nullptr if this is no mapping or has
  /// none.
  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  YamlNode key;
  YamlNode value;
};

/// `a list`, `a mapping`, `the text "x"` ... for messages.
std::string describe(const YamlNode& node);

inline constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxYamlNodes = 100'000;
inline constexpr std::size_t kMaxYamlDepth = 32;

/// The one document of `yaml`, which `name` stands for in messages. nullopt, with the
/// faults reported, if the text is too large, is not UTF-8 or not YAML, or has more
/// than kMaxYamlNodes values once its aliases are replaced, deeper nesting than
/// kMaxYamlDepth, several documents, or tags.
std::optional<YamlNode> parse_yaml(std::string_view yaml, const std::string& name,
                                   Diagnostics& faults);

}  // namespace isochrone::scenarios
