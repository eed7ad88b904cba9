#include "sim/disaggregation.h"

#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include "base/rng.h"
#include "tests/sim/reference.h"

namespace isochrone::sim {
namespace {

using namespace std::chrono_literals;

// 50 ns a prompt token and no less than 1 us a step, decode steps of 1 us, ten
// sequences at once.
PoolKind simple_kind() {
  PoolKind kind;
  kind.batching = BatchingEngine{};
  kind.batching->step = {.t0 = 1'000'000, .t0_prefill = 1'000'000, .a = 50'000};
  kind.batching->kv_blocks = 100;
  kind.batching->chunk_tokens = 512;
  kind.max_num_seqs = 10;
  return kind;
}

/// Both stages stepped token by token, with the transfer between them.
std::vector<Outcome> stepped(const PoolKind& kind, const Disaggregation& split,
                             std::vector<Request> requests) {
  std::vector<Request> prompts = requests;
  for (Request& request : prompts) request.work.answer = 1;
  std::vector<Outcome> outcomes =
      reference_outcomes(kind, split.prefill_replicas, prompts);
  std::vector<Request> moved;
  for (const Request& request : requests) {
    if (request.work.answer == 1) continue;
    Request later = request;
    later.arrival_ns = outcomes[request.tag].first_ns + split.transfer_start.count() +
                       split.transfer_ps_per_token * request.work.prompt / 1000;
    later.work.cached = later.work.prompt++;
    later.work.answer -= 1;
    later.work.handed_over = true;
    moved.push_back(later);
  }
  std::ranges::stable_sort(moved, {}, &Request::arrival_ns);
  std::vector<std::size_t> tag_of;
  for (Request& request : moved) {
    tag_of.push_back(request.tag);
    request.tag = tag_of.size() - 1;
  }
  const auto rest = reference_outcomes(kind, split.decode_replicas, moved);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    outcomes[tag_of[i]].last_ns = rest[i].last_ns;
    outcomes[tag_of[i]].preempted |= rest[i].preempted;
  }
  return outcomes;
}

TEST_SUITE("sim/disaggregation") {
  // Prompt 100: a step of 5 us. KV arrives 2 + 100 * .03 = 5 us later, at 10. The
  // decode replica takes it in with a step of one token: 1 us, the second token at 11;
  // the third and fourth at 12 and 13. Prompt 200 alone on the other prefill replica.
  TEST_CASE("a request is computed here, moved, and ended there") {
    const Disaggregation split{2, 1, 2us, 30'000};
    const auto outcomes =
        live_disaggregated(simple_kind(), split, {{7, 0, {100, 4}}, {8, 0, {200, 1}}});

    REQUIRE(outcomes.size() == 2);
    CHECK(outcomes[0].tag == 7);
    CHECK(outcomes[0].first_ns == 5'000);
    CHECK(outcomes[0].last_ns == 13'000);
    CHECK(outcomes[0].answer == 4);
    CHECK(outcomes[1].first_ns == 10'000);
    CHECK(outcomes[1].last_ns == 10'000);
  }

  // What a common replica cannot: the prompt of the second does not hold up the first.
  TEST_CASE("a long prompt beside it leaves decoding undisturbed") {
    const Disaggregation split{1, 1, 0us, 0};
    const auto outcomes = live_disaggregated(simple_kind(), split,
                                             {{0, 0, {20, 101}}, {1, 3'000, {500, 2}}});

    CHECK(outcomes[0].first_ns == 1'000);
    CHECK(outcomes[0].last_ns == 101'000);
    CHECK(outcomes[1].first_ns == 28'000);
  }

  TEST_CASE("jumping equals stepping bit for bit through both stages") {
    Rng root(31);
    std::size_t preempted = 0;
    for (std::uint64_t trial = 0; trial < 800; ++trial) {
      Rng rng = root.stream("trial", trial);
      const auto up_to = [&](std::uint64_t bound) {
        return static_cast<std::int64_t>(rng.below(bound));
      };
      PoolKind kind = simple_kind();
      kind.batching->step = {.t0 = 1 + up_to(4000),
                             .b = up_to(300),
                             .c = up_to(30),
                             .t0_prefill = 1 + up_to(4000),
                             .a = up_to(200),
                             .f = up_to(2000)};
      kind.max_num_seqs = 1 + up_to(7);
      kind.batching->kv_block_tokens = 1 + up_to(8);
      kind.batching->kv_blocks = 20 + up_to(40);
      kind.batching->chunk_tokens = kind.max_num_seqs + up_to(40);
      kind.batching->plans_ahead = rng.below(2) == 0;
      kind.batching->keeps_blocks = rng.below(2) == 0;
      const Disaggregation split{1 + up_to(2), 1 + up_to(2), Nanos{up_to(50)},
                                 up_to(900)};
      std::vector<Request> requests;
      std::int64_t now = 0;
      for (std::uint64_t i = 0; i < 40; ++i) {
        now += up_to(30);
        requests.push_back(
            {i, now, fitted(1 + up_to(40), 1 + up_to(40), token_limit(kind))});
      }

      const auto jumped = live_disaggregated(kind, split, requests);
      const auto slow = stepped(kind, split, requests);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        CHECK(jumped[i].assigned_ns == slow[i].assigned_ns);
        CHECK(jumped[i].first_ns == slow[i].first_ns);
        CHECK(jumped[i].last_ns == slow[i].last_ns);
        CHECK(jumped[i].preempted == slow[i].preempted);
        preempted += jumped[i].preempted ? 1U : 0U;
      }
    }
    CHECK(preempted > 500);
  }

  TEST_CASE("both stages need a replica that batches") {
    CHECK_THROWS_WITH_AS(live_disaggregated(simple_kind(), {0, 1, 0us, 0}, {}),
                         "a pool has at least one replica", std::invalid_argument);
    PoolKind slots;
    slots.slots = SlotEngine{};
    CHECK_THROWS_WITH_AS(live_disaggregated(slots, {}, {}),
                         "only batching replicas are split", std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::sim
