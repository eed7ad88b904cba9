#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "scenarios/comments.h"
#include "scenarios/field_path.h"
#include "scenarios/scenario.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::size_t kWidth = 88;

std::string wrapped(std::string_view text, const std::string& indent) {
  std::string lines;
  std::string line = indent;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (line.size() > indent.size() && line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + line + "\n";
}

std::string form_text(const Descriptor& message) {
  switch (form_of(message)) {
    case Form::kFields:
      return "mapping";
    case Form::kObjectives:
      return "mapping of METRIC_pPP_ms and rtt_max_ms to ms; METRIC is ttft, tpot or "
             "e2e, PP is 50 to 99.9";
    case Form::kOneOf:
      return "mapping with exactly one of its fields";
    case Form::kUsers:
      return "number above 0, or mapping from country to number";
    case Form::kProfile:
      return "name of a daily profile, 24 or 168 numbers";
    case Form::kAccess:
      return "country, fixed, mobile or none, or {rtt_ms: number}";
    case Form::kWords:
      return "list of countries and blocs";
  }
  INVARIANT(false, "no such form: " + message.full_name());
}

std::string scalar_text(const FieldDescriptor& field) {
  const spec::FieldFormat& format = format_of(field);
  static const std::map<std::string, std::string> kinds = {
      {"", "text"},
      {"country", "country (ISO 3166 alpha-2)"},
      {"place_word", "country or bloc"},
      {"date", "date (YYYY-MM-DD)"},
      {"profile", "daily profile of the catalog"},
      {"gpu", "GPU of the catalog"},
      {"model", "model of the catalog"},
      {"own_model", "model of models or of the catalog"},
      {"glob", "pattern of sites (* and ?)"},
      {"file", "file, relative to the scenario"},
      {"name", "name"}};
  if (format.words_size() > 0) return choice_text(words_of(format));
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return kinds.at(format.kind());
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "number";
    default:
      return "whole number";
  }
}

std::string type_text(const FieldDescriptor& field) {
  const spec::FieldFormat& format = format_of(field);
  const Descriptor* message = field.message_type();
  std::string text;
  if (field.is_map()) {
    const FieldDescriptor& value = *message->map_value();
    const std::string of = value.message_type() != nullptr
                               ? form_text(*value.message_type())
                               : scalar_text(value);
    const bool named = value.message_type() != nullptr &&
                       form_of(*value.message_type()) == Form::kWords;
    text =
        fmt::format("mapping from {} to {}", named ? "name" : scalar_text(field), of);
  } else {
    text = message != nullptr ? form_text(*message) : scalar_text(field);
    if (field.is_repeated()) {
      text = (format.non_empty() ? "list, not empty, of " : "list of ") + text;
    }
  }
  if (const std::string range = range_text(format); !range.empty())
    text += ", " + range;
  if (format.required()) text += "; required";
  if (!format.default_text().empty()) text += "; unset: " + format.default_text();
  return text;
}

bool lists_fields(const Descriptor& message) {
  const Form form = form_of(message);
  return form == Form::kFields || form == Form::kOneOf;
}

std::string fields_text(const Descriptor& message) {
  std::string text;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    text += fmt::format("\n  {}: {}\n", key_of(field), type_text(field));
    text += wrapped(comment_of(field), "      ");
  }
  return text;
}

std::string message_entry(const Descriptor& message, const std::string& title) {
  std::string text = title + "\n" + wrapped(comment_of(message), "  ");
  return lists_fields(message) ? text + fields_text(message) : text;
}

std::string objective_entry(const FieldDescriptor& objectives,
                            const std::string& path) {
  const Descriptor& parts = *objectives.message_type();
  return path + "\n" + wrapped(type_text(*field_of(parts, "ms")), "  ") +
         wrapped(comment_of(objectives), "  ") +
         wrapped(comment_of(*field_of(parts, "metric")), "  ");
}

std::string field_entry(const FieldDescriptor& field, const std::string& path) {
  if (field.message_type() == spec::Objective::descriptor()) {
    return objective_entry(field, path);
  }
  std::string text = path + "\n" + wrapped(type_text(field), "  ");
  text += wrapped(comment_of(field), "  ");
  const Descriptor* message = field.message_type();
  if (message != nullptr && field.is_map()) {
    message = message->map_value()->message_type();
  }
  if (message == nullptr) return text;
  text += wrapped(comment_of(*message), "  ");
  return lists_fields(*message) ? text + fields_text(*message) : text;
}

/// Entries for a key that stands somewhere in the format.
std::string by_last_key(std::string_view key) {
  std::string text;
  for (const auto& [path, field] : all_fields()) {
    if (key_of(*field) != key) continue;
    if (!text.empty()) text += "\n";
    text += field_entry(*field, path);
  }
  return text;
}

}  // namespace

std::string manual(std::string_view topic) {
  if (topic.empty()) return message_entry(*spec::Scenario::descriptor(), "scenario");
  if (const FieldDescriptor* field = field_at(topic)) {
    return field_entry(*field, std::string(topic));
  }
  const auto& file = *spec::Scenario::descriptor()->file();
  const Descriptor* message =
      file.pool()->FindMessageTypeByName(file.package() + "." + std::string(topic));
  if (message != nullptr) return message_entry(*message, std::string(topic));
  return topic.find('.') == std::string_view::npos ? by_last_key(topic) : "";
}

}  // namespace isochrone::scenarios
