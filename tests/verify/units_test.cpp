#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/rng.h"
#include "place/verify/checks.h"
#include "place/verify/max_flow.h"
#include "place/verify/slow_capacity.h"
#include "place/verify/slow_reach.h"
#include "place/verify/traffic.h"
#include "tests/verify/honest_plan.h"

namespace isochrone::verify {
namespace {

TEST_SUITE("place/max_flow") {
  TEST_CASE("a flow that must be taken back to be improved is found") {
    // 0 -> 1 -> 2 -> 3 blocks both ways of 1 each; the best is 0-1-3 and 0-2-3.
    MaxFlow flow(4);
    flow.add_arc(0, 1, 1);
    flow.add_arc(1, 2, 1);
    flow.add_arc(0, 2, 1);
    flow.add_arc(1, 3, 1);
    flow.add_arc(2, 3, 1);

    CHECK(flow.run(0, 3) == 2);
  }

  TEST_CASE("the nodes before the narrowest place are on the source's side") {
    MaxFlow flow(4);
    flow.add_arc(0, 1, 5);
    flow.add_arc(1, 2, 3);
    flow.add_arc(2, 3, 9);

    CHECK(flow.run(0, 3) == 3);
    CHECK(flow.on_source_side(1));
    CHECK_FALSE(flow.on_source_side(2));
  }

  TEST_CASE("on random graphs the flow equals the smallest cut of all") {
    Rng rng(11);
    for (int trial = 0; trial < 60; ++trial) {
      constexpr std::size_t kNodes = 6;
      std::int64_t capacity[kNodes][kNodes] = {};
      MaxFlow flow(kNodes);
      for (std::size_t a = 0; a < kNodes; ++a) {
        for (std::size_t b = 0; b < kNodes; ++b) {
          if (a == b || rng.below(3) == 0) continue;
          capacity[a][b] = static_cast<std::int64_t>(rng.below(10));
          flow.add_arc(a, b, capacity[a][b]);
        }
      }
      std::int64_t smallest = INT64_MAX;
      for (unsigned side = 0; side < 1U << kNodes; ++side) {
        if ((side & 1U) == 0 || (side >> (kNodes - 1) & 1U) != 0) continue;
        std::int64_t cut = 0;
        for (std::size_t a = 0; a < kNodes; ++a) {
          for (std::size_t b = 0; b < kNodes; ++b) {
            if ((side >> a & 1U) != 0 && (side >> b & 1U) == 0) cut += capacity[a][b];
          }
        }
        smallest = std::min(smallest, cut);
      }
      CHECK(flow.run(0, kNodes - 1) == smallest);
    }
  }
}

TEST_SUITE("place/slow_reach") {
  // Access 10 ms (90 %) or 40 ms; own time 50 ms (95 %) or 80 ms.
  const geo::AtomicLaw kAccess{{10, 40}, {0.9, 0.1}};
  const std::vector<double> kProbability{0.95, 1};
  const std::vector<std::int64_t> kOwn{50'000'000, 80'000'000};

  TEST_CASE("the quantile of the sum decides, not the sum of quantiles") {
    const GridLaw own{kProbability, kOwn};

    // Sums: 60 (.855), 90 (.9 * .05 + .1 * .95 = .14, at 90 and 90), 120 (.005).
    // For .85 the sum is 60, so 100 ms leave 40 for the way; for .99 it is 90.
    CHECK(std::abs(slow_reach_us(kAccess, own, 1, 100e6, 0.85) - 40'000) <= 1);
    CHECK(std::abs(slow_reach_us(kAccess, own, 1, 100e6, 0.99) - 10'000) <= 1);
  }

  TEST_CASE("each round trip pays the access again") {
    const GridLaw own{kProbability, kOwn};

    // Two trips: 2 x 10 + 50 = 70 at .855; (100 - 70) / 2 = 15 ms.
    CHECK(std::abs(slow_reach_us(kAccess, own, 2, 100e6, 0.85) - 15'000) <= 1);
  }

  TEST_CASE("what cannot be met at any distance is negative") {
    const GridLaw own{kProbability, kOwn};

    CHECK(slow_reach_us(kAccess, own, 1, 50e6, 0.85) < 0);
    CHECK(slow_reach_us(kAccess, own, 1, 500e6, 1.01) < 0);
  }
}

TEST_SUITE("place/slow_capacity") {
  double carried_rate(const SlowPool& pool, double budget_s, double wait_share,
                      const scenarios::Modulation& modulation) {
    const SlowEpochs epochs(modulation);
    return SlowQueue(pool, epochs).carried_rate(budget_s, wait_share);
  }

  TEST_CASE("one slot at a time under Poisson is M/M/1") {
    // Service 1 s, budget 2 s: P(wait > 2) = rho exp(-2 (1 - rho)) = 0.1. At rho = .3:
    // .3 exp(-1.4) = .0740; at .35: .35 exp(-1.3) = .0954; at .36: .36 exp(-1.28) =
    // .1001.
    const SlowPool pool{{1}, {1.0}, 1, 1};

    CHECK(carried_rate(pool, 2, 0.1, {}) == doctest::Approx(0.3598).epsilon(0.002));
  }

  TEST_CASE("many slots of one pace are Erlang C") {
    // Two slots of 1 s, no budget: C = rho^2 / (2 (1 - rho)) over 1 + 2 rho' ... for
    // a = 1 erlang: (1/2 * 2) / (1 + 1 + 1) = 1/3 wait. So 1/3 may wait at 1 per
    // second.
    const SlowPool pool{{1}, {1.0}, 2, 1};

    CHECK(carried_rate(pool, 0, 1.0 / 3, {}) == doctest::Approx(1).epsilon(0.002));
  }

  TEST_CASE("bursts carry less, and pooling carries more per replica") {
    const scenarios::Modulation bursts{5.5, 600};
    const SlowPool one{{1}, {1.0}, 8, 1};
    const SlowPool eight{{1}, {1.0}, 8, 8};
    const double poisson = carried_rate(one, 0.02, 0.04, {});
    const double bursty = carried_rate(one, 0.02, 0.04, bursts);

    CHECK(bursty < poisson);
    CHECK(carried_rate(eight, 0.02, 0.04, bursts) / 8 > bursty);
  }
}

TEST_SUITE("place/carried") {
  plan::Table table_of(
      const std::vector<std::pair<std::int64_t, std::int64_t>>& points) {
    plan::Table table;
    for (const auto& [n, capacity] : points) {
      table.add_replicas(n);
      table.add_capacity(capacity);
      table.add_degraded_capacity(2 * capacity);
    }
    return table;
  }

  TEST_CASE("capacity per replica is linear between the support and constant beyond") {
    const plan::Table table = table_of({{1, 3200}, {2, 7000}, {4, 15600}});

    CHECK(carried(table, 0, false) == 0);
    CHECK(carried(table, 2, false) == 7000);
    CHECK(carried(table, 3, false) == 11100);  // 3 x (3500 + 3900) / 2
    CHECK(carried(table, 8, false) == 31200);  // 8 x 3900
    CHECK(carried(table, 3, true) == 22200);
  }

  TEST_CASE("capacity per replica never falls") {
    const plan::Table table = table_of({{1, 4000}, {2, 7000}, {4, 20000}});

    CHECK(carried(table, 2, false) == 8000);
    CHECK(carried(table, 3, false) == 13500);  // 3 x (4000 + 5000) / 2
  }
}

TEST_SUITE("place/traffic") {
  TEST_CASE("a volume goes through the tiers, and the bound never exceeds the bill") {
    // 100 GB free, to 1000 GB at $0.10, then $0.05.
    const datasets::EgressPrice price{
        {{0, 100, 0}, {100, 1000, 0.1}, {1000, std::nullopt, 0.05}}, false, "", ""};
    constexpr std::int64_t kGb = 1'000'000'000;

    CHECK(Traffic::bill(price, 50 * kGb) == 0);
    CHECK(Traffic::bill(price, 600 * kGb) == 50'000'000);
    CHECK(Traffic::bill(price, 2000 * kGb) == 140'000'000);  // 90 + 50
    CHECK(Traffic::lowest_paid_rate(price, 1000 * kGb) == 100'000);
    CHECK(Traffic::lowest_paid_rate(price, 1001 * kGb) == 50'000);
    CHECK(Traffic::lowest_paid_rate(price, 100 * kGb) == 0);
  }
}

TEST_SUITE("place/bound") {
  TEST_CASE("whatever the prices, they prove no more than a plan costs") {
    plan::Plan plan = honest_plan();
    const scenarios::Scenario scenario = small_question();
    const Facts facts(plan, scenario, world());
    Rng rng(3);

    for (int trial = 0; trial < 40; ++trial) {
      const double level = rng.uniform() * 200;
      for (auto& price : *plan.mutable_certificate()->mutable_prices()) {
        for (int b = 0; b < price.usd_micro_size(); ++b) {
          const std::int64_t load =
              price.metro().empty()
                  ? 1'000'000
                  : facts.demand
                        .populations[*facts.population(price.demand(), price.metro())]
                        .load[static_cast<std::size_t>(b)]
                        .count();
          price.set_usd_micro(b, static_cast<std::int64_t>(level * rng.uniform() *
                                                           static_cast<double>(load)));
        }
      }
      plan.mutable_certificate()->mutable_rows(0)->set_multiplier(
          static_cast<std::int64_t>(rng.below(400'000)));
      Faults faults;
      const auto proven = proven_bound(facts, faults);
      REQUIRE(proven.has_value());
      CHECK(*proven <= plan.totals().objective_usd_micro());
    }
  }

  TEST_CASE("without prices nothing is proven but bonuses and free tiers") {
    plan::Plan plan = honest_plan();
    plan.clear_certificate();
    const scenarios::Scenario scenario = small_question();
    const Facts facts(plan, scenario, world());
    Faults faults;

    CHECK(proven_bound(facts, faults).value() <= 0);
  }
}

}  // namespace
}  // namespace isochrone::verify
