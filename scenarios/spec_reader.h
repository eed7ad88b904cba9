#pragma once

#include <set>
#include <string>
#include <variant>

#include <google/protobuf/message.h>

#include "base/diagnostics.h"
#include "scenarios/scenario.h"
#include "scenarios/schema.h"
#include "scenarios/vocabulary.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {

/// Fills a scenario from a YAML tree by walking the descriptors: types, required
/// fields, ranges, words and names are all checked here, each fault is reported at its
/// place, and reading goes on after it. What a value means together with others is
/// checked afterwards (checks.h).
class SpecReader {
 public:
  SpecReader(const Vocabulary& vocabulary, SourceMap& source, Diagnostics& faults)
      : vocabulary_(vocabulary), source_(source), faults_(faults) {}

  void read(const YamlNode& root, spec::Scenario& scenario);

 private:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;
  using Scalar = std::variant<bool, std::int32_t, std::int64_t, std::uint64_t, double,
                              std::string>;

  /// A value with its path and the place that a message about its absence points at.
  struct Value {
    const YamlNode& node;
    std::string path;
    SourcePosition named_at;
  };

  bool expect(const Value& value, YamlNode::Kind kind, const std::string& what);
  std::vector<const YamlEntry*> entries(const Value& value);
  void unknown_key(const YamlEntry& entry, const Value& in,
                   const std::vector<std::string>& known);
  void fault(const SourcePosition& at, std::string message, std::string hint = "");

  // spec_reader.cpp: the walk
  void read_message(const Value& value, Message& message);
  void read_fields(const Value& value, Message& message);
  void read_field(const Value& value, const Field& field, Message& message);
  void read_list(const Value& value, const Field& field,
                 const spec::FieldFormat& format, Message& message);
  void read_map(const Value& value, const Field& field, Message& message);
  void read_map_entry(const YamlEntry& entry, const Value& in, const Field& field,
                      Message& message);
  void report_missing(const Value& value, const Message& message,
                      const std::set<std::string>& given);

  // spec_scalars.cpp: single values
  std::optional<Scalar> read_scalar(const Value& value, const Field& field,
                                    const spec::FieldFormat& format);
  std::optional<double> read_number(const Value& value,
                                    const spec::FieldFormat& format);
  std::optional<Scalar> read_whole(const Value& value, const Field& field,
                                   const spec::FieldFormat& format);
  std::optional<Scalar> read_bool(const Value& value);
  std::optional<std::string> read_text(const Value& value,
                                       const spec::FieldFormat& format);
  bool check_word(const SourcePosition& at, const std::string& path,
                  const std::string& text, const spec::FieldFormat& format);
  static void set_scalar(Message& message, const Field& field, const Scalar& scalar);
  static void add_scalar(Message& message, const Field& field, const Scalar& scalar);

  // spec_forms.cpp: messages that are not written as a mapping of their fields
  void read_objectives(const Value& value, spec::Slo& slo);
  void read_objective(const YamlEntry& entry, const Value& in, spec::Slo& slo);
  void read_one_of(const Value& value, Message& message);
  void read_users(const Value& value, spec::Users& users);
  void read_profile(const Value& value, spec::DailyProfile& profile);
  void read_access(const Value& value, spec::Access& access);

  const Vocabulary& vocabulary_;
  SourceMap& source_;
  Diagnostics& faults_;
};

}  // namespace isochrone::scenarios
