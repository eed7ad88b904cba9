// One definition per message under $defs; a field refers to it or states its own type.
#include <map>

#include <fmt/format.h>

#include "scenarios/comments.h"
#include "scenarios/json.h"
#include "scenarios/scenario.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Members = std::vector<std::string>;

// Percentiles from 50 to 99.9.
constexpr const char* kObjectivePattern =
    R"(^(ttft|tpot|e2e)_p([5-8][0-9](\.[0-9]+)?|9[0-8](\.[0-9]+)?|99(\.[0-9])?)_ms$)";

std::string text_member(const char* key, std::string_view text) {
  return json_member(key, json_text(text));
}

std::string text_list(const std::vector<std::string>& texts) {
  Members items;
  for (const std::string& text : texts) items.push_back(json_text(text));
  return json_array(items);
}

void add_range(const spec::FieldFormat& format, Members& members) {
  if (format.has_min()) {
    members.push_back(json_member(format.above_min() ? "exclusiveMinimum" : "minimum",
                                  number_text(format.min())));
  }
  if (format.has_max()) {
    members.push_back(json_member("maximum", number_text(format.max())));
  }
}

void add_text(const spec::FieldFormat& format, Members& members) {
  members.push_back(text_member("type", "string"));
  members.push_back(json_member("minLength", "1"));
  if (format.words_size() > 0) {
    members.push_back(json_member("enum", text_list(words_of(format))));
  }
  if (format.kind() == "country") {
    members.push_back(text_member("pattern", "^[A-Z]{2}$"));
  }
  if (format.kind() == "place_word") {
    members.push_back(text_member("pattern", "^[A-Z][A-Z0-9_]+$"));
  }
  if (format.kind() == "date") members.push_back(text_member("format", "date"));
}

std::string scalar(const FieldDescriptor& field, const spec::FieldFormat& format) {
  Members members;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      add_text(format, members);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      members.push_back(text_member("type", "boolean"));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      members.push_back(text_member("type", "number"));
      add_range(format, members);
      break;
    default:
      members.push_back(text_member("type", "integer"));
      if (!format.has_min()) members.push_back(json_member("minimum", "0"));
      add_range(format, members);
  }
  return json_object(members);
}

std::string name_in_file(const Descriptor& message) {
  return message.full_name().substr(message.file()->package().size() + 1);
}

std::string reference(const Descriptor& message) {
  return json_object({text_member("$ref", "#/$defs/" + name_in_file(message))});
}

std::string list(const FieldDescriptor& field, const spec::FieldFormat& format) {
  Members members = {text_member("type", "array")};
  members.push_back(json_member("items", field.message_type() != nullptr
                                             ? reference(*field.message_type())
                                             : scalar(field, format)));
  if (format.non_empty()) members.push_back(json_member("minItems", "1"));
  const bool set = field.message_type() == nullptr &&
                   field.cpp_type() != FieldDescriptor::CPPTYPE_DOUBLE;
  if (set) members.push_back(json_member("uniqueItems", "true"));
  return json_object(members);
}

std::string map(const FieldDescriptor& field) {
  const FieldDescriptor& value = *field.message_type()->map_value();
  spec::FieldFormat keys = format_of(field);
  spec::FieldFormat values = format_of(field);
  Members members = {text_member("type", "object")};
  const Descriptor* inner = value.message_type();
  if (inner != nullptr && form_of(*inner) == Form::kWords) {
    values.set_non_empty(true);
    members.push_back(
        json_member("additionalProperties", list(*inner->field(0), values)));
    return json_object(members);
  }
  keys.clear_min();
  keys.clear_max();
  values.clear_words();
  values.clear_kind();
  Members key_members;
  add_text(keys, key_members);
  members.push_back(json_member("propertyNames", json_object(key_members)));
  members.push_back(json_member("additionalProperties", inner != nullptr
                                                            ? reference(*inner)
                                                            : scalar(value, values)));
  return json_object(members);
}

/// What the field is, with its comment.
std::string property(const FieldDescriptor& field) {
  const spec::FieldFormat& format = format_of(field);
  std::string type;
  if (field.is_map()) {
    type = map(field);
  } else if (field.is_repeated()) {
    type = list(field, format);
  } else {
    type = field.message_type() != nullptr ? reference(*field.message_type())
                                           : scalar(field, format);
  }
  std::string comment = comment_of(field);
  if (!format.default_text().empty())
    comment += " Unset: " + format.default_text() + ".";
  type.pop_back();
  return type + ", " + text_member("description", comment) + "}";
}

std::string fields(const Descriptor& message) {
  Members properties;
  std::vector<std::string> required;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    properties.push_back(json_member(key_of(field), property(field)));
    if (format_of(field).required()) required.push_back(key_of(field));
  }
  Members members = {text_member("type", "object"),
                     text_member("description", comment_of(message)),
                     json_member("additionalProperties", "false"),
                     json_member("properties", json_object(properties))};
  if (!required.empty())
    members.push_back(json_member("required", text_list(required)));
  if (form_of(message) == Form::kOneOf) {
    members.push_back(json_member("minProperties", "1"));
    members.push_back(json_member("maxProperties", "1"));
  }
  return json_object(members);
}

std::string field_json(const Descriptor& message, const char* key) {
  return property(*field_of(message, key));
}

std::string either(const Descriptor& message, const Members& forms) {
  return json_object({text_member("description", comment_of(message)),
                      json_member("anyOf", json_array(forms))});
}

std::string objectives(const Descriptor& message) {
  const FieldDescriptor& ms = *field_of(*spec::Objective::descriptor(), "ms");
  return json_object(
      {text_member("type", "object"), text_member("description", comment_of(message)),
       json_member("additionalProperties", "false"),
       json_member(
           "properties",
           json_object({json_member("rtt_max_ms", field_json(message, "rtt_max_ms"))})),
       json_member("patternProperties",
                   json_object({json_member(kObjectivePattern, property(ms))}))});
}

std::string profile(const Descriptor& message) {
  const FieldDescriptor& hours = *field_of(message, "hours");
  Members forms = {field_json(message, "name")};
  for (const char* count : {"24", "168"}) {
    forms.push_back(
        json_object({text_member("type", "array"),
                     json_member("items", scalar(hours, format_of(hours))),
                     json_member("minItems", count), json_member("maxItems", count)}));
  }
  return either(message, forms);
}

std::string access(const Descriptor& message) {
  const std::string own = json_object(
      {text_member("type", "object"), json_member("additionalProperties", "false"),
       json_member("properties",
                   json_object({json_member("rtt_ms", field_json(message, "rtt_ms"))})),
       json_member("required", R"(["rtt_ms"])")});
  return either(message, {field_json(message, "kind"), own});
}

std::string definition(const Descriptor& message) {
  switch (form_of(message)) {
    case Form::kFields:
    case Form::kOneOf:
    case Form::kWords:
      return fields(message);
    case Form::kObjectives:
      return objectives(message);
    case Form::kUsers:
      return either(message,
                    {field_json(message, "total"), field_json(message, "by_country")});
    case Form::kProfile:
      return profile(message);
    case Form::kAccess:
      return access(message);
  }
  INVARIANT(false, "no such form: " + message.full_name());
}

/// Every message that a field leads to; those of map entries are written in place.
void collect(const Descriptor& message, std::map<std::string, std::string>& into) {
  const std::string name = name_in_file(message);
  if (into.contains(name)) return;
  into[name] = definition(message);
  for (int i = 0; i < message.field_count(); ++i) {
    const Descriptor* inner = message.field(i)->message_type();
    if (inner != nullptr && message.field(i)->is_map()) {
      inner = inner->map_value()->message_type();
    }
    if (inner == nullptr || inner == spec::Objective::descriptor()) continue;
    if (form_of(*inner) != Form::kWords) collect(*inner, into);
  }
}

}  // namespace

std::string json_schema() {
  std::map<std::string, std::string> definitions;
  collect(*spec::Scenario::descriptor(), definitions);
  Members members;
  for (const auto& [name, text] : definitions) {
    members.push_back(json_member(name, text));
  }
  return json_indented(json_object(
             {text_member("$schema", "https://json-schema.org/draft/2020-12/schema"),
              text_member("title", "isochrone scenario"),
              text_member("$ref", "#/$defs/Scenario"),
              json_member("$defs", json_object(members))})) +
         "\n";
}

}  // namespace isochrone::scenarios
