#include "sim/elastic_pool.h"

#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include "base/rng.h"
#include "sim/life.h"
#include "sim/pool.h"

namespace isochrone::sim {
namespace {

using namespace std::chrono_literals;

// One request at a time, one microsecond a token, prompt and first token one as well.
PoolKind one_by_one() {
  PoolKind kind;
  kind.batching = BatchingEngine{};
  kind.batching->step = {.t0 = 1'000'000, .t0_prefill = 1'000'000};
  kind.batching->kv_blocks = 100;
  kind.max_num_seqs = 1;
  return kind;
}

Request of(std::uint64_t tag, std::int64_t arrival_ns, std::int64_t answer) {
  return {tag, arrival_ns, {1, answer}};
}

void live_until(ElasticPool& pool, std::int64_t ns) {
  while (pool.next_event_ns() < ns) pool.step();
}

TEST_SUITE("sim/elastic_pool") {
  // Small random kinds whose boundaries and arrivals often coincide; the fixed pool is
  // itself proven equal to stepping.
  TEST_CASE("a pool that neither grows nor shrinks is the fixed pool, bit for bit") {
    Rng root(77);
    for (std::uint64_t trial = 0; trial < 500; ++trial) {
      Rng rng = root.stream("trial", trial);
      const auto up_to = [&](std::uint64_t bound) {
        return static_cast<std::int64_t>(rng.below(bound));
      };
      PoolKind kind;
      kind.batching = BatchingEngine{};
      kind.batching->step = {.t0 = 1 + up_to(4000),
                             .b = up_to(300),
                             .c = up_to(30),
                             .t0_prefill = 1 + up_to(4000),
                             .a = up_to(200)};
      kind.max_num_seqs = 1 + up_to(6);
      kind.batching->kv_block_tokens = 4;
      kind.batching->kv_blocks = 40 + up_to(20);
      kind.batching->chunk_tokens = 8 + up_to(40);
      const std::int64_t replicas = 1 + up_to(4);
      PoolRun fixed(kind, replicas);
      ElasticPool elastic(kind, {});
      elastic.begin(replicas, 0);
      std::int64_t now = 0;
      for (std::uint64_t i = 0; i < 60; ++i) {
        now += up_to(30);
        const Request request{i, now, {1 + up_to(60), 1 + up_to(80)}};
        fixed.offer(request);
        live_until(elastic, now);
        CHECK(elastic.offer(request, now));
      }
      while (fixed.run_next()) {
      }
      while (elastic.in_system() > 0) elastic.step();

      const auto order = [](std::vector<Outcome>& outcomes) {
        std::ranges::sort(outcomes, {}, &Outcome::tag);
      };
      order(fixed.finished());
      order(elastic.finished());
      REQUIRE(fixed.finished().size() == elastic.finished().size());
      for (std::size_t i = 0; i < fixed.finished().size(); ++i) {
        const Outcome& a = fixed.finished()[i];
        const Outcome& b = elastic.finished()[i];
        CHECK(a.tag == b.tag);
        CHECK(a.assigned_ns == b.assigned_ns);
        CHECK(a.first_ns == b.first_ns);
        CHECK(a.last_ns == b.last_ns);
      }
      CHECK(elastic.free_blocks() == elastic.all_blocks());
    }
  }

  // Two from 0; a third is ordered at 1,000, paid from 1,100 and serves from 1,130. At
  // 5,000 one is wanted: the latest idle ones go at once. To 10,000 ns:
  // 1,100 * 2 + 3,900 * 3 + 5,000 * 1 = 18,900.
  TEST_CASE("what is paid is the integral of the machines that were there") {
    ElasticPool pool(one_by_one(), {.provision = 100ns, .cold_start = 30ns});
    pool.begin(2, 0);
    live_until(pool, 1000);
    pool.want(3, 1000);
    CHECK(pool.wanted() == 3);
    live_until(pool, 1130);
    CHECK(pool.up() == 2);
    live_until(pool, 1131);
    CHECK(pool.up() == 3);
    live_until(pool, 5000);
    pool.want(1, 5000);

    const auto& paid = pool.paid();
    REQUIRE(paid.size() == 3);
    CHECK(paid[1].from_ns == 1100);
    CHECK(paid[2].from_ns == 5000);
    CHECK(integral(paid, 10'000, [](std::int64_t n) { return n; }) == 18'900);
    // Rented in twos: 2, 4, 2.
    CHECK(integral(paid, 10'000, [](std::int64_t n) { return (n + 1) / 2 * 2; }) ==
          1'100 * 2 + 3'900 * 4 + 5'000 * 2);
  }

  // A runs 10 us from 0. Let go at 2 us, the replica drains to 10 us and is paid so
  // long; B, who came at 1 us, waits for the machine that is ordered at 3 us: 5 us.
  TEST_CASE("a replica that is let go ends what it runs and takes nobody more") {
    ElasticPool pool(one_by_one(), {.cold_start = 2us});
    pool.begin(1, 0);
    pool.offer(of(0, 0, 10), 0);
    live_until(pool, 1000);
    pool.offer(of(1, 1000, 3), 1000);
    live_until(pool, 2000);
    pool.want(0, 2000);
    CHECK(pool.wanted() == 0);
    live_until(pool, 12'000);
    CHECK(pool.finished().size() == 1);
    CHECK(pool.finished()[0].last_ns == 10'000);
    CHECK(pool.paid().back().from_ns == 10'000);
    CHECK(pool.paid().back().replicas == 0);
    pool.want(1, 12'000);
    live_until(pool, 20'000);

    REQUIRE(pool.finished().size() == 2);
    CHECK(pool.finished()[1].assigned_ns == 14'000);
    CHECK(pool.finished()[1].last_ns == 17'000);
  }

  TEST_CASE("a draining replica is called back before another is ordered") {
    ElasticPool pool(one_by_one(), {.provision = 1s});
    pool.begin(1, 0);
    pool.offer(of(0, 0, 10), 0);
    pool.offer(of(1, 0, 1), 0);
    live_until(pool, 2000);
    pool.want(0, 2000);
    pool.want(1, 3000);
    live_until(pool, 20'000);

    CHECK(pool.finished().size() == 2);
    CHECK(pool.paid().size() == 1);
  }

  TEST_CASE("nobody is let go before the shortest rent is over") {
    ElasticPool pool(one_by_one(), {.min_stay = 1us});
    pool.begin(2, 0);
    pool.want(1, 999);
    CHECK(pool.wanted() == 2);
    pool.want(1, 1000);
    CHECK(pool.wanted() == 1);
  }

  // The first runs 10 us; patience 4 us: who came at 1 us leaves at 5, who came at 6
  // gets the slot at 10, its last instant.
  TEST_CASE("patience ends in the queue, not with a slot that comes in time") {
    ElasticPool pool(one_by_one(), {.patience = 4us});
    pool.begin(1, 0);
    pool.offer(of(0, 0, 10), 0);
    live_until(pool, 1000);
    pool.offer(of(1, 1000, 1), 1000);
    live_until(pool, 6000);
    REQUIRE(pool.left().size() == 1);
    CHECK(pool.left()[0].tag == 1);
    pool.offer(of(2, 6000, 1), 6000);
    live_until(pool, 50'000);

    CHECK(pool.left().size() == 1);
    REQUIRE(pool.finished().size() == 2);
    CHECK(pool.finished()[1].assigned_ns == 10'000);
  }

  TEST_CASE("no more wait than are admitted") {
    ElasticPool pool(one_by_one(), {.admission = 2});
    pool.begin(1, 0);
    CHECK(pool.offer(of(0, 0, 10), 0));
    CHECK(pool.offer(of(1, 0, 10), 0));
    CHECK(pool.offer(of(2, 0, 10), 0));
    CHECK_FALSE(pool.offer(of(3, 0, 10), 0));
    CHECK(pool.in_system() == 3);
  }

  TEST_CASE("who was on a lost replica is handed back, who waits stays") {
    ElasticPool pool(one_by_one(), {});
    pool.begin(2, 0);
    for (std::uint64_t i = 0; i < 3; ++i) pool.offer(of(i, 0, 10), 0);
    live_until(pool, 5000);
    const std::vector<Request> lost = pool.lose(0, 5000);
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].tag == 0);
    CHECK(pool.paid().back().replicas == 1);
    CHECK(pool.in_system() == 2);
    live_until(pool, 100'000);

    // The other ends at 10 us and takes the third.
    REQUIRE(pool.finished().size() == 2);
    CHECK(pool.finished()[1].tag == 2);
    CHECK(pool.finished()[1].last_ns == 20'000);
    CHECK(pool.free_blocks() == pool.all_blocks());
  }

  TEST_CASE("slots do not come and go") {
    PoolKind kind;
    kind.slots = SlotEngine{};
    CHECK_THROWS_WITH_AS(ElasticPool(kind, {}), "only batching replicas come and go",
                         std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::sim
