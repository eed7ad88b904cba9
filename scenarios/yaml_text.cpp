#include "scenarios/yaml_text.h"

#include <fmt/format.h>

#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

std::size_t length_of_lead(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// Overlong forms, surrogates and code points above U+10FFFF show in the second byte.
bool second_byte_fits(unsigned lead, unsigned second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second < 0xA0;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second < 0x90;
  return true;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

/// Walks the text once and reports the first fault of each kind.
class TextCheck {
 public:
  TextCheck(std::string_view yaml, const std::string& name, Diagnostics& faults)
      : yaml_(yaml), name_(name), faults_(faults) {}

  void run() {
    for (std::size_t i = 0; i < yaml_.size();) {
      const std::size_t length = utf8_length(yaml_.substr(i));
      if (length == 0) {
        fault(i, "is not UTF-8 text");
        return;
      }
      check_character(i);
      i += length;
    }
  }

 private:
  void check_character(std::size_t i) {
    const char c = yaml_[i];
    if (is_control(c) && !control_seen_) {
      control_seen_ = true;
      fault(i, fmt::format("control character 0x{:02x}", static_cast<unsigned>(c)));
    }
    const bool line_feed_follows = i + 1 < yaml_.size() && yaml_[i + 1] == '\n';
    if (c == '\r' && !line_feed_follows && !return_seen_) {
      return_seen_ = true;
      fault(i, "carriage return without a line feed");
    }
    if (c == '\t' && indenting_ && !tab_seen_) {
      tab_seen_ = true;
      fault(i, "tab in the indentation, where YAML allows spaces only");
    }
    if (c == '\n') {
      ++line_;
      line_start_ = i + 1;
      indenting_ = true;
    } else if (c != ' ' && c != '\t') {
      indenting_ = false;
    }
  }

  void fault(std::size_t at, std::string message) {
    const int column = static_cast<int>(at - line_start_) + 1;
    faults_.error({name_, line_, column}, std::move(message));
  }

  std::string_view yaml_;
  const std::string& name_;
  Diagnostics& faults_;
  int line_ = 1;
  std::size_t line_start_ = 0;
  bool indenting_ = true;
  bool control_seen_ = false;
  bool return_seen_ = false;
  bool tab_seen_ = false;
};

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned lead = byte_at(text, 0);
  const std::size_t length = length_of_lead(lead);
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) return 0;
  }
  return length == 1 || second_byte_fits(lead, byte_at(text, 1)) ? length : 0;
}

void check_yaml_text(std::string_view yaml, const std::string& name,
                     Diagnostics& faults) {
  if (yaml.size() > kMaxYamlBytes) {
    faults.error({name, 0, 0},
                 fmt::format("is larger than the {} bytes that a scenario may have",
                             kMaxYamlBytes));
    return;
  }
  TextCheck(yaml, name, faults).run();
}

}  // namespace isochrone::scenarios
