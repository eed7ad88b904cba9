#include "tools/isochrone/sweep.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/read_file.h"
#include "scenarios/setting_faults.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::tools {
namespace {

using scenarios::YamlEntry;
using scenarios::YamlNode;
using Kind = YamlNode::Kind;

/// A value as one line of YAML in flow style, for a Setting.
std::string flow(const YamlNode& node) {
  if (node.kind == Kind::kNull) return "null";
  if (node.kind == Kind::kText) {
    if (!node.quoted) return node.text;
    std::string text = "\"";
    for (const char c : node.text) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + '"';
  }
  std::vector<std::string> parts;
  if (node.kind == Kind::kList) {
    for (const YamlNode& item : node.items) parts.push_back(flow(item));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  for (const YamlEntry& entry : node.entries) {
    parts.push_back(flow(entry.key) + ": " + flow(entry.value));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

class SweepReader {
 public:
  explicit SweepReader(Diagnostics& faults) : faults_(faults) {}

  Sweep read(const YamlNode& root) {
    Sweep sweep;
    check_keys(root, "a sweep", {"name", "scenario", "grid"});
    sweep.name = text(root, "name");
    sweep.scenario = text(root, "scenario");
    const YamlNode* grid = root.find("grid");
    if (grid == nullptr || grid->kind != Kind::kList || grid->items.empty()) {
      faults_.error((grid != nullptr ? *grid : root).position,
                    "grid: expected a list of {path: ..., values: [...]}");
      return sweep;
    }
    std::set<std::string> paths;
    for (const YamlNode& axis : grid->items) {
      sweep.grid.push_back(read_axis(axis));
      if (sweep.grid.back().path.empty()) continue;
      if (!paths.insert(sweep.grid.back().path).second) {
        faults_.error(axis.position, fmt::format("path \"{}\" is swept twice",
                                                 sweep.grid.back().path));
      }
    }
    if (sweep.points() > kMaxSweepPoints) {
      faults_.error(grid->position,
                    fmt::format("the grid has more than {} points", kMaxSweepPoints));
    }
    return sweep;
  }

 private:
  void check_keys(const YamlNode& node, const std::string& what,
                  const std::vector<std::string>& known) {
    if (node.kind != Kind::kMapping) {
      faults_.error(node.position, fmt::format("expected {} as a mapping, found {}",
                                               what, describe(node)));
      return;
    }
    std::set<std::string> seen;
    for (const YamlEntry& entry : node.entries) {
      const std::string& key = entry.key.text;
      if (std::ranges::count(known, key) == 0) {
        faults_.error(entry.key.position, fmt::format("unknown field \"{}\"", key),
                      did_you_mean(key, known));
      } else if (!seen.insert(key).second) {
        faults_.error(entry.key.position,
                      fmt::format("field \"{}\" is given twice", key));
      }
    }
  }

  std::string text(const YamlNode& node, const std::string& key) {
    const YamlNode* value = node.find(key);
    if (value != nullptr && value->kind == Kind::kText && !value->text.empty()) {
      return value->text;
    }
    faults_.error((value != nullptr ? *value : node).position,
                  fmt::format("{}: expected a text", key));
    return "";
  }

  SweepAxis read_axis(const YamlNode& node) {
    SweepAxis axis;
    check_keys(node, "an axis {path, values}", {"path", "values"});
    axis.path = text(node, "path");
    const YamlNode* path = node.find("path");
    axis.path_at = path != nullptr ? path->position : node.position;
    const YamlNode* values = node.find("values");
    if (values == nullptr || values->kind != Kind::kList || values->items.empty()) {
      faults_.error((values != nullptr ? *values : node).position,
                    "values: expected a list of at least one value");
      return axis;
    }
    for (const YamlNode& value : values->items) {
      axis.values.push_back(flow(value));
      axis.values_at.push_back(value.position);
      if (value.kind == Kind::kNull) {
        faults_.error(value.position, "values: nothing is no value");
      }
    }
    return axis;
  }

  Diagnostics& faults_;
};

}  // namespace

std::size_t Sweep::points() const {
  std::size_t points = 1;
  for (const SweepAxis& axis : grid) {
    points *= axis.values.size();
    if (points > kMaxSweepPoints) return points;
  }
  return points;
}

std::vector<scenarios::Setting> Sweep::settings(std::size_t point) const {
  std::vector<scenarios::Setting> settings(grid.size());
  for (std::size_t i = grid.size(); i-- > 0;) {
    const SweepAxis& axis = grid[i];
    settings[i] = {axis.path, axis.values[point % axis.values.size()]};
    point /= axis.values.size();
  }
  return settings;
}

Sweep read_sweep(const std::string& path) {
  Diagnostics faults;
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const auto root = scenarios::parse_yaml(read_file(path, kMostBytes), path, faults);
  Sweep sweep;
  if (root) sweep = SweepReader(faults).read(*root);
  faults.throw_if_errors();
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  sweep.scenario = (folder / sweep.scenario).lexically_normal().string();
  return sweep;
}

void check_grid(const Sweep& sweep, std::span<const scenarios::Setting> overrides,
                const datasets::Catalog& catalog) {
  struct Trial {
    std::size_t axis = 0;
    std::size_t value = 0;
  };
  std::vector<Trial> trials;
  for (std::size_t axis = 0; axis < sweep.grid.size(); ++axis) {
    for (std::size_t value = 0; value < sweep.grid[axis].values.size(); ++value) {
      trials.push_back({axis, value});
    }
  }
  const auto found = parallel_map(trials.size(), [&](std::size_t i) {
    const auto [axis, value] = trials[i];
    std::vector<scenarios::Setting> settings(overrides.begin(), overrides.end());
    for (const auto& setting : sweep.settings(0)) settings.push_back(setting);
    settings[overrides.size() + axis].value = sweep.grid[axis].values[value];
    auto faults = scenarios::setting_faults(sweep.scenario, catalog, settings);
    const auto of_others = [&, own = "--set " + sweep.grid[axis].path](
                               const auto& one) { return one.position.file != own; };
    std::erase_if(faults.paths, of_others);
    std::erase_if(faults.values, of_others);
    return faults;
  });
  Diagnostics faults;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const SweepAxis& axis = sweep.grid[trials[i].axis];
    // A path that leads nowhere does so for each of its values.
    for (const Diagnostic& fault : found[i].paths) {
      if (trials[i].value == 0) faults.error(axis.path_at, fault.message, fault.hint);
    }
    for (const Diagnostic& fault : found[i].values) {
      faults.error(axis.values_at[trials[i].value], fault.message, fault.hint);
    }
  }
  faults.throw_if_errors();
}

}  // namespace isochrone::tools
