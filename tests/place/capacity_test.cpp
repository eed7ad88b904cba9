#include <algorithm>
#include <cmath>
#include <queue>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "base/rng.h"
#include "place/planner/tables.h"
#include "place/planner/wait_curve.h"

namespace isochrone::place {
namespace {

using scenarios::Modulation;

const std::vector<double> kOneSlot{1};
constexpr double kShare = 0.04;

double load(const std::vector<double>& occupancy, const std::vector<double>& residence,
            std::int64_t slots, std::int64_t n, double budget_s,
            const Modulation& modulation = {}) {
  return to_rps(
      carried_load(occupancy, residence, slots, n, budget_s, kShare, modulation));
}

/// P(wait > t) in M/M/c, from the Erlang B recursion.
double erlang_wait(std::int64_t servers, double service_s, double rate, double t) {
  const double offered = rate * service_s;
  double blocked = 1;
  for (std::int64_t k = 1; k <= servers; ++k) {
    blocked = offered * blocked / (static_cast<double>(k) + offered * blocked);
  }
  const double busy = offered / static_cast<double>(servers);
  const double waits = blocked / (1 - busy * (1 - blocked));
  return waits * std::exp(-(static_cast<double>(servers) / service_s - rate) * t);
}

double erlang_load(std::int64_t servers, double service_s, double t) {
  double low = 0, high = static_cast<double>(servers) / service_s;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (erlang_wait(servers, service_s, middle, t) <= kShare ? low : high) = middle;
  }
  return low;
}

/// Share of requests that wait beyond `budget_s` in M/M/c with a Gamma-modulated rate,
/// by simulating every request: the oracle of the two-scale model.
double simulated_share(int servers, double service_s, double mean_rate,
                       const Modulation& modulation, double budget_s, int epochs) {
  Rng rng(7);
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (int i = 0; i < servers; ++i) free_at.push(0);
  std::int64_t requests = 0, late = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const double rate = mean_rate * rng.gamma(modulation.shape, 1 / modulation.shape);
    const double end = (epoch + 1) * modulation.correlation_s;
    double now = epoch * modulation.correlation_s;
    while ((now += rng.exponential() / rate) < end) {
      const double start = std::max(now, free_at.top());
      free_at.pop();
      free_at.push(start + service_s * rng.exponential());
      ++requests;
      if (start - now > budget_s) ++late;
    }
  }
  return static_cast<double>(late) / static_cast<double>(requests);
}

TEST_SUITE("place/capacity") {
  // M/M/1: P(wait > 0) = rho, so 4 % waiting means 0.04 of a rate of 1.
  TEST_CASE("a single slot without a budget carries the share that may wait") {
    CHECK(load(kOneSlot, {1}, 1, 1, 0) == doctest::Approx(0.04).epsilon(0.001));
  }

  TEST_CASE("with one residence at every occupancy capacity is Erlang's") {
    for (const std::int64_t n : {1, 2, 8, 64}) {
      for (const std::int64_t slots : {1, 8, 60}) {
        for (const double budget : {0.005, 0.32}) {
          CHECK(load(kOneSlot, {0.9}, slots, n, budget) ==
                doctest::Approx(erlang_load(n * slots, 0.9, budget)).epsilon(0.01));
        }
      }
    }
  }

  // One request leaves after 1 s, two at 2 / 2 s = 1 per second: departures at rate 1
  // whenever anybody is there, so M/M/1 with P(2 or more) = rho^2 = 0.04: rho = 0.2.
  TEST_CASE("residence that grows with the batch is taken at each occupancy") {
    CHECK(load({1, 2}, {1, 2}, 2, 1, 0) == doctest::Approx(0.2).epsilon(0.001));
  }

  TEST_CASE("two replicas carry more than twice what one does") {
    const std::vector<double> occupancy{1, 8, 32}, residence{2, 3, 6};
    double per_replica = 0;
    for (const std::int64_t n : kSupport) {
      const double now =
          load(occupancy, residence, 32, n, 0.02) / static_cast<double>(n);
      CHECK(now > per_replica);
      per_replica = now;
    }
    CHECK(per_replica < 32.0 / 6);
  }

  TEST_CASE("a longer waiting budget and a deeper batch carry more") {
    const std::vector<double> occupancy{1, 8, 32}, residence{2, 3, 6};

    CHECK(load(occupancy, residence, 32, 4, 0.32) >
          load(occupancy, residence, 32, 4, 0.02));
    CHECK(load(occupancy, residence, 32, 4, 0.02) >
          load(occupancy, residence, 16, 4, 0.02));
  }

  TEST_CASE("bursts that last lower what a pool carries") {
    const Modulation burst{5, 600};

    CHECK(load(kOneSlot, {1}, 8, 8, 0.08, burst) <
          0.7 * load(kOneSlot, {1}, 8, 8, 0.08));
  }

  // In a huge pool only epochs above the full rate miss. They hold the share of
  // requests that a size-biased Gamma, of shape 5 + 1 and mean 6 / 5, has above mu /
  // lambda. 4 % lie above half the 96 % point of chi-square with 12 degrees of freedom,
  // 21.8, over 5: 2.18. Backlogs make it a little worse.
  TEST_CASE("in a huge pool the tail of the modulated rate sets the load") {
    const double full_rate = 64 * 64;

    const double carried = load(kOneSlot, {1}, 64, 64, 0.02, Modulation{5, 600});

    CHECK(carried < full_rate / 2.18);
    CHECK(carried > full_rate / 2.6);
  }

  TEST_CASE("simulated request by request the bursty pool keeps its promise") {
    const Modulation burst{5, 120};
    const double carried = load(kOneSlot, {1}, 4, 2, 0.5, burst);

    const double share = simulated_share(8, 1, carried, burst, 0.5, 4000);

    // The steady state inside an epoch overstates the wait that builds up in it.
    CHECK(share < 1.15 * kShare);
    CHECK(share > 0.6 * kShare);
  }

  TEST_CASE("the share of late requests rises with the load") {
    const WaitCurve curve(kOneSlot, std::vector<double>{1}, 8, 2);
    const WaitGrid grid(curve);
    const RateEpochs epochs(Modulation{5, 600});
    double before = 0;
    for (double rate = 1; rate < 16; ++rate) {
      const double now = epochs.wait_share(grid, rate, 0.02);
      CHECK(now >= before);
      before = now;
    }
  }

  TEST_CASE("the grid of a curve agrees with the curve") {
    const WaitCurve curve(std::vector<double>{1, 32}, std::vector<double>{1, 4}, 32, 4);
    const WaitGrid grid(curve);
    for (double share = 0.5; share < 1; share += 0.007) {
      const double rate = share * curve.full_rate();
      CHECK(grid.wait_share(rate, 0.02) ==
            doctest::Approx(curve.wait_share(rate, 0.02)).epsilon(0.02));
    }
  }

  TEST_CASE("tables that make no sense are refused") {
    CHECK_THROWS_AS(WaitCurve({}, {}, 1, 1), std::invalid_argument);
    CHECK_THROWS_AS(WaitCurve(kOneSlot, kOneSlot, 0, 1), std::invalid_argument);
    CHECK_THROWS_AS(WaitCurve(kOneSlot, std::vector<double>{0}, 1, 1),
                    std::invalid_argument);
  }

  LevelTable level_with(std::vector<std::int64_t> capacity) {
    LevelTable level;
    for (const std::int64_t one : capacity) {
      level.capacity.push_back(MicroRps::of(one));
    }
    level.degraded_capacity = level.capacity;
    return level;
  }

  // A(n)/n at 2 and 4 is 15 and 20, so 17.5 at 3: 52.5, rounded down.
  TEST_CASE("between support points capacity per replica is linear in n") {
    const LevelTable level = level_with({10, 30, 80, 160, 320, 640, 1280});

    CHECK(level.carries(0).count() == 0);
    CHECK(level.carries(2).count() == 30);
    CHECK(level.carries(3).count() == 52);
    CHECK(level.carries(4).count() == 80);
    CHECK(level.degraded_carries(3).count() == 52);
  }

  // 8 replicas are said to carry 100, less per replica than the 20 of 4: taken as 160.
  TEST_CASE("capacity per replica never falls, and stays beyond the last point") {
    const LevelTable level = level_with({10, 30, 80, 100, 320, 640, 1280});

    CHECK(level.carries(8).count() == 160);
    CHECK(level.carries(6).count() == 120);
    CHECK(level.carries(100).count() == 2000);
  }
}

}  // namespace
}  // namespace isochrone::place
