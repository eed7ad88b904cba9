#include <cstdlib>

#include <doctest/doctest.h>

#include "core/worlds.h"
#include "place/core/model.h"
#include "place/core/solve.h"

namespace isochrone::place {
namespace {

constexpr int kWorlds = 400;

Effort small_effort() {
  Effort effort;
  effort.gap = 0;
  effort.dual_steps = 200;
  effort.moves = 2000;
  return effort;
}

/// Any prices, also negative ones, and any rows, also needless ones.
Certificate random_certificate(Rng& rng, const Instance& world, double size) {
  Certificate certificate;
  for (int b = 0; b < world.blocks; ++b) {
    certificate.price.emplace_back();
    for (std::size_t d = 0; d < world.demands.size(); ++d) {
      certificate.price.back().push_back(
          static_cast<std::int64_t>(size * (rng.uniform() - 0.1)));
    }
  }
  for (int i = 0; i < 3 && world.elements > 0; ++i) {
    Certificate::PricedRow row;
    row.row.element = static_cast<int>(rng.below(at(world.elements)));
    row.row.block = static_cast<int>(rng.below(at(world.blocks)));
    for (int d = 0; d < static_cast<int>(world.demands.size()); ++d) {
      if (rng.uniform() < 0.6) row.row.demands.push_back(d);
    }
    row.row.need = 123;  // not trusted
    row.multiplier = static_cast<std::int64_t>(100'000 * rng.uniform());
    certificate.rows.push_back(row);
  }
  return certificate;
}

TEST_SUITE("core/bound") {
  TEST_CASE("no prices prove more than the cheapest deployment costs") {
    const Rng root(1);
    int feasible = 0;
    int useful = 0;
    for (std::uint64_t w = 0; w < kWorlds; ++w) {
      Rng rng = root.stream("world", w);
      const Instance world = tiny_world(rng, random_features(rng));
      const auto optimum = cheapest_deployment(world);
      if (!optimum) continue;
      ++feasible;
      for (const double size : {1e6, 1e7, 5e7, 1e8, 2e8, 5e8, 1e9, 1e10}) {
        for (int trial = 0; trial < 5; ++trial) {
          const Certificate certificate = random_certificate(rng, world, size);
          const std::int64_t bound = evaluate_bound(world, certificate);
          CHECK_MESSAGE(bound <= *optimum, "world ", w);
          if (bound > *optimum / 2) ++useful;
        }
      }
    }
    CHECK(feasible >= 150);
    CHECK(useful >= 100);  // else the test would prove nothing
  }
}

TEST_SUITE("core/solve") {
  TEST_CASE("bound <= cheapest deployment <= plan, whatever rows a world has") {
    const Rng root(2);
    int feasible = 0;
    int equal = 0;
    int missed = 0;
    for (std::uint64_t w = 0; w < kWorlds; ++w) {
      Rng rng = root.stream("world", w);
      const Features features = random_features(rng);
      const Instance world = tiny_world(rng, features);
      const auto optimum = cheapest_deployment(world);
      const Solution solution = solve(world, small_effort());
      CAPTURE(w);

      if (solution.status == Status::kInfeasible) {
        CHECK_FALSE(optimum.has_value());
        CHECK_FALSE(solution.conflicts.empty());
        continue;
      }
      if (!solution.choices.empty()) {
        const auto faults = audit(world, solution);
        for (const auto& fault : faults) FAIL_CHECK(fault);
      }
      if (!optimum) {
        if (!features.coverage) CHECK(solution.status != Status::kSolved);
        continue;
      }
      ++feasible;
      CHECK(solution.bound <= *optimum);
      if (solution.status != Status::kSolved) {
        ++missed;
        continue;
      }
      // Shares are rounded to parts per 10^9, worth a few MicroUsd of traffic.
      if (!features.coverage) CHECK(solution.objective >= *optimum - 100);
      if (solution.objective <= *optimum + std::abs(*optimum) / 1000) ++equal;
    }
    CHECK(feasible >= 150);
    CHECK(missed <= feasible / 20);
    CHECK(equal >= feasible * 9 / 10);
    MESSAGE(feasible, " feasible worlds, ", equal, " solved to the optimum, ", missed,
            " without a plan");
  }
}

}  // namespace
}  // namespace isochrone::place
