#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "place/planner/tables.h"

namespace isochrone::place {
namespace {

using namespace std::chrono_literals;
using Metric = sim::Objective::Metric;

const geo::AtomicLaw kNoAccess{{0}, {1}};

/// A level whose every request takes `first` to its first token and `last` to its last,
/// with nothing allowed to wait longer than `budget_ms`.
LevelTable steady_level(Nanos first, Nanos last, double budget_ms = 20) {
  LevelTable level;
  level.wait_budget_ms = level.degraded_wait_budget_ms = budget_ms;
  level.law.first_token.assign(sim::service_grid().size(), first);
  level.law.last_token.assign(sim::service_grid().size(), last);
  level.law.tpot.assign(sim::service_grid().size(), 20ms);
  return level;
}

ServingOption with_front_end(Nanos front_end) {
  ServingOption option;
  option.front_end = front_end;
  return option;
}

std::optional<Micros> reach_ms(const LevelTable& level,
                               std::vector<sim::Objective> objectives,
                               const geo::AtomicLaw& access = kNoAccess,
                               std::int64_t trips = 1, Nanos front_end = 0ms) {
  return reach(level, with_front_end(front_end), objectives, false, access, trips, 0ns);
}

TEST_SUITE("place/reach") {
  // 500 ms less 20 ms of waiting, 25 ms of front end and 100 ms to the first token
  // leave 355 ms for one round trip, or three of 118.333 ms, cut to steps of 10 us.
  TEST_CASE("reach is what the fixed parts leave, divided by the round trips") {
    const LevelTable level = steady_level(100ms, 2s);
    const std::vector<sim::Objective> ttft{{Metric::kTtft, 95, 500ms}};

    CHECK(reach_ms(level, ttft, kNoAccess, 1, 25ms) == Micros(355'000));
    CHECK(reach_ms(level, ttft, kNoAccess, 3, 25ms) == Micros(118'330));
  }

  // Three trips of 150 ms alone are 450 ms.
  TEST_CASE("300 ms over a cold connection at 150 ms RTT is out of reach") {
    const LevelTable level = steady_level(1ms, 2s, 1);

    const auto far = reach_ms(level, {{Metric::kTtft, 95, 300ms}}, kNoAccess, 3);

    REQUIRE(far.has_value());
    CHECK(*far < Micros(150'000));
  }

  TEST_CASE("a level that is too slow on its own reaches nobody") {
    const LevelTable level = steady_level(100ms, 2s);

    CHECK_FALSE(reach_ms(level, {{Metric::kTtft, 95, 119ms}}).has_value());
    CHECK(reach_ms(level, {{Metric::kTtft, 95, 120ms}}) == Micros(0));
  }

  TEST_CASE("the pace decides by itself, at any distance") {
    const LevelTable level = steady_level(100ms, 2s);

    CHECK_FALSE(reach_ms(level, {{Metric::kTpot, 95, 19ms}}).has_value());
    CHECK(reach_ms(level, {{Metric::kTpot, 95, 20ms}}) == kUnlimitedReach);
  }

  TEST_CASE("the tightest of several objectives sets the reach") {
    const LevelTable level = steady_level(100ms, 2s);

    CHECK(reach_ms(level, {{Metric::kTtft, 95, 500ms}, {Metric::kE2e, 95, 2100ms}}) ==
          Micros(80'000));
  }

  // Each law is within its small value with probability 0.96, so each has p95 = small,
  // and 10 + 0 ms would leave 70 ms of 100. But both are small together in 92.16 %.
  TEST_CASE("quantiles are never added") {
    LevelTable level = steady_level(10ms, 10ms);
    for (std::size_t i = 0; i < sim::service_grid().size(); ++i) {
      if (sim::service_grid()[i] > 0.961) level.law.first_token[i] = 400ms;
    }
    const geo::AtomicLaw access{{0, 300}, {0.96, 0.04}};

    CHECK_FALSE(reach_ms(level, {{Metric::kTtft, 95, 100ms}}, access).has_value());
    CHECK(reach_ms(level, {{Metric::kTtft, 92, 100ms}}, access) == Micros(70'000));
  }

  // 0.95 of all must meet it, 0.96 do not wait too long: 0.98958 of those must.
  TEST_CASE("requests that wait beyond the budget count as missed") {
    LevelTable level = steady_level(10ms, 10ms);
    level.wait_share = 0.04;
    const geo::AtomicLaw mostly{{0, 50}, {0.985, 0.015}};
    const geo::AtomicLaw enough{{0, 50}, {0.99, 0.01}};

    CHECK(reach_ms(level, {{Metric::kTtft, 95, 100ms}}, mostly) == Micros(20'000));
    CHECK(reach_ms(level, {{Metric::kTtft, 95, 100ms}}, enough) == Micros(70'000));
  }

  /// A level whose first token takes 40 ms at best, with a long tail.
  LevelTable tailed_level() {
    LevelTable level = steady_level(0ms, 0ms);
    level.wait_share = 0.04;
    for (std::size_t i = 0; i < sim::service_grid().size(); ++i) {
      const double u = std::min(sim::service_grid()[i], 0.9999);
      level.law.first_token[i] = Nanos(std::llround(40e6 - 30e6 * std::log1p(-u)));
    }
    level.law.last_token = level.law.first_token;
    return level;
  }

  geo::AtomicLaw home_access() {
    geo::AccessLaw law;
    law.p50_ms = 8, law.p75_ms = 12, law.p90_ms = 20, law.p95_ms = 30, law.p99_ms = 60;
    return law.atoms_with_jitter();
  }

  /// P(total <= limit) over every pair of cells.
  double by_enumeration(const LevelTable& level, const geo::AtomicLaw& access,
                        double rtt_ms, double limit_ms) {
    double sum = 0;
    for (std::size_t i = 0; i < access.mass.size(); ++i) {
      double below = 0;
      for (std::size_t j = 0; j < sim::service_grid().size(); ++j) {
        const double service =
            static_cast<double>(level.law.first_token[j].count()) / 1e6;
        const double total =
            rtt_ms + access.value_ms[i] + service + level.wait_budget_ms;
        const double mass = sim::service_grid()[j] - below;
        below = sim::service_grid()[j];
        if (total <= limit_ms) sum += access.mass[i] * mass;
      }
    }
    return sum;
  }

  TEST_CASE("the reach is the last step at which every pair of cells adds up") {
    const LevelTable level = tailed_level();
    const geo::AtomicLaw access = home_access();
    const double needed = 0.95 / 0.96;

    const auto far = reach_ms(level, {{Metric::kTtft, 95, 400ms}}, access);

    REQUIRE(far.has_value());
    CHECK(by_enumeration(level, access, to_ms(*far), 400) >= needed - 1e-9);
    CHECK(by_enumeration(level, access, to_ms(*far) + 0.0101, 400) < needed);
  }

  TEST_CASE("a later deadline never shortens the reach") {
    const LevelTable level = tailed_level();
    const geo::AtomicLaw access = home_access();
    Micros before{-1};
    for (Nanos limit = 100ms; limit < 600ms; limit += 25ms) {
      const auto far = reach_ms(level, {{Metric::kTtft, 95, limit}}, access);
      CHECK(far.value_or(Micros(-1)) >= before);
      before = far.value_or(Micros(-1));
    }
    CHECK(before > Micros(300'000));
  }

  TEST_CASE("users with a slower line are reached over a shorter distance") {
    const LevelTable level = tailed_level();
    const std::vector<sim::Objective> ttft{{Metric::kTtft, 95, 400ms}};

    CHECK(*reach_ms(level, ttft, home_access()) < *reach_ms(level, ttft, kNoAccess));
    CHECK(*reach_ms(level, ttft, home_access(), 2) <
          *reach_ms(level, ttft, home_access(), 1));
  }

  TEST_CASE("during a loss the degraded budget counts") {
    LevelTable level = steady_level(100ms, 2s);
    level.degraded_wait_budget_ms = 80;
    const std::vector<sim::Objective> ttft{{Metric::kTtft, 95, 500ms}};

    CHECK(reach(level, with_front_end(0ms), ttft, true, kNoAccess, 1, 0ns) ==
          Micros(320'000));
  }

  TEST_CASE("a request without a round trip is refused") {
    CHECK_THROWS_AS(reach_ms(steady_level(1ms, 1ms), {}, kNoAccess, 0),
                    std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::place
