// Solves facility-location files and prints, per file, the best plan, the proven bound,
// the gap between them, and what it took.
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/parallel.h"
#include "place/core/solve.h"
#include "tools/bench/facility/read_facility.h"

namespace {

using namespace isochrone;

struct Order {
  std::vector<std::string> files;
  bench::FacilityOptions options;
  place::Effort effort;
  std::size_t threads = 0;
  bool log = false;
};

double units(std::int64_t micro) { return static_cast<double>(micro) / 1e6; }

double percent(std::int64_t objective, std::int64_t bound) {
  if (objective == 0) return 0;
  return 100 * static_cast<double>(objective - bound) / static_cast<double>(objective);
}

void solve_file(const Order& order, const std::string& file) {
  const place::Instance instance = bench::read_facility(file, order.options);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - start;
    return spent.count();
  };
  place::Effort effort = order.effort;
  if (order.log) {
    effort.progress = [&](std::optional<std::int64_t> plan, std::int64_t bound) {
      if (!plan) return;
      fmt::print(stderr, "{:9.2f} s  plan {:.3f}  bound {:.3f}  gap {:.4f} %\n",
                 seconds(), units(*plan), units(bound), percent(*plan, bound));
    };
  }
  const place::Solution solution = place::solve(instance, effort);
  if (solution.choices.empty()) {
    const bool proven = solution.status == place::Status::kInfeasible;
    fmt::print("{:<40} {}\n", file, proven ? "infeasible" : "no plan found");
    return;
  }
  fmt::print("{:<40} {:>18.6f} {:>18.6f} {:>8.4f} {:>7} {:>8} {:>9.3f} {:>7}\n", file,
             units(solution.objective), units(solution.bound),
             percent(solution.objective, solution.bound), solution.statistics.nodes,
             solution.statistics.dual_steps, seconds(), thread_count());
}

}  // namespace

int main(int argc, char** argv) {
  using bench::FacilityFormat;
  CLI::App app{
      "Solves files of the facility location problem (split source) and prints plan, "
      "proven bound, gap, nodes, dual steps and seconds."};
  Order order;
  order.effort.gap = 1e-6;
  order.effort.moves = 2000;
  order.effort.nodes = 1'000'000;
  const std::map<std::string, FacilityFormat> formats{
      {"orlib", FacilityFormat::kOrLibrary},
      {"ufllib", FacilityFormat::kUflLib},
      {"holmberg", FacilityFormat::kHolmberg},
      {"tbed", FacilityFormat::kTbed},
      {"modular", FacilityFormat::kModular}};
  app.add_option("FILE", order.files)->required();
  app.add_option("--format", order.options.format,
                 "orlib (default), holmberg, tbed or modular; ufllib tells itself")
      ->transform(CLI::CheckedTransformer(formats));
  app.add_option("--capacity", order.options.capacity, "of every facility")
      ->check(CLI::PositiveNumber);
  app.add_flag("--uncapacitated", order.options.uncapacitated,
               "every facility may carry everything");
  app.add_option("--gap", order.effort.gap, "relative; 1e-6")
      ->check(CLI::Range(0., 1.));
  app.add_option("--dual-steps", order.effort.dual_steps, "at the root; 600")
      ->check(CLI::PositiveNumber);
  app.add_option("--moves", order.effort.moves, "of local search at the root; 2000")
      ->check(CLI::PositiveNumber);
  app.add_option("--nodes", order.effort.nodes, "of the tree at most")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--time-limit", order.effort.time_limit_s, "seconds per file");
  app.add_option("--threads", order.threads, "0: as many as the machine has");
  app.add_flag("--log", order.log, "tells how it goes on");
  CLI11_PARSE(app, argc, argv);
  set_thread_count(order.threads);
  fmt::print("{:<40} {:>18} {:>18} {:>8} {:>7} {:>8} {:>9} {:>7}\n", "instance",
             "objective", "bound", "gap %", "nodes", "steps", "seconds", "threads");
  try {
    for (const std::string& file : order.files) solve_file(order, file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "facility: {}\n", error.what());
    return 2;
  }
}
