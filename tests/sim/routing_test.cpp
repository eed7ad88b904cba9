#include "sim/routing.h"

#include <cmath>
#include <map>

#include <doctest/doctest.h>

namespace isochrone::sim {
namespace {

// A replica for one request at a time; a token takes 1 ms, and so does the prompt.
PoolKind server() {
  PoolKind kind;
  kind.batching = BatchingEngine{};
  kind.batching->step = {.t0 = 1'000'000'000, .t0_prefill = 1'000'000'000};
  kind.batching->kv_blocks = 10'000;
  kind.max_num_seqs = 1;
  return kind;
}

double mean_wait_ms(Routing routing, std::int64_t age_ns, std::int64_t replicas = 20) {
  RoutedRun run(server(), replicas, routing, age_ns, 3);
  Rng rng(11);
  double now = 0;
  constexpr std::uint64_t kRequests = 100'000;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    now += rng.exponential() * 100e6 / (0.8 * static_cast<double>(replicas));
    const double length = std::max(1.0, std::round(rng.exponential() * 100));
    run.offer(
        {i, static_cast<std::int64_t>(now), {1, static_cast<std::int64_t>(length), 1}});
  }
  run.finish();
  CHECK(run.finished().size() == kRequests);
  double wait = 0;
  for (const Outcome& outcome : run.finished()) {
    wait += static_cast<double>(outcome.assigned_ns - outcome.arrival_ns) / 1e6;
  }
  return wait / kRequests;
}

TEST_SUITE("sim/routing") {
  TEST_CASE("round robin deals in turn") {
    RoutedRun run(server(), 3, Routing::kRoundRobin, 0, 1);
    for (std::uint64_t i = 0; i < 6; ++i) run.offer({i, 0, {1, 2, 1}});
    run.finish();

    std::map<std::uint64_t, std::int64_t> begin;
    for (const Outcome& o : run.finished()) begin[o.tag] = o.assigned_ns;
    CHECK(begin[2] == 0);          // the first of the third replica
    CHECK(begin[3] == 2'000'000);  // the second of the first one
  }

  // Mitzenmacher 2001: with d = 2 choices and exponential service of mean 1 the mean
  // time in a large system is sum over i of rho^(2^i - 2): rho = .8: 1 + .64 + .8^6 +
  // .8^14 + .8^30 = 1 + .64 + .262 + .044 + .001 = 1.947, so waits of .947 services;
  // one choice waits rho / (1 - rho) = 4. 200 replicas are not infinitely many: 5 %.
  TEST_CASE("two choices wait as Mitzenmacher says") {
    CHECK(mean_wait_ms(Routing::kPowerOfTwo, 0, 200) ==
          doctest::Approx(94.7).epsilon(0.05));
  }

  TEST_CASE("fresh loads help, and stale ones herd") {
    const double fresh = mean_wait_ms(Routing::kLeastLoaded, 0);
    const double two = mean_wait_ms(Routing::kPowerOfTwo, 0);
    const double stale = mean_wait_ms(Routing::kLeastLoaded, 500'000'000);
    const double stale_two = mean_wait_ms(Routing::kPowerOfTwo, 500'000'000);

    CHECK(fresh < two);
    CHECK(two < mean_wait_ms(Routing::kRoundRobin, 0));
    // Everybody is sent to what was the emptiest half a second ago.
    CHECK(stale > 10 * fresh);
    CHECK(stale_two < stale / 2);
  }

  TEST_CASE("a routing that cannot be is refused by name") {
    CHECK_THROWS_WITH(RoutedRun(server(), 0, Routing::kRoundRobin, 0, 1),
                      "a pool has at least one replica");
    CHECK_THROWS_WITH(RoutedRun(server(), 1, Routing::kRoundRobin, -1, 1),
                      "loads are not known ahead of time");
  }
}

}  // namespace
}  // namespace isochrone::sim
