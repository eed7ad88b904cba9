#include "place/core/solve.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "base/parallel.h"
#include "core/worlds.h"
#include "place/core/dual_ascent.h"
#include "place/core/max_flow.h"
#include "place/core/model.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kDollar = 1'000'000;

Effort small_effort() {
  Effort effort;
  effort.gap = 0;
  effort.dual_steps = 100;
  effort.moves = 800;
  return effort;
}

/// Everything of a solution as text, so that two can be compared byte by byte.
std::string text_of(const Solution& solution) {
  std::string text = std::to_string(static_cast<int>(solution.status)) + " " +
                     std::to_string(solution.objective) + " " +
                     std::to_string(solution.bound) + "\n";
  for (const Choice& c : solution.choices) {
    text += std::to_string(c.site) + ":" + std::to_string(c.option) + "x" +
            std::to_string(c.replicas) + " ";
  }
  for (const Flow& flow : solution.flows) {
    text += "\n" + std::to_string(flow.demand) + ">" + std::to_string(flow.choice);
    for (const std::int32_t share : flow.ppb) text += " " + std::to_string(share);
  }
  for (const auto& block : solution.certificate.price) {
    for (const std::int64_t price : block) text += " " + std::to_string(price);
  }
  for (const auto& row : solution.certificate.rows) {
    text +=
        " " + std::to_string(row.row.element) + "*" + std::to_string(row.multiplier);
  }
  return text;
}

/// One demand of 1 request/s; each of `sites` sites, in a group and an element of its
/// own, carries 1 request/s per replica at $100 and at most three replicas.
Instance one_demand(int sites) {
  Instance world;
  DemandRow demand;
  demand.load = {1'000'000};
  world.demands.push_back(demand);
  world.groups = sites;
  world.group_premium.assign(at(sites), 0);
  for (int s = 0; s < sites; ++s) {
    Option option;
    for (std::int64_t n = 1; n <= 3; ++n) {
      option.cost.push_back(100 * kDollar * n);
      option.bill.push_back(100 * kDollar * n);
      option.capacity.push_back(1'000'100 * n);
      option.degraded_capacity.push_back(1'000'100 * n);
      option.gpus.push_back(n);
    }
    Site site;
    site.group = s;
    site.reach = {Bits{1}};
    site.stock = {3};
    site.options.push_back(option);
    world.sites.push_back(site);
  }
  return world;
}

Instance surviving(Instance world) {
  world.elements = static_cast<int>(world.sites.size());
  for (int s = 0; s < world.elements; ++s) world.sites[at(s)].elements = {s};
  return world;
}

TEST_SUITE("core/solve") {
  TEST_CASE("the same bytes come out at 1, 2 and 8 threads") {
    WorldSize size;
    size.sites = 30;
    size.demands = 40;
    size.blocks = 6;
    size.profiles = 2;
    size.levels = 4;
    size.most_replicas = 16;
    size.replicas = 20;
    size.traffic = true;
    const Instance world = round_world(3, size);
    std::vector<std::string> texts;
    for (const std::size_t threads : {1U, 2U, 8U}) {
      set_thread_count(threads);
      const Solution solution = solve(world, small_effort());
      CHECK(audit(world, solution).empty());
      texts.push_back(text_of(solution));
    }
    set_thread_count(0);

    CHECK(texts[0] == texts[1]);
    CHECK(texts[0] == texts[2]);
  }

  TEST_CASE("a bound of a looser question never exceeds a plan of a tighter one") {
    const Rng root(11);
    int compared = 0;
    for (std::uint64_t w = 0; w < 60; ++w) {
      Rng rng = root.stream("world", w);
      Features features = random_features(rng);
      features.survival = features.max_sites = true;
      const Instance tight = tiny_world(rng, features);
      Instance loose = tight;
      loose.elements = 0;
      for (Site& site : loose.sites) site.elements.clear();
      loose.max_sites.reset();
      loose.group_share.reset();
      const Solution tighter = solve(tight, small_effort());
      const Solution looser = solve(loose, small_effort());
      if (tighter.status != Status::kSolved) continue;
      ++compared;
      CHECK(looser.bound <= tighter.objective);
      CHECK(looser.status == Status::kSolved);
    }
    CHECK(compared >= 10);
  }

  TEST_CASE("two providers that survive each other each carry everything") {
    // Either loss leaves one site, which needs a replica: 2 x $100.
    Instance world = surviving(one_demand(2));
    world.group_share = Instance::GroupShare{Instance::GroupShare::Of::kTraffic, 0.7};

    const Solution solution = solve(world, small_effort());

    REQUIRE(solution.status == Status::kSolved);
    CHECK(solution.choices.size() == 2);
    CHECK(solution.objective == 200 * kDollar);
    CHECK(audit(world, solution).empty());
  }

  TEST_CASE("a plan that a loss would break is mended and the cut is named") {
    // One site would do; after its loss nothing is left, so a second is built.
    const Solution solution = solve(surviving(one_demand(2)), small_effort());

    CHECK(solution.objective == 200 * kDollar);
    REQUIRE_FALSE(solution.repaired.empty());
    CHECK(solution.repaired[0].demands == std::vector<int>{0});
    CHECK(solution.repaired[0].need == 1'000'000);
  }

  TEST_CASE("a fixed cost, two replicas and a premium add up to the cent") {
    // 1.8 requests/s need two replicas: $200, the site $50, its group $7, constant -$2.
    Instance world = one_demand(1);
    world.demands[0].load = {1'800'000};
    world.sites[0].fixed_cost = 50 * kDollar;
    world.group_premium = {7 * kDollar};
    world.constant = -2 * kDollar;

    const Solution solution = solve(world, small_effort());

    CHECK(solution.objective == 255 * kDollar);
    // The premium is relaxed in the bound; the rest is tight for a single demand.
    CHECK(solution.bound >= 247 * kDollar);
    CHECK(solution.bound <= 248 * kDollar);
  }

  TEST_CASE("who is cheapest to leave out goes unserved, within the slack") {
    // Two equal demands; one costs $10 to leave, both $20; slack for one and a half.
    Instance world = one_demand(1);
    world.demands[0].coverage_group = 0;
    world.demands[0].unserved_cost = 10 * kDollar;
    world.demands[0].coverage_weight = 100;
    world.demands.push_back(world.demands[0]);
    world.coverage = {{150}};
    world.sites[0].reach = {Bits{3}};

    const Solution solution = solve(world, small_effort());

    // Half a demand still needs one replica: serving one whole costs $100 + $10.
    CHECK(solution.objective == 110 * kDollar);
    CHECK(audit(world, solution).empty());
  }

  TEST_CASE("an interrupted search says so and returns what it has") {
    Effort effort = small_effort();
    effort.interrupted = [] { return true; };

    const Solution solution = solve(one_demand(2), effort);

    CHECK(solution.status == Status::kInterrupted);
    CHECK(solution.bound <= 100 * kDollar);
  }
}

TEST_SUITE("core/infeasible") {
  TEST_CASE("a demand that no site reaches is named") {
    Instance world = one_demand(2);
    for (Site& site : world.sites) site.reach = {Bits{0}};

    const Solution solution = solve(world, small_effort());

    CHECK(solution.status == Status::kInfeasible);
    REQUIRE(solution.conflicts.size() == 1);
    CHECK(solution.conflicts[0].kind == "no_arc");
    CHECK(solution.conflicts[0].demands == std::vector<int>{0});
  }

  TEST_CASE("more load than all stock carries is a capacity conflict") {
    Instance world = one_demand(2);
    world.demands[0].load = {6'100'000};  // two sites of three replicas carry 6.0006

    const Solution solution = solve(world, small_effort());

    CHECK(solution.status == Status::kInfeasible);
    CHECK(solution.conflicts[0].kind == "capacity");
  }

  TEST_CASE("a loss that leaves too little is a survival conflict") {
    Instance world = surviving(one_demand(2));
    world.demands[0].load = {3'500'000};  // one site carries 3.0003

    const Solution solution = solve(world, small_effort());

    CHECK(solution.status == Status::kInfeasible);
    CHECK(solution.conflicts[0].kind == "survival");
    CHECK(solution.conflicts[0].element == 0);
  }

  TEST_CASE("demands that share no site need as many sites as they are") {
    Instance world = one_demand(2);
    world.demands.push_back(world.demands[0]);
    world.sites[0].reach = {Bits{1}};
    world.sites[1].reach = {Bits{2}};
    world.max_sites = 1;

    const Solution solution = solve(world, small_effort());

    CHECK(solution.status == Status::kInfeasible);
    CHECK(solution.conflicts[0].kind == "max_sites");
  }

  TEST_CASE("a budget below the bound of the bill is infeasible, one above is kept") {
    Instance world = one_demand(1);
    world.demands[0].load = {1'800'000};  // two replicas, $200
    world.budget = 150 * kDollar;
    const Solution poor = solve(world, small_effort());
    world.budget = 200 * kDollar;
    const Solution rich = solve(world, small_effort());

    CHECK(poor.status == Status::kInfeasible);
    CHECK(poor.conflicts[0].kind == "budget");
    CHECK(rich.status == Status::kSolved);
  }

  TEST_CASE("an instance of impossible shape is refused by name") {
    Instance world = one_demand(1);
    world.demands[0].load.push_back(1);

    CHECK_THROWS_WITH_AS(solve(world, small_effort()),
                         "placement instance: demand 0: one load per block",
                         std::invalid_argument);
  }
}

TEST_SUITE("core/audit") {
  TEST_CASE("every change of a solved plan is noticed") {
    const Instance world = surviving(one_demand(3));
    const Solution good = solve(world, small_effort());
    REQUIRE(audit(world, good).empty());
    const auto spoiled = [&](auto&& change) {
      Solution bad = good;
      change(bad);
      return !audit(world, bad).empty();
    };

    CHECK(spoiled([](Solution& s) { s.objective -= 1; }));
    CHECK(spoiled([](Solution& s) { s.bound = s.objective + 1; }));
    CHECK(spoiled([](Solution& s) { s.flows[0].ppb[0] -= 1; }));
    CHECK(spoiled([](Solution& s) { s.choices[0].replicas = 4; }));
    CHECK(spoiled([](Solution& s) { s.choices.pop_back(); }));
    CHECK(spoiled([](Solution& s) { s.unserved_ppb[0] = 1; }));
    CHECK(spoiled([](Solution& s) { s.certificate.price[0][0] += 1'000'000'000; }));
  }
}

TEST_SUITE("core/max_flow") {
  TEST_CASE("the maximum flow equals the least cut over all sets of left nodes") {
    Rng rng(5);
    for (int trial = 0; trial < 300; ++trial) {
      constexpr std::size_t kLeft = 5;
      constexpr std::size_t kRight = 4;
      MaxFlow network;
      network.reset(2 + kLeft + kRight);
      std::vector<std::int64_t> asked(kLeft);
      std::vector<std::int64_t> room(kRight);
      std::vector<std::vector<bool>> joined(kLeft, std::vector<bool>(kRight));
      for (std::size_t i = 0; i < kLeft; ++i) {
        asked[i] = static_cast<std::int64_t>(rng.below(20));
        network.add_edge(0, 2 + i, asked[i]);
        for (std::size_t j = 0; j < kRight; ++j) {
          joined[i][j] = rng.uniform() < 0.4;
          if (joined[i][j]) network.add_edge(2 + i, 2 + kLeft + j, 1'000'000);
        }
      }
      for (std::size_t j = 0; j < kRight; ++j) {
        room[j] = static_cast<std::int64_t>(rng.below(25));
        network.add_edge(2 + kLeft + j, 1, room[j]);
      }

      std::int64_t least = 1'000'000;
      for (std::uint32_t set = 0; set < (1U << kLeft); ++set) {
        std::int64_t cut = 0;
        for (std::size_t j = 0; j < kRight; ++j) {
          bool reached = false;
          for (std::size_t i = 0; i < kLeft; ++i) {
            reached = reached || ((set >> i & 1U) != 0 && joined[i][j]);
          }
          if (reached) cut += room[j];
        }
        for (std::size_t i = 0; i < kLeft; ++i) {
          if ((set >> i & 1U) == 0) cut += asked[i];
        }
        least = std::min(least, cut);
      }
      CHECK(network.run(0, 1) == least);
    }
  }
}

TEST_SUITE("core/bound") {
  TEST_CASE("the proof and the ascent see the same Lagrangian function") {
    // Two programs, one in whole nano-dollars, one in doubles on a coarse grid of
    // capacities: they agree to a millionth after prices are rounded.
    WorldSize size;
    size.sites = 40;
    size.demands = 60;
    size.blocks = 6;
    size.traffic = true;
    size.most_replicas = 32;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const Instance world = round_world(seed, size);
      const Model model(world);
      Lagrangian lagrangian(model);
      DualAscent dual(model, lagrangian);
      SurvivalRow row{3, 2, {}, 0};
      for (int d = 0; d < model.demands(); d += 2) row.demands.push_back(d);
      dual.add_row(row);
      dual.run(60, 1e300);

      const double proven =
          static_cast<double>(evaluate_bound(world, dual.certificate()));
      CHECK(proven == doctest::Approx(dual.best_value()).epsilon(1e-6));
    }
  }

  TEST_CASE(
      "a certificate of the wrong shape or with a negative multiplier is refused") {
    const Instance world = surviving(one_demand(2));
    Certificate certificate;
    CHECK_THROWS_AS(evaluate_bound(world, certificate), std::invalid_argument);

    certificate.price = {{100}};
    certificate.rows.push_back({{0, 0, {0}, 1'000'000}, -1});
    CHECK_THROWS_AS(evaluate_bound(world, certificate), std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::place
