// The core beside CBC, a solver that knows nothing of it, on the same instances written
// as MPS: what CBC proves optimal must lie between bound and plan, and equal the brute
// force.
#include "place/core/mixed_integer.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/worlds.h"
#include "place/core/solve.h"

namespace isochrone::place {
namespace {

/// With preprocessing and cuts CBC 2.10.8 calls some tiny worlds infeasible that its
/// own bare search, and the brute force, solve.
constexpr const char* kBareSearch = "preprocess off cuts off";

/// CBC's optimum in dollars; nullopt: it proved that there is none.
std::optional<double> optimum_by_cbc(const Instance& instance, const char* how = "") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("isochrone-cbc-{}", getpid());
  fs::create_directories(folder);
  const std::string mps = folder / "world.mps";
  const std::string answer = folder / "answer";
  {
    std::ofstream out(mps);
    write_mps(mixed_integer(instance), "world", out);
  }
  const std::string command = fmt::format(
      "cbc {} {} ratioGap 0 allowableGap 0 sec 120 solve solu {} > {}.log 2>&1", mps,
      how, answer, answer);
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream in(answer);
  std::string line;
  REQUIRE(std::getline(in, line));
  fs::remove_all(folder);
  if (line.find("nfeasible") != std::string::npos) return std::nullopt;
  INFO(line);
  REQUIRE(line.starts_with("Optimal"));
  return std::strtod(line.substr(line.rfind(' ')).c_str(), nullptr);
}

constexpr double kTolerance = 1e-6;  // CBC's own, of its rows

Effort effort() {
  Effort effort;
  effort.gap = 0.001;
  effort.dual_steps = 200;
  effort.moves = 1000;
  return effort;
}

double dollars(std::int64_t micro) { return static_cast<double>(micro) / 1e6; }

TEST_SUITE("core/mixed_integer") {
  TEST_CASE(
      "bound <= optimum of tiny worlds by CBC <= plan; and the brute force agrees") {
    Rng rng(20261201);
    int solved = 0;
    int refused = 0;
    for (int i = 0; i < 150; ++i) {
      const Features features = random_features(rng);
      const Instance world = tiny_world(rng, features);
      CAPTURE(i);

      const auto by_cbc = optimum_by_cbc(world, kBareSearch);
      const auto by_force = cheapest_deployment(world);
      const Solution solution = solve(world, effort());

      if (!by_cbc) {
        ++refused;
        CHECK_FALSE(by_force);
        CHECK(solution.choices.empty());
        continue;
      }
      ++solved;
      CHECK(solution.status != Status::kInfeasible);
      CHECK(dollars(solution.bound) <= *by_cbc * (1 + kTolerance));
      if (!solution.choices.empty() && solution.status == Status::kSolved) {
        CHECK(dollars(solution.objective) >= *by_cbc * (1 - kTolerance));
      }
      if (!by_force) continue;
      // With coverage the brute force is an upper bound, else exact.
      CHECK(*by_cbc <= dollars(*by_force) * (1 + kTolerance));
      if (!features.coverage) {
        CHECK(*by_cbc >= dollars(*by_force) * (1 - kTolerance));
      }
    }
    CHECK(solved > 50);
    CHECK(refused > 5);
  }

  TEST_CASE("CBC's optimum of middle worlds lies between bound and plan") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(seed);
      const bool survive = seed > 2;
      const Instance world = round_world(seed, {.sites = survive ? 5 : 10,
                                                .demands = survive ? 8 : 24,
                                                .blocks = survive ? 2 : 4,
                                                .profiles = 2,
                                                .levels = 2,
                                                .most_replicas = 6,
                                                .replicas = 8,
                                                .max_sites = std::nullopt,
                                                .survive_site = survive,
                                                .traffic = seed % 2 == 0});

      const auto optimum = optimum_by_cbc(world);
      const Solution solution = solve(world, effort());

      REQUIRE(optimum);
      REQUIRE(solution.status == Status::kSolved);
      CHECK(dollars(solution.bound) <= *optimum * (1 + kTolerance));
      CHECK(dollars(solution.objective) >= *optimum * (1 - kTolerance));
      CHECK(dollars(solution.objective) <= *optimum * 1.001);  // as good as asked for
    }
  }
}

}  // namespace
}  // namespace isochrone::place
