#include "scenarios/field_path.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "scenarios/scenario.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

/// One step of a path: `demand[0]` is the key `demand` with the brackets `[0]`.
struct Step {
  std::string key;
  std::string brackets;
};

std::vector<Step> steps_in(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    // A name in brackets may hold a point.
    const auto bracket = std::min(path.find('['), path.size());
    auto end = std::min(path.find('.'), path.size());
    std::size_t key_end = end;
    if (bracket < end) {
      key_end = bracket;
      const auto closed = std::min(path.find(']', bracket), path.size());
      end = std::min(path.find('.', closed), path.size());
    }
    steps.push_back({std::string(path.substr(0, key_end)),
                     std::string(path.substr(key_end, end - key_end))});
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  // Objectives have a point in their key: `ttft_p99.9_ms` is one step, not two.
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const std::string joined = steps[i].key + "." + steps[i + 1].key;
    if (!steps[i].brackets.empty() || !parse_objective_key(joined)) continue;
    steps[i] = {joined, steps[i + 1].brackets};
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return steps;
}

std::string bare(const std::vector<Step>& steps) {
  std::string path;
  for (const Step& step : steps) path += (path.empty() ? "" : ".") + step.key;
  return path;
}

std::string last_key(std::string_view path) { return steps_in(path).back().key; }

void collect(const Descriptor& message, const std::string& prefix,
             std::map<std::string, const FieldDescriptor*>& into) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const std::string path = prefix + key_of(field);
    into[path] = &field;
    const Descriptor* inner = field.message_type();
    if (inner != nullptr && !field.is_map()) collect(*inner, path + ".", into);
  }
}

/// False for the parts of a value that is written as one, as `users: 1000`.
bool has_key(const FieldDescriptor& field) {
  const Descriptor& owner = *field.containing_type();
  if (&owner == spec::Objective::descriptor()) return false;
  switch (form_of(owner)) {
    case Form::kUsers:
    case Form::kProfile:
    case Form::kWords:
      return false;
    case Form::kAccess:
      return key_of(field) == "rtt_ms";
    default:
      return true;
  }
}

/// Paths as one writes them: objectives by their usual keys.
std::vector<std::string> written_paths() {
  std::vector<std::string> paths;
  for (const auto& [path, field] : all_fields()) {
    if (!has_key(*field)) continue;
    if (field->message_type() != spec::Objective::descriptor()) {
      paths.push_back(path);
      continue;
    }
    const std::string prefix = path.substr(0, path.size() - last_key(path).size());
    for (const std::string& key : usual_objective_keys()) {
      if (key != "rtt_max_ms") paths.push_back(prefix + key);
    }
  }
  return paths;
}

std::optional<std::string> nearest_path(const std::vector<Step>& steps) {
  const std::vector<std::string> paths = written_paths();
  std::vector<std::string> namesakes;
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    keys.push_back(last_key(path));
    if (keys.back() == steps.back().key) namesakes.push_back(path);
  }
  if (const auto near = nearest(bare(steps), namesakes)) return near;
  if (!namesakes.empty())
    return *std::ranges::min_element(namesakes, {}, &std::string::size);
  if (const auto near = nearest(bare(steps), paths)) return near;
  const auto key = nearest(steps.back().key, keys);
  if (!key) return std::nullopt;
  std::vector<std::string> alike;
  for (const std::string& path : paths) {
    if (last_key(path) == *key) alike.push_back(path);
  }
  return *std::ranges::min_element(alike, {}, &std::string::size);
}

}  // namespace

const FieldDescriptor* field_at(std::string_view path) {
  const std::vector<Step> steps = steps_in(path);
  const Descriptor* message = spec::Scenario::descriptor();
  const FieldDescriptor* field = nullptr;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string& key = steps[i].key;
    if (message == nullptr) return nullptr;
    if (field != nullptr && field->is_map()) {
      message = message->map_value()->message_type();
      if (i + 1 == steps.size()) return field;
      if (message == nullptr) return nullptr;
      field = nullptr;
      continue;
    }
    if (form_of(*message) == Form::kObjectives && key != "rtt_max_ms") {
      const bool last = i + 1 == steps.size();
      return last && parse_objective_key(key) ? field_of(*message, "objectives")
                                              : nullptr;
    }
    field = field_of(*message, key);
    if (field == nullptr) return nullptr;
    message = field->message_type();
  }
  return field;
}

std::map<std::string, const FieldDescriptor*> all_fields() {
  std::map<std::string, const FieldDescriptor*> fields;
  collect(*spec::Scenario::descriptor(), "", fields);
  return fields;
}

std::optional<std::string> nearest_field(std::string_view path) {
  const std::vector<Step> steps = steps_in(path);
  if (steps.empty()) return std::nullopt;
  const auto near = nearest_path(steps);
  if (!near) return std::nullopt;
  std::vector<Step> shown = steps_in(*near);
  std::string prefix;
  std::string text;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    prefix += (i == 0 ? "" : ".") + shown[i].key;
    text += (i == 0 ? "" : ".") + shown[i].key;
    const FieldDescriptor* field = field_at(prefix);
    const bool entered = field != nullptr && field->is_repeated() && !field->is_map() &&
                         i + 1 < shown.size();
    const bool same = i < steps.size() && steps[i].key == shown[i].key;
    if (same && !steps[i].brackets.empty()) {
      text += steps[i].brackets;
    } else if (entered) {
      text += "[0]";
    }
  }
  return text;
}

std::string did_you_mean_field(std::string_view path) {
  const auto near = nearest_field(path);
  return near ? fmt::format("did you mean \"{}\"?", *near) : "";
}

}  // namespace isochrone::scenarios
