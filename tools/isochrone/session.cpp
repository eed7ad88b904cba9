#include "tools/isochrone/session.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

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

void print(std::string_view text) {
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

scenarios::Scenario Session::scenario(const std::string& path) {
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
  scenarios::Scenario scenario = scenarios::read_scenario(path, catalog(), overrides);
  for (const Diagnostic& warning : scenario.warnings) log(render(warning, ""));
  return scenario;
}

void Session::log(std::string_view line) const {
  if (!quiet) fmt::print(stderr, "{}\n", line);
}

}  // namespace isochrone::tools
