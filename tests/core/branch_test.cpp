#include "place/core/branch.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "base/parallel.h"
#include "core/worlds.h"
#include "place/core/bound.h"
#include "place/core/open_search.h"
#include "place/core/settle.h"
#include "place/core/solve.h"
#include "place/core/transport.h"

namespace isochrone::place {
namespace {

Effort to_the_end() {
  Effort effort;
  effort.gap = 1e-6;
  effort.dual_steps = 100;
  effort.moves = 500;
  effort.nodes = 500;
  return effort;
}

/// Plain capacitated facility location: sites and demands on a square, costs by
/// distance, capacities that bind.
Instance plain_world(Rng& rng, int sites, int demands) {
  const auto place = [&] { return std::pair(rng.uniform(), rng.uniform()); };
  Instance world;
  world.groups = 1;
  world.group_premium = {0};
  std::vector<std::pair<double, double>> where;
  std::int64_t total = 0;
  for (int d = 0; d < demands; ++d) {
    where.push_back(place());
    DemandRow row;
    row.load = {1'000'000 + static_cast<std::int64_t>(rng.below(9'000'000))};
    total += row.load[0];
    world.demands.push_back(row);
  }
  for (int s = 0; s < sites; ++s) {
    const auto [x, y] = place();
    Option option;
    option.cost = option.bill = {0};
    option.capacity = option.degraded_capacity = {
        total / 4 + static_cast<std::int64_t>(rng.below(at(static_cast<int>(
                        std::min<std::int64_t>(total / 4, 1 << 30)))))};
    option.gpus = {1};
    Site site;
    site.fixed_cost = 2'000'000 + static_cast<std::int64_t>(rng.below(3'000'000));
    site.stock = {1};
    site.options = {option};
    site.reach = {Bits((at(demands) + 63) / 64, ~std::uint64_t{0})};
    site.traffic_cost.emplace_back();
    for (int d = 0; d < demands; ++d) {
      const double distance =
          std::hypot(x - where[at(d)].first, y - where[at(d)].second);
      site.traffic_cost[0].push_back(static_cast<std::int64_t>(
          distance * static_cast<double>(world.demands[at(d)].load[0]) / 2));
    }
    world.sites.push_back(std::move(site));
  }
  return world;
}

/// Least cost over all sets of sites, each by settle(): another algorithm (LEMON's
/// network simplex) than the one that the search prices sets by.
std::optional<std::int64_t> cheapest_set(const Instance& world) {
  const Model model(world);
  const Service service(model, std::vector<std::int32_t>(world.demands.size(), 0));
  std::optional<std::int64_t> least;
  for (unsigned set = 1; set < 1U << world.sites.size(); ++set) {
    PlanState state(model);
    for (int s = 0; s < model.sites(); ++s) {
      if ((set >> s & 1U) != 0) state.choose(s, 0, 0);
    }
    const auto settled = settle(model, state, service);
    if (settled && (!least || settled->objective < *least)) least = settled->objective;
  }
  return least;
}

/// Whether a set of open sites is within what a proof is about.
bool speaks_of(const PartProof& proof, unsigned set) {
  const auto agrees = [&](int s, Restriction::Open state) {
    const bool open = (set >> s & 1U) != 0;
    return state == Restriction::Open::kFree ||
           open == (state == Restriction::Open::kYes);
  };
  for (int s = 0; s < static_cast<int>(proof.within.open.size()); ++s) {
    if (!agrees(s, proof.within.open[at(s)])) return false;
  }
  return proof.excluded.empty() ||
         std::ranges::any_of(proof.excluded, [&](const PartProof::Excluded& one) {
           return agrees(one.site, one.open);
         });
}

TEST_SUITE("core/branch") {
  TEST_CASE("branch and bound finds and proves the cheapest set of sites") {
    Rng rng(11);
    int split = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const Instance world = plain_world(rng, 7, 14);
      const auto least = cheapest_set(world);
      REQUIRE(least);
      const Solution solution = solve(world, to_the_end());
      CAPTURE(trial);
      CHECK(solution.status == Status::kSolved);
      CHECK(audit(world, solution).empty());
      CHECK(solution.bound <= *least);
      CHECK(solution.objective >= *least);
      const double tolerance = 1e-6 * static_cast<double>(*least) + 2;
      CHECK(static_cast<double>(solution.objective - *least) <= tolerance);
      CHECK(static_cast<double>(solution.objective - solution.bound) <= tolerance);
      split += solution.statistics.nodes > 1 ? 1 : 0;
      for (unsigned set = 0; set < 1U << 7 && !solution.parts.empty(); ++set) {
        CHECK(std::ranges::any_of(solution.parts, [&](const PartProof& proof) {
          return speaks_of(proof, set);
        }));
      }
    }
    CHECK(split >= 20);  // most roots are not tight, or nothing was tried
  }

  TEST_CASE("no tree proves more than the cheapest deployment, whatever the rows") {
    Rng rng(12);
    int deep = 0;
    for (int trial = 0; trial < 150; ++trial) {
      const Instance world = tiny_world(rng, random_features(rng));
      const auto least = cheapest_deployment(world);
      const Solution solution = solve(world, to_the_end());
      CAPTURE(trial);
      if (solution.status != Status::kSolved) continue;
      REQUIRE(least);
      CHECK(solution.bound <= *least);
      CHECK(solution.bound <= solution.objective);
      CHECK(audit(world, solution).empty());
      deep += solution.statistics.nodes > 1 ? 1 : 0;
    }
    CHECK(deep >= 20);
  }

  TEST_CASE("the tree is the same at any number of threads") {
    Rng rng(13);
    const Instance world = plain_world(rng, 30, 60);
    std::optional<Solution> first;
    for (const std::size_t threads : {1U, 2U, 8U}) {
      set_thread_count(threads);
      const Solution solution = solve(world, to_the_end());
      if (!first) first = solution;
      CHECK(solution.objective == first->objective);
      CHECK(solution.bound == first->bound);
      CHECK(solution.statistics.nodes == first->statistics.nodes);
      CHECK(solution.statistics.dual_steps == first->statistics.dual_steps);
    }
    set_thread_count(0);
    CHECK(first->statistics.nodes > 1);
  }

  TEST_CASE("an instance that no set of sites can carry has no plan") {
    Rng rng(14);
    Instance world = plain_world(rng, 3, 10);
    for (Site& site : world.sites) site.options[0].capacity = {1'000'000};
    CHECK(solve(world, to_the_end()).status == Status::kInfeasible);
  }
}

TEST_SUITE("core/part") {
  Certificate some_prices(Rng & rng, const Instance& world) {
    Certificate certificate;
    certificate.price.emplace_back();
    for (const DemandRow& demand : world.demands) {
      certificate.price[0].push_back(static_cast<std::int64_t>(
          rng.uniform() * static_cast<double>(demand.load[0])));
    }
    return certificate;
  }

  TEST_CASE("a part without a site is the world without it; open is pinned") {
    Rng rng(15);
    for (int trial = 0; trial < 50; ++trial) {
      const Instance world = plain_world(rng, 5, 8);
      const Model model(world);
      const Certificate prices = some_prices(rng, world);
      const int s = static_cast<int>(rng.below(5));
      Instance without = world;
      without.sites.erase(without.sites.begin() + s);
      Instance pinned = world;
      pinned.sites[at(s)].pinned = true;

      PartProof part{everything(model), prices, {}};
      part.within.open[at(s)] = Restriction::Open::kNo;
      CHECK(evaluate_bound(model, part) == evaluate_bound(without, prices));
      part.within.open[at(s)] = Restriction::Open::kYes;
      CHECK(evaluate_bound(model, part) == evaluate_bound(pinned, prices));

      const PartProof excluded{
          everything(model), prices, {{s, Restriction::Open::kYes}}};
      CHECK(evaluate_bound(model, excluded) == evaluate_bound(pinned, prices));
    }
  }

  TEST_CASE("a range of sizes is the world with only those sizes") {
    Rng rng(16);
    for (int trial = 0; trial < 50; ++trial) {
      Instance world = plain_world(rng, 4, 8);
      const std::int64_t unit = world.sites[0].options[0].capacity[0] / 4;
      for (Site& site : world.sites) {
        Option& option = site.options[0];
        option.cost = option.bill = {100'000, 200'000, 300'000};
        option.capacity = option.degraded_capacity = {unit, 2 * unit, 3 * unit};
        option.gpus = {1, 2, 3};
        site.stock = {3};
      }
      const Model model(world);
      const Certificate prices = some_prices(rng, world);
      Instance fewer = world;
      fewer.sites[1].stock = {2};  // no third replica
      PartProof part{everything(model), prices, {}};
      part.within.range[1].last = 2;
      CHECK(evaluate_bound(model, part) == evaluate_bound(fewer, prices));
    }
  }
}

TEST_SUITE("core/transport") {
  TEST_CASE("paths between sites cost what the network simplex says") {
    Rng rng(17);
    int crowded = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const Instance world = plain_world(rng, 6, 25);
      const Model model(world);
      Transport transport(model);
      const Service service(model, std::vector<std::int32_t>(world.demands.size(), 0));
      PlanState state(model);
      std::vector<int> point(6, -1);
      double fixed = 0;
      for (int s = 0; s < 6; ++s) {
        if (rng.uniform() < 0.3) continue;
        point[at(s)] = 0;
        state.choose(s, 0, 0);
        fixed += static_cast<double>(world.sites[at(s)].fixed_cost);
      }
      const auto routed = transport.route(point);
      const auto settled = settle(model, state, service);
      REQUIRE(routed.has_value() == settled.has_value());
      if (!routed) continue;
      CHECK(fixed + routed->cost ==
            doctest::Approx(static_cast<double>(settled->objective)).epsilon(1e-6));
      // Duality: prices less rents of capacity are worth the same.
      double worth = 0;
      for (const double price : transport.prices(point, *routed)) worth += price;
      for (int s = 0; s < 6; ++s) {
        const double capacity =
            static_cast<double>(world.sites[at(s)].options[0].capacity[0]);
        worth -= routed->rent[at(s)] * capacity;
        crowded += routed->rent[at(s)] > 0 ? 1 : 0;
      }
      CHECK(worth == doctest::Approx(routed->cost).epsilon(1e-5));
    }
    CHECK(crowded >= 20);
  }
}

}  // namespace
}  // namespace isochrone::place
