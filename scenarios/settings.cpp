#include "scenarios/settings.h"

#include <charconv>

#include <fmt/format.h>

#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

/// `limits` or `[consumers]`: one step from a value into it.
struct Step {
  std::string word;
  bool in_list = false;
};

/// Objectives have a point in their key: `ttft_p99.9_ms` is one step, not two.
void join_objectives(std::vector<Step>& steps) {
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const std::string joined = steps[i].word + "." + steps[i + 1].word;
    if (steps[i].in_list || steps[i + 1].in_list || !parse_objective_key(joined)) {
      continue;
    }
    steps[i].word = joined;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

/// Empty where the path is not of the form `a.b[c].d`.
std::vector<Step> steps_of(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    if (path.starts_with('[')) {
      const auto end = path.find(']');
      if (steps.empty() || end == std::string_view::npos || end == 1) return {};
      steps.push_back({std::string(path.substr(1, end - 1)), true});
      path.remove_prefix(end + 1);
      continue;
    }
    if (!steps.empty()) {
      if (!path.starts_with('.')) return {};
      path.remove_prefix(1);
    }
    const auto end = std::min(path.find_first_of(".[]"), path.size());
    if (end == 0) return {};
    steps.push_back({std::string(path.substr(0, end)), false});
    path.remove_prefix(end);
  }
  join_objectives(steps);
  return steps;
}

void place_at(YamlNode& node, const SourcePosition& position) {
  node.position = position;
  for (YamlNode& item : node.items) place_at(item, position);
  for (YamlEntry& entry : node.entries) {
    place_at(entry.key, position);
    place_at(entry.value, position);
  }
}

std::vector<std::string> names_in(const YamlNode& list) {
  std::vector<std::string> names;
  for (const YamlNode& item : list.items) {
    const YamlNode* name = item.find("name");
    names.push_back(name != nullptr ? name->text : "");
  }
  return names;
}

class SettingWalk {
 public:
  SettingWalk(const Setting& setting, Diagnostics& faults)
      : at_(setting_position(setting)), faults_(faults) {}

  void apply(YamlNode& root, const Setting& setting) {
    const std::vector<Step> steps = steps_of(setting.path);
    if (steps.empty()) {
      faults_.error(at_,
                    "is no path; expected one as limits.max_sites or "
                    "demand[consumers].users");
      return;
    }
    auto value = parse_yaml(setting.value, at_.file, faults_);
    if (!value) return;
    if (value->kind == YamlNode::Kind::kNull) {
      faults_.error(at_, "has no value");
      return;
    }
    place_at(*value, at_);
    YamlNode* node = &root;
    std::string walked = "the scenario";
    for (const Step& step : steps) {
      node = step.in_list ? item(*node, step, walked) : member(*node, step, walked);
      if (node == nullptr) return;
      walked = step.word;
    }
    *node = std::move(*value);
  }

 private:
  YamlNode* member(YamlNode& node, const Step& step, const std::string& walked) {
    if (node.kind == YamlNode::Kind::kNull) node.kind = YamlNode::Kind::kMapping;
    if (node.kind != YamlNode::Kind::kMapping) {
      const bool list = node.kind == YamlNode::Kind::kList;
      faults_.error(
          at_, fmt::format("{} is {}", walked, describe(node)),
          list ? fmt::format("expected [number] or [name] before .{}", step.word) : "");
      return nullptr;
    }
    for (YamlEntry& entry : node.entries) {
      if (entry.key.text == step.word) return &entry.value;
    }
    YamlEntry entry;
    entry.key.kind = YamlNode::Kind::kText;
    entry.key.text = step.word;
    entry.key.position = at_;
    entry.value.position = at_;
    node.entries.push_back(std::move(entry));
    return &node.entries.back().value;
  }

  YamlNode* item(YamlNode& node, const Step& step, const std::string& walked) {
    if (node.kind != YamlNode::Kind::kList) {
      faults_.error(at_, fmt::format("{} is {}, not a list", walked, describe(node)));
      return nullptr;
    }
    std::size_t index = node.items.size();
    const char* end = step.word.data() + step.word.size();
    const auto [stop, error] = std::from_chars(step.word.data(), end, index);
    if (error == std::errc{} && stop == end) {
      if (index < node.items.size()) return &node.items[index];
      faults_.error(at_, fmt::format("{} has {} entries, counted from 0", walked,
                                     node.items.size()));
      return nullptr;
    }
    const std::vector<std::string> names = names_in(node);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == step.word) return &node.items[i];
    }
    faults_.error(at_, fmt::format("{} has no entry named \"{}\"", walked, step.word),
                  did_you_mean(step.word, names));
    return nullptr;
  }

  SourcePosition at_;
  Diagnostics& faults_;
};

}  // namespace

SourcePosition setting_position(const Setting& setting) {
  return {std::string(kSettingPrefix) + setting.path, 0, 0};
}

void apply_settings(YamlNode& root, std::span<const Setting> settings,
                    Diagnostics& faults) {
  for (const Setting& setting : settings) {
    SettingWalk(setting, faults).apply(root, setting);
  }
}

}  // namespace isochrone::scenarios
