// A scenario passes five stages: text -> YAML tree (yaml_tree) -> tree with --set
// applied (settings) -> messages (spec_reader) -> checks of what values mean together
// (checks) -> canonical text and hash (normalise). Reader and checks report all faults;
// a text that is not YAML has no tree to go on with.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "base/hash.h"
#include "scenarios/checks.h"
#include "scenarios/normalise.h"
#include "scenarios/settings.h"
#include "scenarios/spec_reader.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string message) {
  Diagnostics faults;
  faults.error({path, 0, 0}, std::move(message));
  throw InputError({faults.all().begin(), faults.all().end()});
}

std::string read_text(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(path, "no such file");
  if (std::filesystem::is_directory(status)) refuse(path, "is a directory");
  std::ifstream in(path, std::ios::binary);
  // One byte more than is allowed tells a file that is too large, be it endless.
  std::string text(kMaxYamlBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (in.fail() && !in.eof())) refuse(path, "cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

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
  const std::string text = read_text(path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return parse_scenario(text, path, folder, catalog, settings);
}

}  // namespace isochrone::scenarios
