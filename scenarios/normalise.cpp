#include "scenarios/normalise.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include "base/diagnostics.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string indented(int depth) { return "\n" + std::string(2 * static_cast<std::size_t>(depth), ' '); }

/// A JSON object or array out of parts that are JSON already.
std::string enclosed(char open, const std::vector<std::string>& parts, char close,
                     int depth, bool in_one_line) {
  if (parts.empty()) return {open, close};
  std::string text(1, open);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += in_one_line ? ", " : ",";
    if (!in_one_line) text += indented(depth + 1);
    text += parts[i];
  }
  if (!in_one_line) text += indented(depth);
  return text + close;
}

std::string member(const std::string& key, const std::string& value) {
  return json_text(key) + ": " + value;
}

/// One element of a repeated field, or a singular field where `index` is -1.
std::string scalar_json(const Message& message, const FieldDescriptor& field,
                        int index) {
  const auto& r = *message.GetReflection();
  const auto* f = &field;
  const bool one = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number_text(one ? r.GetDouble(message, f)
                             : r.GetRepeatedDouble(message, f, index));
    case FieldDescriptor::CPPTYPE_INT32:
      return fmt::format(
          "{}", one ? r.GetInt32(message, f) : r.GetRepeatedInt32(message, f, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", r.GetInt64(message, f));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fmt::format("{}", r.GetUInt64(message, f));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.GetBool(message, f) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_STRING:
      return json_text(one ? r.GetString(message, f)
                           : r.GetRepeatedString(message, f, index));
    default:
      INVARIANT(false, "a field of a type without a writer: " + field.full_name());
  }
}

std::string message_json(const Message& message, int depth);

std::string list_json(const Message& message, const FieldDescriptor& field, int depth) {
  const auto& reflection = *message.GetReflection();
  const bool of_messages = field.message_type() != nullptr;
  std::vector<std::string> parts;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    parts.push_back(
        of_messages
            ? message_json(reflection.GetRepeatedMessage(message, &field, i), depth + 1)
            : scalar_json(message, field, i));
  }
  return enclosed('[', parts, ']', depth, !of_messages);
}

std::string map_json(const Message& message, const FieldDescriptor& field, int depth) {
  const auto& reflection = *message.GetReflection();
  const auto& key = *field.message_type()->map_key();
  const auto& value = *field.message_type()->map_value();
  std::map<std::string, std::string> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const auto& inner = *entry.GetReflection();
    sorted[inner.GetString(entry, &key)] =
        value.message_type() != nullptr
            ? message_json(inner.GetMessage(entry, &value), depth + 1)
            : scalar_json(entry, value, -1);
  }
  std::vector<std::string> parts;
  for (const auto& [name, text] : sorted) parts.push_back(member(name, text));
  return enclosed('{', parts, '}', depth, false);
}

std::string fields_json(const Message& message, int depth) {
  const auto& type = *message.GetDescriptor();
  const auto& reflection = *message.GetReflection();
  std::vector<std::string> parts;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_repeated()) {
      if (reflection.FieldSize(message, &field) == 0) continue;
      parts.push_back(
          member(key_of(field), field.is_map() ? map_json(message, field, depth + 1)
                                               : list_json(message, field, depth + 1)));
    } else if (field.has_presence() && !reflection.HasField(message, &field)) {
      continue;
    } else if (field.message_type() != nullptr) {
      parts.push_back(
          member(key_of(field),
                 message_json(reflection.GetMessage(message, &field), depth + 1)));
    } else {
      parts.push_back(member(key_of(field), scalar_json(message, field, -1)));
    }
  }
  return enclosed('{', parts, '}', depth, false);
}

std::string objectives_json(const spec::Slo& slo) {
  std::map<std::pair<std::string, double>, double> sorted;
  for (const spec::Objective& objective : slo.objectives()) {
    sorted[{objective.metric(), objective.percentile()}] = objective.ms();
  }
  std::vector<std::string> parts;
  for (const auto& [key, ms] : sorted) {
    parts.push_back(member(objective_key(key.first, key.second), number_text(ms)));
  }
  if (slo.has_rtt_max_ms()) {
    parts.push_back(member("rtt_max_ms", number_text(slo.rtt_max_ms())));
  }
  return enclosed('{', parts, '}', 0, true);
}

std::string field_json(const Message& message, const char* name, int depth) {
  const FieldDescriptor& field = *message.GetDescriptor()->FindFieldByName(name);
  if (field.is_map()) return map_json(message, field, depth);
  if (field.is_repeated()) return list_json(message, field, depth);
  return scalar_json(message, field, -1);
}

std::string message_json(const Message& message, int depth) {
  switch (form_of(*message.GetDescriptor())) {
    case Form::kFields:
    case Form::kOneOf:
      return fields_json(message, depth);
    case Form::kObjectives:
      return objectives_json(dynamic_cast<const spec::Slo&>(message));
    case Form::kUsers:
      return dynamic_cast<const spec::Users&>(message).has_total()
                 ? field_json(message, "total", depth)
                 : field_json(message, "by_country", depth);
    case Form::kProfile:
      return dynamic_cast<const spec::DailyProfile&>(message).hours_size() > 0
                 ? field_json(message, "hours", depth)
                 : field_json(message, "name", depth);
    case Form::kAccess:
      return dynamic_cast<const spec::Access&>(message).has_rtt_ms()
                 ? "{" + member("rtt_ms", field_json(message, "rtt_ms", depth)) + "}"
                 : field_json(message, "kind", depth);
    case Form::kWords:
      return field_json(message, "words", depth);
  }
  INVARIANT(false, "no such form: " + message.GetDescriptor()->full_name());
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

std::string normalise(const spec::Scenario& scenario) {
  return message_json(scenario, 0) + "\n";
}

}  // namespace isochrone::scenarios
