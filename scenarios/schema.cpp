#include "scenarios/schema.h"

#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/diagnostics.h"

namespace isochrone::scenarios {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::array<std::string_view, 3> kMetrics = {"e2e", "tpot", "ttft"};

}  // namespace

Form form_of(const Descriptor& message) {
  static const std::map<std::string, Form, std::less<>> forms = {
      {"", Form::kFields},         {"objectives", Form::kObjectives},
      {"law", Form::kOneOf},       {"users", Form::kUsers},
      {"profile", Form::kProfile}, {"access", Form::kAccess},
      {"words", Form::kWords}};
  const std::string written_as = message.options().GetExtension(spec::written_as);
  const auto found = forms.find(written_as);
  INVARIANT(found != forms.end(), message.full_name() + " is written_as " + written_as);
  return found->second;
}

const spec::FieldFormat& format_of(const FieldDescriptor& field) {
  return field.options().GetExtension(spec::format);
}

std::string key_of(const FieldDescriptor& field) {
  const std::string& key = format_of(field).key();
  return key.empty() ? field.name() : key;
}

const FieldDescriptor* field_of(const Descriptor& message, std::string_view key) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (key_of(*message.field(i)) == key) return message.field(i);
  }
  return nullptr;
}

std::vector<std::string> keys_of(const Descriptor& message) {
  std::vector<std::string> keys;
  for (int i = 0; i < message.field_count(); ++i) {
    keys.push_back(key_of(*message.field(i)));
  }
  return keys;
}

std::string range_text(const spec::FieldFormat& format) {
  if (format.has_min() && format.has_max() && !format.above_min()) {
    return fmt::format("{} to {}", format.min(), format.max());
  }
  std::string text;
  if (format.has_min()) {
    text =
        fmt::format("{} {}", format.above_min() ? "above" : "at least", format.min());
  }
  if (format.has_max()) {
    text += fmt::format("{}at most {}", text.empty() ? "" : " and ", format.max());
  }
  return text;
}

bool in_range(const spec::FieldFormat& format, double value) {
  if (format.has_max() && value > format.max()) return false;
  if (!format.has_min()) return true;
  return format.above_min() ? value > format.min() : value >= format.min();
}

std::string choice_text(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::vector<std::string> words_of(const spec::FieldFormat& format) {
  return {format.words().begin(), format.words().end()};
}

std::string objective_key(std::string_view metric, double percentile) {
  return fmt::format("{}_p{}_ms", metric, number_text(percentile));
}

std::optional<ObjectiveKey> parse_objective_key(std::string_view key) {
  for (const std::string_view metric : kMetrics) {
    if (!key.starts_with(metric)) continue;
    std::string_view rest = key.substr(metric.size());
    if (!rest.starts_with("_p") || !rest.ends_with("_ms")) return std::nullopt;
    rest = rest.substr(2, rest.size() - 5);
    const bool digits = rest.find_first_not_of("0123456789.") == std::string_view::npos;
    const auto percentile = parse_number(rest);
    if (!digits || !percentile) return std::nullopt;
    return ObjectiveKey{std::string(metric), *percentile};
  }
  return std::nullopt;
}

std::vector<std::string> usual_objective_keys() {
  std::vector<std::string> keys = {"rtt_max_ms"};
  for (const std::string_view metric : kMetrics) {
    for (const double percentile : {50.0, 90.0, 95.0, 99.0, 99.9}) {
      keys.push_back(objective_key(metric, percentile));
    }
  }
  return keys;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

std::string number_text(double value) { return fmt::format("{}", value); }

}  // namespace isochrone::scenarios
