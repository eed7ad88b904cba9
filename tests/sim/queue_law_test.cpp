#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/rng.h"
#include "sim/pool.h"
#include "sim/simulate.h"
#include "tests/sim/queues.h"

namespace isochrone::sim {
namespace {

struct Means {
  double wait_s = 0;
  double in_system = 0;  // time average
  double sojourn_s = 0;
};

Means means_of(const PoolKind& kind, double rate, std::uint64_t requests,
               std::uint64_t seed) {
  Means means;
  const double end =
      run_poisson(kind, 1, rate, requests, seed, [&](const Outcome& outcome) {
        means.wait_s += wait_s(outcome);
        means.sojourn_s += sojourn_s(outcome);
      });
  means.in_system = means.sojourn_s / end;
  means.wait_s /= static_cast<double>(requests);
  means.sojourn_s /= static_cast<double>(requests);
  return means;
}

TEST_SUITE("sim/queue law") {
  // M/M/1 at 80 %: W = rho / (1 - rho) * E[S] = 4 s. The asymptotic standard error of
  // the mean of n waits is about sqrt((2 + 5r - 4r^2 + r^3) r / (1-r)^4 / n) (Whitt
  // 1989): r = .8, n = 5e5: sqrt(3.952 * .8 / .0016 / 5e5) = .063; three of them: .19.
  TEST_CASE("the mean wait of M/M/1 is that of theory") {
    const Means means = means_of(servers(exponential_law(1e9), 1), 0.8, 500000, 5);

    CHECK(means.wait_s == doctest::Approx(4.0).epsilon(0.19 / 4));
  }

  // M/D/1 waits half as long as M/M/1 (Pollaczek and Khinchine): 2 s.
  TEST_CASE("the mean wait of M/D/1 is half of that") {
    const Means means =
        means_of(servers(IntegerLaw::constant(1'000'000'000), 1), 0.8, 500000, 6);

    CHECK(means.wait_s == doctest::Approx(2.0).epsilon(0.04));
  }

  // M/M/5 at offered load 4: Erlang C = .5541, W = C / (5 - 4) s = .554 s.
  TEST_CASE("the mean wait of M/M/5 follows Erlang C") {
    const Means means = means_of(servers(exponential_law(1e9), 5), 4, 500000, 7);

    CHECK(means.wait_s == doctest::Approx(0.5541).epsilon(0.05));
  }

  // Little: L = lambda * T, the rate being the realised one.
  TEST_CASE("requests in the system are rate times sojourn") {
    const Means means = means_of(servers(exponential_law(1e9), 5), 4, 200000, 8);

    CHECK(means.in_system == doctest::Approx(4 * means.sojourn_s).epsilon(0.01));
  }

  // M/M/5 at load 4: P(W > t) = C * exp(-(5 - 4) t), at t = 1 s .5541 * .3679 = .2038.
  // Of 20 intervals at 95 % at least 16 must hold it (P(fewer) = .0003).
  TEST_CASE("intervals of the wait hold the truth of M/M/5") {
    const PoolKind kind = servers(exponential_law(1e9), 5);
    int held = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const WaitShare share = measure_wait(kind, 1, requests_per_second(4), {},
                                           std::chrono::seconds{1}, 100000, seed);
      held += std::abs(share.share - 0.2038) <= share.half_width ? 1 : 0;
      CHECK(share.half_width < 0.05);
    }

    CHECK(held >= 16);
  }

  // A pool so large and fast that its own queue vanishes beside the fluid: 200 slots of
  // 10 ms, capacity 20,000 rps, mean load 14,000 rps, multiplier of shape 5.5 over 20
  // s. A backlog of more than 1 s means that the fluid is late by that much. The same
  // share from an independent walk of the fluid with 4 million epochs.
  TEST_CASE("waits under bursts follow the fluid where the pool is large") {
    const PoolKind kind = servers(IntegerLaw::constant(10'000'000), 200);
    const double shape = 5.5;
    Rng rng(77);
    double backlog = 0;
    double arrived = 0;
    double late = 0;
    for (int epoch = 0; epoch < 300000; ++epoch) {
      const double rate = 14000 * rng.gamma(shape, 1 / shape);
      // Time within the epoch that begins with more than 1 s of backlog.
      const double slope = rate - 20000;
      const double end = std::max(0.0, backlog + slope * 20);
      double above = 0;
      if (backlog > 20000 && end > 20000) {
        above = 20;
      } else if (backlog > 20000) {
        above = (backlog - 20000) / -slope;
      } else if (end > 20000) {
        above = (end - 20000) / slope;
      }
      arrived += rate * 20;
      late += rate * above;
      backlog = end;
    }
    const double truth = late / arrived;

    const WaitShare share =
        measure_wait(kind, 1, requests_per_second(14000), {shape, 20},
                     std::chrono::seconds{1}, 1000000, 1);
    CHECK(truth > 0.1);
    CHECK(share.share == doctest::Approx(truth).epsilon(0.1));
    CHECK(std::abs(share.share - truth) <= share.half_width + 0.01);
  }
}

}  // namespace
}  // namespace isochrone::sim
