#include "scenarios/spec_reader.h"

#include <map>

#include <fmt/format.h>

namespace isochrone::scenarios {
namespace {

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string spoken(const std::string& path) {
  return path.empty() ? "the scenario" : path;
}

bool holds_words(const google::protobuf::FieldDescriptor& map_field) {
  const auto* value = map_field.message_type()->map_value();
  return value->message_type() != nullptr &&
         form_of(*value->message_type()) == Form::kWords;
}

}  // namespace

void SpecReader::read(const YamlNode& root, spec::Scenario& scenario) {
  source_.put("", root.position);
  if (root.kind == YamlNode::Kind::kNull) {
    fault(root.position, "the scenario is empty");
    return;
  }
  read_message({root, "", root.position}, scenario);
}

void SpecReader::fault(const SourcePosition& at, std::string message,
                       std::string hint) {
  faults_.error(at, std::move(message), std::move(hint));
}

bool SpecReader::expect(const Value& value, YamlNode::Kind kind,
                        const std::string& what) {
  if (value.node.kind == kind) return true;
  if (value.node.kind == YamlNode::Kind::kNull) {
    fault(value.named_at,
          fmt::format("{} has no value; expected {}", spoken(value.path), what));
    return false;
  }
  const bool lone_word =
      kind == YamlNode::Kind::kList && value.node.kind == YamlNode::Kind::kText;
  fault(value.node.position,
        fmt::format("{} is {}, expected {}", spoken(value.path), describe(value.node),
                    what),
        lone_word ? fmt::format("did you mean [{}]?", value.node.text) : "");
  return false;
}

/// The entries whose key is a text that is not used twice; the others are reported.
std::vector<const YamlEntry*> SpecReader::entries(const Value& value) {
  std::vector<const YamlEntry*> good;
  std::map<std::string, int> first_line;
  for (const YamlEntry& entry : value.node.entries) {
    const SourcePosition& at = entry.key.position;
    if (entry.key.kind != YamlNode::Kind::kText) {
      fault(at, fmt::format("a key of {} is {}, expected a word", spoken(value.path),
                            describe(entry.key)));
    } else if (entry.key.text == "<<" && !entry.key.quoted) {
      fault(at, "merge key \"<<\" is not part of the format; write the fields out");
    } else if (const auto [it, fresh] = first_line.try_emplace(entry.key.text, at.line);
               !fresh) {
      fault(at, fmt::format("{} is given twice; first in line {}",
                            join(value.path, entry.key.text), it->second));
    } else {
      good.push_back(&entry);
    }
  }
  return good;
}

void SpecReader::unknown_key(const YamlEntry& entry, const Value& in,
                             const std::vector<std::string>& known) {
  fault(entry.key.position,
        in.path.empty()
            ? fmt::format("unknown field {}", describe(entry.key))
            : fmt::format("unknown field {} in {}", describe(entry.key), in.path),
        did_you_mean(entry.key.text, known));
}

void SpecReader::read_message(const Value& value, Message& message) {
  switch (form_of(*message.GetDescriptor())) {
    case Form::kFields:
      return read_fields(value, message);
    case Form::kObjectives:
      return read_objectives(value, dynamic_cast<spec::Slo&>(message));
    case Form::kOneOf:
      return read_one_of(value, message);
    case Form::kUsers:
      return read_users(value, dynamic_cast<spec::Users&>(message));
    case Form::kProfile:
      return read_profile(value, dynamic_cast<spec::DailyProfile&>(message));
    case Form::kAccess:
      return read_access(value, dynamic_cast<spec::Access&>(message));
    case Form::kWords:
      INVARIANT(false, "words outside of a map: " + value.path);
  }
}

void SpecReader::read_fields(const Value& value, Message& message) {
  if (!expect(value, YamlNode::Kind::kMapping, "a mapping")) return;
  std::set<std::string> given;
  for (const YamlEntry* entry : entries(value)) {
    given.insert(entry->key.text);
    const Field* field = field_of(*message.GetDescriptor(), entry->key.text);
    if (field == nullptr) {
      unknown_key(*entry, value, keys_of(*message.GetDescriptor()));
    } else {
      read_field({entry->value, join(value.path, entry->key.text), entry->key.position},
                 *field, message);
    }
  }
  report_missing(value, message, given);
}

void SpecReader::read_field(const Value& value, const Field& field, Message& message) {
  const bool scalar = !field.is_repeated() && field.message_type() == nullptr;
  source_.put(value.path, scalar ? value.node.position : value.named_at);
  if (value.node.kind == YamlNode::Kind::kNull) {
    fault(value.named_at, fmt::format("{} has no value", value.path),
          "leave the key out where nothing is meant");
  } else if (field.is_map()) {
    read_map(value, field, message);
  } else if (field.is_repeated()) {
    read_list(value, field, format_of(field), message);
  } else if (field.message_type() != nullptr) {
    read_message(value, *message.GetReflection()->MutableMessage(&message, &field));
  } else if (const auto read = read_scalar(value, field, format_of(field))) {
    set_scalar(message, field, *read);
  }
}

void SpecReader::read_list(const Value& value, const Field& field,
                           const spec::FieldFormat& format, Message& message) {
  if (!expect(value, YamlNode::Kind::kList, "a list")) return;
  if (value.node.items.empty() && format.non_empty()) {
    fault(value.node.position, fmt::format("{} is empty", value.path));
  }
  std::set<std::string> texts;
  for (std::size_t i = 0; i < value.node.items.size(); ++i) {
    const YamlNode& item = value.node.items[i];
    const Value element{item, fmt::format("{}[{}]", value.path, i), item.position};
    source_.put(element.path, item.position);
    if (field.message_type() != nullptr) {
      read_message(element, *message.GetReflection()->AddMessage(&message, &field));
      continue;
    }
    const auto read = read_scalar(element, field, format);
    if (read) add_scalar(message, field, *read);
    // A list of numbers by the hour may repeat; lists of words and counts are sets.
    if (read && field.cpp_type() != Field::CPPTYPE_DOUBLE &&
        !texts.insert(item.text).second) {
      fault(item.position, fmt::format("{} lists \"{}\" twice", value.path, item.text));
    }
  }
}

void SpecReader::read_map(const Value& value, const Field& field, Message& message) {
  if (!expect(value, YamlNode::Kind::kMapping, "a mapping")) return;
  for (const YamlEntry* entry : entries(value)) {
    read_map_entry(*entry, value, field, message);
  }
}

void SpecReader::read_map_entry(const YamlEntry& entry, const Value& in,
                                const Field& field, Message& message) {
  const Value value{entry.value, join(in.path, entry.key.text), entry.key.position};
  source_.put(value.path, value.named_at);
  spec::FieldFormat key_format = format_of(field);
  if (holds_words(field)) {
    key_format.Clear();
    key_format.set_kind("name");
  }
  if (!check_word(entry.key.position, "a key of " + in.path, entry.key.text,
                  key_format)) {
    return;
  }
  const Field& value_field = *field.message_type()->map_value();
  const auto add_pair = [&]() -> Message& {
    Message& pair = *message.GetReflection()->AddMessage(&message, &field);
    set_scalar(pair, *field.message_type()->map_key(), entry.key.text);
    return pair;
  };
  if (value_field.message_type() == nullptr) {
    spec::FieldFormat format = format_of(field);
    format.clear_words();
    format.clear_kind();
    const auto read = read_scalar(value, value_field, format);
    if (read) set_scalar(add_pair(), value_field, *read);
    return;
  }
  Message& pair = add_pair();
  Message& inner = *pair.GetReflection()->MutableMessage(&pair, &value_field);
  if (!holds_words(field)) return read_message(value, inner);
  spec::FieldFormat format = format_of(field);
  format.set_non_empty(true);
  read_list(value, *inner.GetDescriptor()->field(0), format, inner);
}

void SpecReader::report_missing(const Value& value, const Message& message,
                                const std::set<std::string>& given) {
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const std::string key = key_of(*type.field(i));
    if (!format_of(*type.field(i)).required() || given.contains(key)) continue;
    fault(value.named_at, fmt::format("{} has no {}", spoken(value.path), key));
  }
}

}  // namespace isochrone::scenarios
