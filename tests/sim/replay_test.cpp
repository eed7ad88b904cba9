#include "sim/replay.h"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/calibrate.h"
#include "sim/descent.h"
#include "sim/load_test.h"

namespace isochrone::sim {
namespace {

// Decode steps of 10 ms, prefill steps of 20 ms, whatever they hold.
PoolKind flat_kind() {
  PoolKind kind;
  kind.batching = BatchingEngine{};
  kind.batching->step = {.t0 = 10'000'000'000, .t0_prefill = 20'000'000'000};
  kind.batching->kv_blocks = 1000;
  kind.batching->chunk_tokens = 512;
  kind.max_num_seqs = 4;
  return kind;
}

TEST_SUITE("sim/replay") {
  // One request of 100 tokens in and 3 out: 20 ms to the first token, 10 ms for each
  // further one. The second comes 1 s later and finds the replica empty.
  TEST_CASE("a replay lives through the arrivals of a log") {
    RequestLog log;
    log.measured = true;
    log.requests = {{0, 100, 3, {}, 25'000'000, 50'000'000},
                    {1'000'000'000, 100, 3, {}, 1'025'000'000, 1'050'000'000}};
    const auto outcomes = replay(flat_kind(), 1, log.requests);
    const auto pairs = compare(log, outcomes, 5, 0, 1);

    REQUIRE(pairs.size() == 3);
    CHECK(summarise(pairs[0].simulated_ms).mean ==
          doctest::Approx(25));  // with 5 ahead
    CHECK(summarise(pairs[1].simulated_ms).mean == doctest::Approx(10));
    CHECK(summarise(pairs[2].simulated_ms).mean == doctest::Approx(45));
    CHECK(summarise(pairs[0].measured_ms).mean == doctest::Approx(25));
    CHECK(summarise(pairs[1].measured_ms).mean == doctest::Approx(12.5));
  }

  TEST_CASE("only the wanted share of a log is compared") {
    RequestLog log;
    for (std::int64_t i = 0; i < 10; ++i) {
      log.requests.push_back({i * 1'000'000'000, 10, i < 5 ? 2 : 4, {}, 0, 0});
    }
    const auto outcomes = replay(flat_kind(), 1, log.requests);
    const auto second = compare(log, outcomes, 0, 0.5, 1);

    CHECK(second[0].measured_ms.empty());  // a trace
    REQUIRE(second[2].simulated_ms.size() == 5);
    CHECK(second[2].simulated_ms[0] == doctest::Approx(20 + 3 * 10));
  }

  // Ranks 0 .. 4: p50 is rank 2, p90 lies at rank 3.6, p99 at 3.96.
  TEST_CASE("quantiles interpolate between ranks") {
    const LatencySummary summary = summarise({50, 10, 40, 20, 30});

    CHECK(summary.mean == doctest::Approx(30));
    CHECK(summary.p50 == doctest::Approx(30));
    CHECK(summary.p90 == doctest::Approx(46));
    CHECK(summary.p99 == doctest::Approx(49.6));
  }

  // A busy replica that plans ahead takes a newcomer one step later: the second request
  // comes in the first one's second decode step (30 .. 40 ms), would join at 40, joins
  // at 50 and has its token 20 ms later.
  TEST_CASE("planning ahead delays who comes to a busy replica by one step") {
    const std::vector<LoggedRequest> requests = {{0, 100, 50, {}, 0, 0},
                                                 {35'000'000, 100, 1, {}, 0, 0}};
    PoolKind kind = flat_kind();
    CHECK(replay(kind, 1, requests)[1].first_ns == 60'000'000);
    kind.batching->plans_ahead = true;
    CHECK(replay(kind, 1, requests)[1].first_ns == 70'000'000);
    CHECK(replay(kind, 1, requests)[0].first_ns == 20'000'000);
  }

  // The log of an engine that decodes in 12 ms and a little per sequence, and reads 50
  // tokens a ms; the fit starts from coefficients that are a third too small.
  TEST_CASE("calibration finds an engine again that made the log itself") {
    ReplayedEngine truth{flat_kind(), 0};
    truth.kind.max_num_seqs = 32;
    truth.kind.batching->step = {.t0 = 12'000'000'000,
                                 .b = 60'000'000,
                                 .c = 100'000,
                                 .t0_prefill = 14'000'000'000,
                                 .a = 20'000'000,
                                 .f = 2'000'000'000,
                                 .b_prefill = 60'000'000,
                                 .c_prefill = 150'000,
                                 .d = 1000};
    RequestLog log;
    log.measured = log.engine_clock = true;
    for (std::int64_t i = 0; i < 400; ++i) {
      log.requests.push_back(
          {i * 110'000'000, 50 + i * 37 % 600, 20 + i * 53 % 200, {}, 0, 0});
    }
    const auto outcomes = replay(truth.kind, 1, log.requests);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      log.requests[i].first_ns = outcomes[i].first_ns;
      log.requests[i].last_ns = outcomes[i].last_ns;
    }
    ReplayedEngine start = truth;
    for (std::int64_t* coefficient :
         {&start.kind.batching->step.t0, &start.kind.batching->step.b,
          &start.kind.batching->step.c, &start.kind.batching->step.t0_prefill,
          &start.kind.batching->step.a, &start.kind.batching->step.f}) {
      *coefficient = *coefficient * 2 / 3;
    }
    const ReplayedEngine found = calibrate(log, {start}, {}, 0, 0.5);

    CHECK(distance(log, truth, 0, 1) == 0);
    CHECK(std::sqrt(distance(log, start, 0.5, 1)) > 0.1);
    CHECK(std::sqrt(distance(log, found, 0.5, 1)) < 0.01);  // on the half not fitted
  }

  // Alone: the first token takes 7 + 20 ms, all others 10 ms.
  TEST_CASE("a load test of one client has the latency of an empty replica") {
    const LoadTestResult result = run_load_test(flat_kind(), {100, 50, 1}, 7);

    CHECK(result.ttft_ms == doctest::Approx(27));
    CHECK(result.tpot_ms == doctest::Approx(10));
  }

  TEST_CASE("a compass search finds the bottom of a bowl") {
    Descent descent;
    descent.directions = {{{0}, {}}, {{1}, {}}, {{0}, {1}}};
    const Minimum minimum = minimise(descent, {1, 1}, [](const std::vector<double>& x) {
      return std::pow(std::log(x[0] / 3), 2) + std::pow(std::log(x[1] * 5), 2);
    });

    CHECK(minimum.at[0] == doctest::Approx(3).epsilon(0.005));
    CHECK(minimum.at[1] == doctest::Approx(0.2).epsilon(0.005));
  }
}

}  // namespace
}  // namespace isochrone::sim
