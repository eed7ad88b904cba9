#include "scenarios/yaml_text.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {
namespace {

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
