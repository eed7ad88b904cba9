#include "scenarios/normalise.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include "base/diagnostics.h"
#include "scenarios/json.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

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

std::string message_json(const Message& message);

std::string list_json(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  const bool of_messages = field.message_type() != nullptr;
  std::vector<std::string> parts;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    parts.push_back(
        of_messages ? message_json(reflection.GetRepeatedMessage(message, &field, i))
                    : scalar_json(message, field, i));
  }
  return json_array(parts);
}

std::string map_json(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  const auto& key = *field.message_type()->map_key();
  const auto& value = *field.message_type()->map_value();
  std::map<std::string, std::string> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const auto& inner = *entry.GetReflection();
    sorted[inner.GetString(entry, &key)] =
        value.message_type() != nullptr ? message_json(inner.GetMessage(entry, &value))
                                        : scalar_json(entry, value, -1);
  }
  std::vector<std::string> parts;
  for (const auto& [name, text] : sorted) parts.push_back(json_member(name, text));
  return json_object(parts);
}

std::string fields_json(const Message& message) {
  const auto& type = *message.GetDescriptor();
  const auto& reflection = *message.GetReflection();
  std::vector<std::string> parts;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_repeated()) {
      if (reflection.FieldSize(message, &field) == 0) continue;
      parts.push_back(json_member(key_of(field), field.is_map()
                                                     ? map_json(message, field)
                                                     : list_json(message, field)));
    } else if (field.has_presence() && !reflection.HasField(message, &field)) {
      continue;
    } else if (field.message_type() != nullptr) {
      parts.push_back(json_member(
          key_of(field), message_json(reflection.GetMessage(message, &field))));
    } else {
      parts.push_back(json_member(key_of(field), scalar_json(message, field, -1)));
    }
  }
  return json_object(parts);
}

std::string objectives_json(const spec::Slo& slo) {
  std::map<std::pair<std::string, double>, double> sorted;
  for (const spec::Objective& objective : slo.objectives()) {
    sorted[{objective.metric(), objective.percentile()}] = objective.ms();
  }
  std::vector<std::string> parts;
  for (const auto& [key, ms] : sorted) {
    parts.push_back(json_member(objective_key(key.first, key.second), number_text(ms)));
  }
  if (slo.has_rtt_max_ms()) {
    parts.push_back(json_member("rtt_max_ms", number_text(slo.rtt_max_ms())));
  }
  return json_object(parts);
}

std::string field_json(const Message& message, const char* name) {
  const FieldDescriptor& field = *message.GetDescriptor()->FindFieldByName(name);
  if (field.is_map()) return map_json(message, field);
  if (field.is_repeated()) return list_json(message, field);
  return scalar_json(message, field, -1);
}

std::string message_json(const Message& message) {
  switch (form_of(*message.GetDescriptor())) {
    case Form::kFields:
    case Form::kOneOf:
      return fields_json(message);
    case Form::kObjectives:
      return objectives_json(dynamic_cast<const spec::Slo&>(message));
    case Form::kUsers:
      return dynamic_cast<const spec::Users&>(message).has_total()
                 ? field_json(message, "total")
                 : field_json(message, "by_country");
    case Form::kProfile:
      return dynamic_cast<const spec::DailyProfile&>(message).hours_size() > 0
                 ? field_json(message, "hours")
                 : field_json(message, "name");
    case Form::kAccess:
      return dynamic_cast<const spec::Access&>(message).has_rtt_ms()
                 ? "{" + json_member("rtt_ms", field_json(message, "rtt_ms")) + "}"
                 : field_json(message, "kind");
    case Form::kWords:
      return field_json(message, "words");
  }
  INVARIANT(false, "no such form: " + message.GetDescriptor()->full_name());
}

}  // namespace

std::string normalise(const spec::Scenario& scenario) {
  return json_indented(message_json(scenario)) + "\n";
}

}  // namespace isochrone::scenarios
