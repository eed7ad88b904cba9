#include "tools/isochrone/session.h"

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/utf8.h"
#include "scenarios/vocabulary.h"

namespace isochrone::tools {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

extern "C" void on_interrupt(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

bool interrupted() { return stop_requested; }

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

void print(std::string_view words) {
  const std::string text = printable(words);
  const bool newline = text.empty() || text.back() != '\n';
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
      (newline && std::fputc('\n', stdout) == EOF) || std::fflush(stdout) != 0) {
    throw std::runtime_error("cannot write to standard output");
  }
}

const datasets::Catalog& Session::catalog() {
  if (!catalog_) catalog_ = datasets::Catalog::load(datasets::default_folder());
  return *catalog_;
}

std::vector<scenarios::Setting> Session::overrides() const {
  std::vector<scenarios::Setting> overrides;
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      Diagnostics faults;
      faults.error({"--set " + setting, 0, 0}, "expected path=value");
      faults.throw_if_errors();
    }
    overrides.push_back({setting.substr(0, equals), setting.substr(equals + 1)});
  }
  if (seed) overrides.push_back({"seed", std::to_string(*seed)});
  return overrides;
}

scenarios::Scenario Session::scenario_with(const std::string& path,
                                           const scenarios::Setting& setting) {
  std::vector<scenarios::Setting> all = overrides();
  all.push_back(setting);
  return scenarios::read_scenario(path, catalog(), all);
}

scenarios::Scenario Session::scenario(const std::string& path) {
  scenarios::Scenario scenario = scenarios::read_scenario(path, catalog(), overrides());
  for (const Diagnostic& warning : scenario.warnings) log(render(warning, ""));
  return scenario;
}

void Session::log(std::string_view line) const {
  if (!quiet) complain(line);
}

void complain(std::string_view words) {
  const std::string line = printable(words);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
}

void usage_error(std::string message, std::string hint) {
  throw InputError({{Severity::kError, {}, std::move(message), std::move(hint)}});
}

std::string country_hint(const std::string& word, const datasets::Catalog& catalog) {
  const auto wrong = scenarios::Vocabulary(catalog, "").fault("country", word);
  return wrong ? wrong->hint : "";
}

void check_output(const std::string& output, const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  Diagnostics faults;
  const fs::path path(output);
  std::error_code error;
  if (output.empty()) {
    faults.error({output, 0, 0}, "the output has no name");
  } else if (fs::is_directory(path, error)) {
    faults.error({output, 0, 0}, "is a folder, no file to write to");
  } else if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    faults.error({output, 0, 0}, "is no ordinary file");
  } else if (const fs::path folder =
                 path.has_parent_path() ? path.parent_path() : fs::path(".");
             !fs::is_directory(folder, error)) {
    faults.error({output, 0, 0}, "there is no folder " + folder.string());
  } else if (access(folder.c_str(), W_OK) != 0) {
    faults.error({output, 0, 0}, "the folder cannot be written to");
  }
  for (const std::string& input : inputs) {
    if (fs::equivalent(path, input, error)) {
      faults.error({output, 0, 0}, "would overwrite the input " + input);
    }
  }
  faults.throw_if_errors();
}

CLI::Validator number_within(double least, double most) {
  CLI::Validator validator(
      [least, most](std::string& text) -> std::string {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        if (number && value >= least && value <= most) return {};
        return fmt::format("{} is not within {} to {}", text, least, most);
      },
      fmt::format("FLOAT in [{} - {}]", least, most));
  return validator;
}

CLI::Validator whole_within(std::uint64_t least, std::uint64_t most) {
  CLI::Validator validator(
      [least, most](std::string& text) -> std::string {
        std::uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        const bool number = error == std::errc{} && stop == end;
        if (number && value >= least && value <= most) return {};
        return fmt::format("{} is no whole number from {} to {}", text, least, most);
      },
      fmt::format("INT in [{} - {}]", least, most));
  return validator;
}

}  // namespace isochrone::tools
