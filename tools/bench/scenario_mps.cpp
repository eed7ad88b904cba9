// Writes what the core is asked about a scenario as MPS, so that any solver can be
// given the same question, and says what the core itself proves and finds.
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/diagnostics.h"
#include "datasets/catalog.h"
#include "place/core/mixed_integer.h"
#include "place/core/solve.h"
#include "place/planner/build_instance.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace {

using namespace isochrone;

constexpr std::int64_t kMostShares = 5'000'000;  // about 1.5 GB of MPS

/// The instance of the scenario under the tables of theory: what the planner solves
/// first, before it corrects them in the simulator.
place::Instance instance_of(const scenarios::Scenario& scenario,
                            const datasets::Catalog& catalog) {
  const place::Question question = place::Question::ask(scenario, catalog);
  std::vector<place::Serving> servings;
  for (int w = 0; w < scenario.spec.workloads_size(); ++w) {
    if (scenario.spec.workloads(w).kind() == "batch") continue;
    servings.push_back(build_serving(question, static_cast<std::size_t>(w)));
  }
  return build_instance(question, servings).instance;
}

std::vector<scenarios::Setting> read(const std::vector<std::string>& words) {
  std::vector<scenarios::Setting> settings;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      throw std::runtime_error("--set wants PATH=VALUE, not " + word);
    }
    settings.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return settings;
}

/// Throws std::runtime_error where no solver could be given it.
void require_moderate(const place::Instance& instance) {
  const auto shares =
      static_cast<std::int64_t>(instance.sites.size() * instance.demands.size()) *
      instance.blocks * (1 + instance.elements);
  if (shares <= kMostShares) return;
  throw std::runtime_error(fmt::format(
      "{} sites x {} demands x {} blocks x {} losses and the day are too many shares "
      "for one program ({} at most): take fewer sites (sites.only), fewer metros "
      "(demand.metros_max), or --set resilience.survive=none",
      instance.sites.size(), instance.demands.size(), instance.blocks,
      instance.elements, kMostShares));
}

void solve_and_tell(const place::Instance& instance) {
  const auto start = std::chrono::steady_clock::now();
  const place::Solution solution = place::solve(instance, {});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  fmt::print("the core: plan ${:.2f}, bound ${:.2f}, {:.1f} s\n",
             static_cast<double>(solution.objective) / 1e6,
             static_cast<double>(solution.bound) / 1e6, spent.count());
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  std::string out = "scenario.mps";
  std::string datasets = ISOCHRONE_ROOT "/datasets";
  CLI::App app("Writes a scenario as a mixed-integer program in MPS.");
  app.add_option("scenario", file, "scenario file")->required();
  app.add_option("-o,--output", out, "MPS file to write");
  std::vector<std::string> settings;
  app.add_option("--set", settings, "PATH=VALUE, as of isochrone");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto catalog = isochrone::datasets::Catalog::load(datasets);
    const auto scenario = scenarios::read_scenario(file, catalog, read(settings));
    const place::Instance instance = instance_of(scenario, catalog);
    require_moderate(instance);
    const place::MixedInteger program = place::mixed_integer(instance);
    std::ofstream stream(out);
    place::write_mps(program, scenario.spec.name(), stream);
    stream.close();
    if (!stream) throw std::runtime_error("cannot write " + out);
    fmt::print("{}: {} rows, {} columns, {} nonzeros\n", out, program.rows.size(),
               program.columns.size(), program.nonzeros());
    solve_and_tell(instance);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
