// Prints how far and how fast the search gets on worlds like the global chat example:
// core_bench SITES DEMANDS REPLICAS DUAL_STEPS MOVES GAP [survive] [traffic]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string_view>

#include "core/worlds.h"
#include "place/core/solve.h"

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace isochrone::place;
  WorldSize size;
  size.survive_site = false;
  size.sites = argc > 1 ? std::atoi(argv[1]) : 300;
  size.demands = argc > 2 ? std::atoi(argv[2]) : 600;
  size.replicas = argc > 3 ? std::atof(argv[3]) : 100;
  Effort effort;
  effort.dual_steps = argc > 4 ? std::atoll(argv[4]) : 600;
  effort.moves = argc > 5 ? std::atoll(argv[5]) : 20000;
  effort.gap = argc > 6 ? std::atof(argv[6]) : 0.01;
  for (int i = 7; i < argc; ++i) {
    if (std::string_view(argv[i]) == "survive") size.survive_site = true;
    if (std::string_view(argv[i]) == "traffic") size.traffic = true;
  }
  const Instance world = round_world(7, size);
  const auto start = std::chrono::steady_clock::now();
  effort.progress = [&](std::optional<std::int64_t> plan, std::int64_t bound) {
    if (!plan) return;
    std::printf(
        "%6.1f s (%.1f CPU s)  plan %.4f M  bound %.4f M  gap %.2f %%\n",
        seconds_since(start), cpu_seconds(), static_cast<double>(*plan) / 1e12,
        static_cast<double>(bound) / 1e12,
        100.0 * static_cast<double>(*plan - bound) / static_cast<double>(*plan));
    std::fflush(stdout);
  };
  const Solution solution = solve(world, effort);
  const double solved = seconds_since(start);
  const auto again = std::chrono::steady_clock::now();
  const std::int64_t bound = evaluate_bound(world, solution.certificate);
  const double proof = seconds_since(again);
  const auto faults = audit(world, solution);
  std::printf("status %d, %zu choices, objective %.4f M, bound %.4f M, gap %.2f %%\n",
              static_cast<int>(solution.status), solution.choices.size(),
              static_cast<double>(solution.objective) / 1e12,
              static_cast<double>(bound) / 1e12,
              100.0 * static_cast<double>(solution.objective - bound) /
                  static_cast<double>(solution.objective));
  std::printf(
      "%.2f s, %lld dual steps, %lld moves, %lld flows, %lld arcs, proof %.2f s, %.1f "
      "CPU s\n",
      solved, static_cast<long long>(solution.statistics.dual_steps),
      static_cast<long long>(solution.statistics.moves),
      static_cast<long long>(solution.statistics.flows_solved),
      static_cast<long long>(solution.statistics.arcs), proof, cpu_seconds());
  for (const auto& fault : faults) std::printf("FAULT %s\n", fault.c_str());
  return faults.empty() ? 0 : 1;
}
