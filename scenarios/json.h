#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isochrone::scenarios {

/// The text as a JSON string, quotes included.
std::string json_text(std::string_view text);

/// `"key": value` out of a key and a value that is JSON already.
std::string json_member(std::string_view key, const std::string& value);

/// An object or array in one line out of parts that are JSON already.
std::string json_object(const std::vector<std::string>& members);
std::string json_array(const std::vector<std::string>& items);

/// JSON text with one member or item a line; arrays without a nested value keep theirs
/// in one.
std::string json_indented(std::string_view json);

}  // namespace isochrone::scenarios
