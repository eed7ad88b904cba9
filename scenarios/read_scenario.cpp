// A scenario passes five stages: text -> YAML tree (yaml_tree) -> tree with --set
// applied (settings) -> messages (spec_reader) -> checks of what values mean together
// (checks) -> canonical text and hash (normalise). Reader and checks report all faults;
// a text that is not YAML has no tree to go on with.
#include <filesystem>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/read_file.h"
#include "scenarios/checks.h"
#include "scenarios/field_path.h"
#include "scenarios/normalise.h"
#include "scenarios/setting_faults.h"
#include "scenarios/settings.h"
#include "scenarios/spec_reader.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {
namespace {

/// The entries of one severity, each once.
std::vector<Diagnostic> pick(const Diagnostics& faults, Severity severity) {
  std::vector<Diagnostic> picked;
  std::set<std::tuple<std::string, int, int, std::string>> seen;
  for (const Diagnostic& d : faults.all()) {
    const auto& at = d.position;
    if (d.severity == severity &&
        seen.emplace(at.file, at.line, at.column, d.message).second) {
      picked.push_back(d);
    }
  }
  return picked;
}

void throw_if_errors(const Diagnostics& faults) {
  if (faults.has_errors()) throw InputError(pick(faults, Severity::kError));
}

/// One byte more than is allowed: parse_yaml says what is too large.
std::string read_text(const std::string& path) {
  return read_start(path, kMaxYamlBytes + 1);
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

std::vector<Diagnostic> of_settings(const Diagnostics& faults) {
  std::vector<Diagnostic> found = pick(faults, Severity::kError);
  std::erase_if(found, [](const Diagnostic& fault) {
    return !fault.position.file.starts_with(kSettingPrefix);
  });
  return found;
}

void check_all(const CheckContext& context) {
  check_horizon(context);
  check_regions(context);
  check_models(context);
  check_workloads(context);
  check_demand(context);
  check_sites(context);
  check_terms(context);
  check_residency(context);
  check_limits(context);
  check_network(context);
}

}  // namespace

void CheckContext::error(const std::string& path, std::string message,
                         std::string hint) const {
  faults.error(source.at(path), std::move(message), std::move(hint));
}

void CheckContext::warning(const std::string& path, std::string message,
                           std::string hint) const {
  faults.warning(source.at(path), std::move(message), std::move(hint));
}

std::string file_path(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file).string();
}

Scenario parse_scenario(std::string_view yaml, const std::string& name,
                        const std::string& folder, const datasets::Catalog& catalog,
                        std::span<const Setting> settings) {
  Diagnostics faults;
  auto tree = parse_yaml(yaml, name, faults);
  throw_if_errors(faults);
  apply_settings(*tree, settings, faults);

  Scenario scenario;
  scenario.folder = folder;
  scenario.source.set_source(std::string(yaml));
  const Vocabulary vocabulary(catalog, folder);
  SpecReader(vocabulary, scenario.source, faults).read(*tree, scenario.spec);
  check_all({scenario.spec, scenario.source, vocabulary, faults});
  throw_if_errors(faults);
  scenario.warnings = pick(faults, Severity::kWarning);
  scenario.normalised = normalise(scenario.spec);
  scenario.hash = sha256(scenario.normalised);
  return scenario;
}

Scenario read_scenario(const std::string& path, const datasets::Catalog& catalog,
                       std::span<const Setting> settings) {
  return parse_scenario(read_text(path), path, folder_of(path), catalog, settings);
}

SettingFaults setting_faults(const std::string& path, const datasets::Catalog& catalog,
                             std::span<const Setting> settings) {
  Diagnostics faults;
  auto tree = parse_yaml(read_text(path), path, faults);
  throw_if_errors(faults);
  SettingFaults found;
  std::vector<Setting> applied;
  for (const Setting& setting : settings) {
    if (field_at(setting.path) != nullptr) {
      applied.push_back(setting);
      continue;
    }
    found.paths.push_back({Severity::kError, setting_position(setting),
                           fmt::format("no field is called \"{}\"", setting.path),
                           did_you_mean_field(setting.path)});
  }
  apply_settings(*tree, applied, faults);
  for (Diagnostic& fault : of_settings(faults)) found.paths.push_back(std::move(fault));
  spec::Scenario spec;
  SourceMap source;
  Diagnostics of_values;
  const Vocabulary vocabulary(catalog, folder_of(path));
  SpecReader(vocabulary, source, of_values).read(*tree, spec);
  found.values = of_settings(of_values);
  return found;
}

}  // namespace isochrone::scenarios
