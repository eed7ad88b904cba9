#include "sim/autoscaler.h"

#include <stdexcept>

#include <doctest/doctest.h>

namespace isochrone::sim {
namespace {

using By = Autoscaler::By;

constexpr std::int64_t kSecond = 1'000'000'000;

Autoscaler rule(By by, double target) {
  Autoscaler rule;
  rule.by = by;
  rule.target = target;
  rule.least = 1;
  rule.most = 10;
  return rule;
}

TEST_SUITE("sim/autoscaler") {
  // 25 requests a second at 10 each: 3. 33 in the system at 8 each: 5.
  TEST_CASE("rates and concurrency ask for their share, rounded up") {
    CHECK(Scaler(rule(By::kRps, 10)).look({.rps = 25}, 0) == 3);
    CHECK(Scaler(rule(By::kConcurrency, 8)).look({.in_system = 33}, 0) == 5);
    CHECK(Scaler(rule(By::kRps, 10)).look({.rps = 1e6}, 0) == 10);
    CHECK(Scaler(rule(By::kRps, 10)).look({}, 0) == 1);
  }

  // 4 up, 0.6 s where 0.5 is wanted: 4.8, so 5; 0.54 s is within a tenth; 5 s asks for
  // 40, but a look at most doubles.
  TEST_CASE("time to first token asks in proportion to its excess") {
    const Autoscaler by_ttft = rule(By::kTtft, 0.5);

    CHECK(Scaler(by_ttft).look({.up = 4, .ttft_p95_s = 0.6}, 0) == 5);
    CHECK(Scaler(by_ttft).look({.up = 4, .ttft_p95_s = 0.54}, 0) == 4);
    CHECK(Scaler(by_ttft).look({.up = 4, .ttft_p95_s = 5}, 0) == 8);
    CHECK(Scaler(by_ttft).look({.in_system = 3, .up = 4}, 0) == 4);
  }

  TEST_CASE("more comes at once, fewer only when nobody asked for more of late") {
    Scaler scaler(rule(By::kRps, 10));  // calm: 300 s

    CHECK(scaler.look({.rps = 40}, 0) == 4);
    CHECK(scaler.look({.rps = 70}, 15 * kSecond) == 7);
    CHECK(scaler.look({.rps = 20}, 30 * kSecond) == 7);
    CHECK(scaler.look({.rps = 30}, 200 * kSecond) == 7);
    CHECK(scaler.look({.rps = 10}, 315 * kSecond) == 7);
    CHECK(scaler.look({.rps = 10}, 316 * kSecond) == 3);
    CHECK(scaler.look({.rps = 10}, 501 * kSecond) == 1);
  }

  TEST_CASE("a scale to nothing wakes up for whoever waits") {
    Autoscaler to_zero = rule(By::kRps, 10);
    to_zero.least = 0;
    to_zero.calm = Nanos{0};
    Scaler scaler(to_zero);

    CHECK(scaler.look({}, 0) == 0);
    CHECK(scaler.look({.in_system = 1}, kSecond) == 1);
  }

  TEST_CASE("rules that cannot be followed are refused") {
    Autoscaler none = rule(By::kRps, 0);
    CHECK_THROWS_WITH_AS(Scaler{none}, "an autoscaler needs a positive target",
                         std::invalid_argument);
    Autoscaler crossed = rule(By::kRps, 1);
    crossed.least = 11;
    CHECK_THROWS_WITH_AS(Scaler{crossed},
                         "an autoscaler keeps 0 <= least <= most replicas",
                         std::invalid_argument);
    Autoscaler blind = rule(By::kRps, 1);
    blind.interval = Nanos{0};
    CHECK_THROWS_WITH_AS(Scaler{blind}, "an autoscaler looks at positive intervals",
                         std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::sim
