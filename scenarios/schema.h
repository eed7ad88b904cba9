#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>

#include "scenarios/format.pb.h"

namespace isochrone::scenarios {

/// How a message is written when not as a mapping of its fields; see format.proto.
enum class Form { kFields, kObjectives, kOneOf, kUsers, kProfile, kAccess, kWords };

Form form_of(const google::protobuf::Descriptor& message);
const spec::FieldFormat& format_of(const google::protobuf::FieldDescriptor& field);

/// The key that the field has in YAML.
std::string key_of(const google::protobuf::FieldDescriptor& field);

/// The field of that key; nullptr if there is none.
const google::protobuf::FieldDescriptor* field_of(
    const google::protobuf::Descriptor& message, std::string_view key);

/// All keys of a message, in the order of its fields.
std::vector<std::string> keys_of(const google::protobuf::Descriptor& message);

/// `1 to 120`, `above 0 and at most 1`, `at least 1`; "" if every number will do.
std::string range_text(const spec::FieldFormat& format);
bool in_range(const spec::FieldFormat& format, double value);

/// The words as a choice: `a, b or c`.
std::string choice_text(const std::vector<std::string>& words);
std::vector<std::string> words_of(const spec::FieldFormat& format);

/// `ttft_p99.9_ms` of its parts, and back. parse: nullopt unless the key has this form;
/// the percentile may be any number.
struct ObjectiveKey {
  std::string metric;  ///< ttft | tpot | e2e
  double percentile = 0;
};
std::string objective_key(std::string_view metric, double percentile);
std::optional<ObjectiveKey> parse_objective_key(std::string_view key);
/// Keys that one usually writes, for hints.
std::vector<std::string> usual_objective_keys();

/// The whole of `text` as a number, wherever the locale puts its point.
std::optional<double> parse_number(std::string_view text);

/// Shortest text that reads back as the same number.
std::string number_text(double value);

}  // namespace isochrone::scenarios
