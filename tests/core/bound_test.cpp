#include <algorithm>
#include <cstdlib>
#include <vector>

#include <doctest/doctest.h>

#include "core/worlds.h"
#include "place/core/any_loss.h"
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
  for (int k = 0; k < world.commodities && world.coverage.empty(); ++k) {
    Certificate::PricedRow row;
    row.row.element = kNoLoss;
    row.row.block = static_cast<int>(rng.below(at(world.blocks)));
    row.row.unit = 1 + static_cast<std::int64_t>(rng.below(3'000'000));
    for (int d = 0; d < static_cast<int>(world.demands.size()); ++d) {
      const bool own = world.demands[at(d)].commodity == k;
      if (own && rng.uniform() < 0.7) row.row.demands.push_back(d);
    }
    row.multiplier = static_cast<std::int64_t>(1e11 * rng.uniform());
    if (!row.row.demands.empty()) certificate.rows.push_back(row);
  }
  for (int i = 0; i < 3 && world.elements > 0; ++i) {
    Certificate::PricedRow row;
    row.row.element = static_cast<int>(rng.below(at(world.elements + 1))) + kAnyLoss;
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

/// Sum of what the capacities count for in a row of any loss, in parts of the need.
double counted(const std::vector<std::int64_t>& capacities, std::int64_t need) {
  double sum = 0;
  for (const std::int64_t x : capacities) {
    const AnyLossSupply supply = any_loss_supply(x, need, false);
    sum += static_cast<double>(supply.times) / static_cast<double>(supply.scale) /
           static_cast<double>(need);
  }
  return sum;
}

TEST_SUITE("core/bound") {
  TEST_CASE("equal sites that just survive any loss meet its row exactly") {
    // m sites of N / (m - 1): whichever is lost, the others keep N.
    for (std::int64_t m = 2; m <= 13; ++m) {
      const std::int64_t need = 27'720 * 13;  // divisible by 1 .. 13
      const std::vector<std::int64_t> sites(at(static_cast<int>(m)), need / (m - 1));
      CHECK(counted(sites, need) == doctest::Approx(1).epsilon(1e-12));
    }
  }

  TEST_CASE("whatever survives any loss meets its row") {
    Rng rng(7);
    constexpr std::int64_t kNeed = 1'000'003;
    int tight = 0;
    for (int trial = 0; trial < 200'000; ++trial) {
      std::vector<std::int64_t> sites;
      std::int64_t sum = 0;
      std::int64_t largest = 0;
      const std::uint64_t kind = rng.below(3);
      const std::int64_t size = 1 + static_cast<std::int64_t>(rng.below(kNeed));
      // Until the others of the largest keep the need: random, equal, or both.
      while (sum - largest < kNeed) {
        const bool equal = kind == 1 || (kind == 2 && rng.below(4) > 0);
        std::int64_t x = equal ? size : 1 + static_cast<std::int64_t>(rng.below(kNeed));
        if (rng.below(8) == 0) x = std::max<std::int64_t>(1, kNeed + largest - sum);
        sites.push_back(x);
        sum += x;
        largest = std::max(largest, x);
      }
      const double total = counted(sites, kNeed);
      CHECK(total >= 1 - 1e-9);
      if (total < 1 + 1e-3) ++tight;
    }
    CHECK(tight > 1000);  // the row is no weaker than it must be
  }

  TEST_CASE("what loses too much need not meet the row") {
    // One site of three times the need, and two of 0.7 that lose 0.7.
    CHECK(counted({3'000'000}, 1'000'000) == doctest::Approx(0.5));
    // h(0.7) = 1/3 + (0.7 - 0.5) / 0.5 * (1/2 - 1/3) = 0.4
    CHECK(counted({700'000, 700'000}, 1'000'000) == doctest::Approx(0.8));
  }

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
