#include "sim/blame.h"

#include <doctest/doctest.h>

#include "sim/pool.h"

namespace isochrone::sim {
namespace {

using namespace std::chrono_literals;

// Ten milliseconds a step, 0.1 ms a prompt token, 1 us a cached token, 512 tokens a
// step, half of the prompt from cache. No last mile but the median jitter of
// 0.6 ln 2 = .415888 ms.
Pool slow_pool() {
  Pool pool;
  pool.kind.batching = BatchingEngine{};
  pool.kind.batching->step = {.t0 = 10'000'000'000,
                              .c = 1'000'000,
                              .t0_prefill = 10'000'000'000,
                              .a = 100'000'000};
  pool.kind.batching->kv_blocks = 10'000;
  pool.kind.batching->chunk_tokens = 512;
  pool.kind.prefix_hit_share = 0.5;
  pool.front_end = 20ms;
  return pool;
}

Stream near() {
  Stream stream;
  stream.rtt = 50ms;
  return stream;
}

// Prompt 2,000: 1,000 tokens to compute in chunks of 512 and 488.
constexpr Work kWork{.prompt = 2000, .answer = 101};

LatencySplit lived(Nanos last_mile, Nanos queue, Nanos prefill, Nanos decode) {
  LatencySplit split;
  split.last_mile = last_mile;
  split.wan = 50ms;
  split.front_end = 20ms;
  split.queue = queue;
  split.prefill = prefill;
  split.decode = decode;
  return split;
}

Culprit of(Objective::Metric metric, Nanos limit, const LatencySplit& split) {
  return culprit_of({metric, 95, limit}, near(), slow_pool(), kWork, split);
}

TEST_SUITE("sim/blame") {
  // 51.2 + 48.8 ms; 100 steps of 10 ms and 2,000 cached tokens, 2 ms, and 1 us more
  // each: 100 * 12 ms + 1 us * 100 * 99 / 2.
  TEST_CASE("a request alone takes its chunks and its steps") {
    const AloneTimes times = alone(slow_pool().kind, kWork);

    CHECK(times.prefill == 100ms);
    CHECK(times.decode == 1'204'950us);
  }

  // A replica that has nobody else is what alone() means: simulated, not restated.
  TEST_CASE("a replica that is idle serves as alone() says") {
    const PoolKind kind = slow_pool().kind;
    PoolRun pool(kind, 1);
    pool.offer({0, 0, kWork});
    while (pool.run_next()) {
    }
    const Outcome outcome = pool.finished().at(0);

    CHECK(Nanos{outcome.first_ns} == alone(kind, kWork).prefill);
    CHECK(Nanos{outcome.last_ns - outcome.first_ns} == alone(kind, kWork).decode);
  }

  // Alone: 50.4 ms of path, 20 of front end, 100 of prefill: 170 of 300 ms.
  TEST_CASE("a late request is charged to what took most beyond its lonely life") {
    const auto ttft = Objective::Metric::kTtft;

    CHECK(of(ttft, 300ms, lived(5ms, 100ms, 150ms, 2s)) == Culprit::kQueue);
    CHECK(of(ttft, 300ms, lived(5ms, 40ms, 200ms, 2s)) == Culprit::kPrefill);
    CHECK(of(ttft, 300ms, lived(150ms, 40ms, 120ms, 2s)) == Culprit::kNetwork);
    CHECK(of(Objective::Metric::kE2e, 2s, lived(5ms, 40ms, 200ms, 2s)) ==
          Culprit::kDecode);
    CHECK(of(Objective::Metric::kTpot, 15ms, lived(5ms, 900ms, 200ms, 2s)) ==
          Culprit::kDecode);
  }

  TEST_CASE("a request that would be late alone is charged to its longest part") {
    CHECK(of(Objective::Metric::kTtft, 150ms, lived(5ms, 900ms, 150ms, 2s)) ==
          Culprit::kPrefill);
    CHECK(of(Objective::Metric::kE2e, 1s, lived(5ms, 900ms, 150ms, 2s)) ==
          Culprit::kDecode);
  }

  TEST_CASE("slots have no company: what is late there waited") {
    Pool pool;
    pool.kind.slots = SlotEngine{.picos_per_prompt_token = 1'000'000,
                                 .picos_per_token = 20'000'000'000};
    const LatencySplit split = lived(1ms, 30ms, 2ms, 2s);
    const Objective objective{Objective::Metric::kE2e, 95, 2090ms};

    CHECK(culprit_of(objective, near(), pool, kWork, split) == Culprit::kQueue);
  }

  TEST_CASE("who was given up and ended late is charged to what kept him") {
    const PoolKind kind = slow_pool().kind;
    const std::int64_t s = 1'000'000'000;

    CHECK(culprit_of_unfinished(kind, kWork, {0, 0, 590 * s, 591 * s, 605 * s, 101}) ==
          Culprit::kQueue);
    CHECK(culprit_of_unfinished(kind, kWork, {0, 0, 1 * s, 2 * s, 605 * s, 101}) ==
          Culprit::kDecode);
  }
}

}  // namespace
}  // namespace isochrone::sim
