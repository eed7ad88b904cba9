#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/rng.h"
#include "sim/pool.h"
#include "tests/sim/reference.h"

namespace isochrone::sim {
namespace {

PoolKind small_kind() {
  PoolKind kind;
  kind.batching = BatchingEngine{};
  kind.batching->step = {.t0 = 10'000'000,
                         .b = 100'000,
                         .c = 1'000,
                         .t0_prefill = 12'000'000,
                         .a = 50'000,
                         .f = 2'000'000,
                         .b_prefill = 200'000,
                         .c_prefill = 2'000,
                         .d = 10};
  kind.batching->kv_blocks = 1000;
  kind.batching->chunk_tokens = 512;
  kind.max_num_seqs = 4;
  return kind;
}

std::vector<Outcome> run(const PoolKind& kind, std::int64_t replicas,
                         const std::vector<Request>& requests) {
  PoolRun pool(kind, replicas);
  for (const Request& request : requests) pool.offer(request);
  while (pool.run_next()) {
  }
  std::vector<Outcome> outcomes = pool.finished();
  std::sort(outcomes.begin(), outcomes.end(),
            [](const Outcome& a, const Outcome& b) { return a.tag < b.tag; });
  return outcomes;
}

std::string to_text(const Outcome& outcome) {
  return fmt::format("#{} {} {} {} {} n={} p={}", outcome.tag, outcome.arrival_ns,
                     outcome.assigned_ns, outcome.first_ns, outcome.last_ns,
                     outcome.answer, outcome.preempted);
}

// A kind whose steps last a few ns, so that arrivals and boundaries often coincide, and
// whose KV, chunk budget and batch are tight.
PoolKind random_kind(Rng& rng) {
  const auto up_to = [&](std::uint64_t bound) {
    return static_cast<std::int64_t>(rng.below(bound));
  };
  PoolKind kind;
  kind.batching = BatchingEngine{};
  kind.batching->step = {.t0 = 1 + up_to(4000),
                         .b = up_to(300),
                         .c = up_to(30),
                         .t0_prefill = 1 + up_to(4000),
                         .a = up_to(200),
                         .f = up_to(2000),
                         .b_prefill = up_to(300),
                         .c_prefill = up_to(50),
                         .d = up_to(7)};
  if (rng.below(4) == 0) kind.batching->step = {.t0 = 1000, .t0_prefill = 1000};
  kind.max_num_seqs = 1 + up_to(7);
  kind.batching->kv_block_tokens = 1 + up_to(16);
  kind.batching->kv_blocks = 10 + up_to(40);
  kind.batching->chunk_tokens = kind.max_num_seqs + up_to(40);
  kind.batching->plans_ahead = rng.below(2) == 0;
  kind.batching->reserves_prompt = rng.below(2) == 0;
  kind.batching->keeps_blocks = rng.below(2) == 0;
  kind.prefix_hit_share = rng.below(2) == 0 ? 0 : rng.uniform();
  return kind;
}

std::vector<Request> random_requests(const PoolKind& kind, Rng& rng) {
  const std::int64_t room = kind.batching->kv_blocks * kind.batching->kv_block_tokens;
  const std::uint64_t gap = 1 + rng.below(60);
  std::vector<Request> requests(10 + rng.below(50));
  std::int64_t now = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    now += static_cast<std::int64_t>(rng.below(gap));
    Work work;
    work.prompt =
        std::min<std::int64_t>(1 + static_cast<std::int64_t>(rng.below(60)), room - 1);
    work.answer = std::min<std::int64_t>(1 + static_cast<std::int64_t>(rng.below(80)),
                                         room - work.prompt);
    if (rng.below(3) == 0) {
      work.cached = static_cast<std::int64_t>(rng.below(70));
      work.handed_over = rng.below(2) == 0;
    }
    requests[i] = {i, now, work};
  }
  return requests;
}

TEST_SUITE("sim/engine") {
  // Prompt 1000, budget 512, answer 4, alone; all in picoseconds.
  // Chunk 1: 512 tokens without history: max(12'000'000, 50'000*512 + 2'000'000) =
  // 27'600'000, and area 512*256 = 131'072 at 10 each: 28'910'720.
  // Chunk 2: 488 tokens after 512: 50'000*488 + 2'000'000 = 26'400'000, and area
  // 488*(512 + 244) = 368'928 at 10 each: 30'089'280. First token at 59'000'000.
  // Three decodes with KV 1000, 1001, 1002: 3*(10'000'000 + 100'000) + 1'000*3003 =
  // 33'303'000. Last token at 92'303'000.
  TEST_CASE("one request alone takes its chunks and its decode series") {
    const auto outcomes = run(small_kind(), 1, {{7, 100, {1000, 4, 1}}});

    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0].assigned_ns == 100);
    CHECK(outcomes[0].first_ns == 100 + 59'000);
    CHECK(outcomes[0].last_ns == 100 + 92'303);
  }

  // The second arrives during the first one's decode: at 100'000'000 ps the first is in
  // its 9th decode step. Prefill of 100: max(12, 7) = 12 us. Steps of the first:
  // prefill 12'000'000 + 10*5000 = 12'050'000, then decode i (i = 0..) takes 10'100'000
  // + 1'000*(100 + i). Boundaries: 12'050'000 + 10'200'000*n + 500*n*(n-1); n = 8:
  // 93'678'000, n = 9: 103'886'000. There the mixed step begins: 101 tokens:
  // max(12'000, 50*101 + 2'000 = 7'050)k = 12'000'000, + b' 200'000 + c' 2'000*109 +
  // area 50'000. It ends at 103'886'000 + 12'468'000 = 116'354'000.
  TEST_CASE("an arrival joins at the first step boundary after it") {
    const auto outcomes =
        run(small_kind(), 1, {{0, 0, {100, 50, 1}}, {1, 100'000, {100, 1, 1}}});

    CHECK(outcomes[1].assigned_ns == 100'000);
    CHECK(outcomes[1].first_ns == 116'354);
    CHECK(outcomes[1].last_ns == 116'354);
  }

  TEST_CASE("jumping equals stepping bit for bit on random workloads") {
    Rng root(2024);
    std::size_t preempted = 0;
    for (std::uint64_t trial = 0; trial < 2500; ++trial) {
      Rng rng = root.stream("trial", trial);
      const PoolKind kind = random_kind(rng);
      const auto requests = random_requests(kind, rng);
      const auto replicas = static_cast<std::int64_t>(1 + rng.below(3));

      const auto jumped = run(kind, replicas, requests);
      const auto stepped = reference_outcomes(kind, replicas, requests);

      CAPTURE(trial);
      REQUIRE(jumped.size() == requests.size());
      for (std::size_t i = 0; i < jumped.size(); ++i) {
        REQUIRE(to_text(jumped[i]) == to_text(stepped[i]));
        if (jumped[i].preempted) ++preempted;
      }
    }
    CHECK(preempted > 6000);  // else the trials would not have tried it
  }

  // Two requests of 16 + 33 tokens need 4 blocks of 16 each at their end; 5 are there.
  // The second to come must give way once, the first never.
  TEST_CASE("when kv runs out the last admitted request is recomputed") {
    PoolKind kind = small_kind();
    kind.batching->kv_blocks = 5;
    const auto outcomes = run(kind, 1, {{0, 0, {16, 34, 1}}, {1, 0, {16, 34, 1}}});

    CHECK_FALSE(outcomes[0].preempted);
    CHECK(outcomes[1].preempted);
    CHECK(outcomes[1].last_ns > outcomes[0].last_ns);
  }

  TEST_CASE("a queued request takes the first slot that becomes free") {
    PoolKind kind = small_kind();
    kind.max_num_seqs = 1;
    const auto outcomes =
        run(kind, 2, {{0, 0, {10, 40, 1}}, {1, 0, {10, 5, 1}}, {2, 1, {10, 5, 1}}});

    CHECK(outcomes[2].assigned_ns == outcomes[1].last_ns);
  }

  TEST_CASE("an impossible pool kind is refused by name") {
    PoolKind kind = small_kind();
    kind.slots = SlotEngine{};
    CHECK_THROWS_WITH(PoolRun(kind, 1), "a pool kind has exactly one engine");
    kind.slots.reset();
    CHECK_THROWS_WITH(PoolRun(kind, 0), "a pool has at least one replica");
    kind.batching->chunk_tokens = 3;
    CHECK_THROWS_WITH(PoolRun(kind, 1),
                      "the chunk budget is below the number of sequences");
  }
}

}  // namespace
}  // namespace isochrone::sim
