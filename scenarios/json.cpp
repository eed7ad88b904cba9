#include "scenarios/json.h"

#include <cstddef>

#include <fmt/format.h>

namespace isochrone::scenarios {
namespace {

std::string joined(char open, const std::vector<std::string>& parts, char close) {
  std::string text(1, open);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += ", ";
    text += parts[i];
  }
  return text + close;
}

/// Length of the string literal that `json` begins with.
std::size_t literal_length(std::string_view json) {
  std::size_t i = 1;
  while (json[i] != '"') i += json[i] == '\\' ? 2U : 1U;
  return i + 1;
}

/// Length of the bracketed value that `json` begins with, if nothing is nested in it;
/// else 0.
std::size_t flat_length(std::string_view json) {
  const bool array = json.front() == '[';
  for (std::size_t i = 1; i < json.size();) {
    if (json[i] == '[' || json[i] == '{') return 0;
    if (json[i] == ']' || json[i] == '}') return array || i == 1 ? i + 1 : 0;
    i += json[i] == '"' ? literal_length(json.substr(i)) : 1U;
  }
  return 0;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json_member(std::string_view key, const std::string& value) {
  return json_text(key) + ": " + value;
}

std::string json_object(const std::vector<std::string>& members) {
  return joined('{', members, '}');
}

std::string json_array(const std::vector<std::string>& items) {
  return joined('[', items, ']');
}

std::string json_indented(std::string_view json) {
  std::string text;
  std::size_t depth = 0;
  const auto new_line = [&] { text += "\n" + std::string(2 * depth, ' '); };
  for (std::size_t i = 0; i < json.size();) {
    const char c = json[i];
    const bool opens = c == '[' || c == '{';
    const std::size_t whole = c == '"' ? literal_length(json.substr(i))
                              : opens  ? flat_length(json.substr(i))
                                       : 0;
    if (whole > 0) {
      text += json.substr(i, whole);
      i += whole;
      continue;
    }
    if (c == ']' || c == '}') {
      --depth;
      new_line();
    }
    text += c;
    ++i;
    if (opens) ++depth;
    if (opens || c == ',') {
      new_line();
      while (i < json.size() && json[i] == ' ') ++i;
    }
  }
  return text;
}

}  // namespace isochrone::scenarios
