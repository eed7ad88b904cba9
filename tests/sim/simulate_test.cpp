#include "sim/simulate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/parallel.h"
#include "sim/latency.h"

namespace isochrone::sim {
namespace {

using namespace std::chrono_literals;

constexpr scenarios::RegionId kNorth{0}, kSouth{1};

PoolKind chat_kind() {
  PoolKind kind;
  kind.batching = BatchingEngine{};
  kind.batching->step = {.t0 = 11'000'000'000,
                         .b = 55'000'000,
                         .c = 28'000,
                         .t0_prefill = 12'000'000'000,
                         .a = 45'000'000,
                         .f = 2'000'000'000,
                         .b_prefill = 55'000'000,
                         .c_prefill = 56'000,
                         .d = 1'000};
  kind.batching->kv_blocks = 40'000;
  kind.batching->chunk_tokens = 2048;
  kind.max_num_seqs = 16;
  kind.prompt_tokens = IntegerLaw::lognormal(300, 1500, 4'000);
  kind.answer_tokens = IntegerLaw::lognormal(60, 250, 500);
  return kind;
}

Stream stream_to(std::uint32_t pool, scenarios::RegionId region, Micros rtt,
                 double rps) {
  Stream stream;
  stream.region = region;
  stream.pool = PoolId{pool};
  stream.rtt = rtt;
  stream.access = {
      .p50_ms = 10, .p75_ms = 15, .p90_ms = 25, .p95_ms = 35, .p99_ms = 60};
  for (std::size_t b = 0; b < scenarios::kBlocks; ++b) {
    const double hour = b == 14 ? 1.0 : b == 15 ? 0.9 : 0.5;
    stream.load[b] = requests_per_second(rps * hour);
  }
  return stream;
}

// Two pools, two regions; the north uses both. One replica of 16 finishes about 14
// requests per second.
Deployment two_pools(double rps) {
  Deployment deployment;
  deployment.pools.push_back({"near", chat_kind(), 2, 25ms});
  deployment.pools.push_back({"far", chat_kind(), 2, 25ms});
  deployment.streams = {stream_to(0, kNorth, 20ms, rps),
                        stream_to(1, kNorth, 90ms, rps / 2),
                        stream_to(1, kSouth, 30ms, rps / 2)};
  deployment.modulation = {{5.5, 600}};
  deployment.objectives = {{{Objective::Metric::kTtft, 95, 400ms},
                            {Objective::Metric::kTpot, 95, 30ms},
                            {Objective::Metric::kE2e, 95, 6s}}};
  return deployment;
}

SimulationSettings quick(std::int64_t requests) {
  SimulationSettings settings;
  settings.max_requests = requests;
  return settings;
}

std::string to_text(const SimulationResult& result) {
  std::string text = fmt::format("{}\n", result.simulated_requests);
  for (const Cell& cell : result.cells) {
    text += fmt::format(
        "{} {} {} {} {} {} {:a} {:a} {:a} {} {} {} {:a}\n", cell.region.value,
        cell.hours, static_cast<int>(cell.objective.metric), cell.objective.percentile,
        cell.requests, cell.unfinished, cell.attained, cell.low, cell.high,
        to_text(cell.verdict), cell.at_percentile.count(), cell.mean.e2e().count(),
        fmt::join(cell.missed_by, " "));
  }
  return text;
}

double worst_attained(const SimulationResult& result) {
  double worst = 1;
  for (const Cell& cell : result.cells) worst = std::min(worst, cell.attained);
  return worst;
}

TEST_SUITE("sim/simulate") {
  // 10 + 5 jitter ms as drawn; 3 trips: two extra round trips of WAN and last mile.
  TEST_CASE("the parts of a latency sum to the whole exactly") {
    Stream stream = stream_to(0, kNorth, 20'000us, 1);
    stream.connection_trips = 3;
    stream.transfer = 3ms;
    const Pool pool{"p", chat_kind(), 1, 25ms};
    const Outcome outcome{0, 1'000, 5'000, 90'000, 990'001, 11, false};
    Rng rng(4);
    const LatencySplit split = latency_of(stream, pool, outcome, rng);

    CHECK(split.connection == 2 * (split.wan + split.last_mile));
    CHECK(split.queue == 4'000ns);
    CHECK(split.prefill == 85'000ns);
    CHECK(split.decode == 900'001ns);
    CHECK(split.e2e() - split.ttft() == split.decode);
    CHECK(split.ttft() == split.connection + split.last_mile + split.wan + 3ms + 25ms +
                              split.queue + split.prefill);
    // TPOT rounds up: 900,001 / 10.
    CHECK(metric_of(Objective::Metric::kTpot, split, outcome) == 90'001);
    const Outcome one_token{0, 0, 0, 5, 5, 1, false};
    CHECK_FALSE(metric_of(Objective::Metric::kTpot, split, one_token).has_value());
  }

  TEST_CASE("every region gets its worst blocks, each, and the rest of its day") {
    const SimulationResult result = simulate(two_pools(10), quick(300'000));

    // 2 regions x 3 objectives x (3 blocks + rest).
    REQUIRE(result.cells.size() == 24);
    CHECK(result.cells[0].hours == "14 UTC");
    CHECK(result.cells[1].hours == "15 UTC");
    CHECK(result.cells[3].hours == "other hours");
    for (const Cell& cell : result.cells) {
      CHECK(cell.requests > 0);
      CHECK(cell.low <= cell.attained);
      CHECK(cell.attained <= cell.high);
    }
  }

  TEST_CASE("a pool with room to spare is shown to meet its objectives") {
    const SimulationResult result = simulate(two_pools(8), quick(600'000));

    for (const Cell& cell : result.cells) {
      CAPTURE(cell.hours);
      CAPTURE(static_cast<int>(cell.objective.metric));
      CHECK(cell.verdict == Verdict::kMet);
    }
    CHECK(result.simulated_requests <= 660'000);
  }

  TEST_CASE("attainment falls as load rises, to nothing under overload") {
    const double light = worst_attained(simulate(two_pools(8), quick(200'000)));
    const double full = worst_attained(simulate(two_pools(24), quick(200'000)));
    const double over = worst_attained(simulate(two_pools(90), quick(200'000)));

    CHECK(light > full);
    CHECK(full > over);
    CHECK(over < 0.05);
  }

  // A busy pool makes its users wait; with a limit that the way alone uses up, it is
  // the way. The shares are of the misses, so they sum to one, or to none.
  TEST_CASE("misses are charged to the queue of a full pool, and to a way too long") {
    Deployment far = two_pools(8);
    far.streams[1].rtt = 395ms;
    const auto charged = [](const SimulationResult& result, scenarios::RegionId region,
                            Culprit part) {
      double most = 0;
      for (const Cell& cell : result.cells) {
        const auto& by = cell.missed_by;
        const double sum = by[0] + by[1] + by[2] + by[3];
        CHECK(sum == doctest::Approx(cell.kept < cell.requests ? 1 : 0));
        if (cell.region != region || cell.objective.metric != Objective::Metric::kTtft)
          continue;
        most = std::max(most, by[static_cast<std::size_t>(part)]);
      }
      return most;
    };

    CHECK(charged(simulate(two_pools(40), quick(200'000)), kSouth, Culprit::kQueue) >
          0.9);
    CHECK(charged(simulate(far, quick(200'000)), kNorth, Culprit::kNetwork) > 0.9);
  }

  TEST_CASE("one thread and two give the same result") {
    set_thread_count(1);
    const std::string one = to_text(simulate(two_pools(16), quick(200'000)));
    set_thread_count(2);
    const std::string two = to_text(simulate(two_pools(16), quick(200'000)));
    set_thread_count(0);

    CHECK(one == two);
  }

  TEST_CASE("training and validation see different traffic") {
    SimulationSettings training = quick(100'000);
    training.stream_name = "training";

    CHECK(to_text(simulate(two_pools(16), training)) !=
          to_text(simulate(two_pools(16), quick(100'000))));
  }

  TEST_CASE("the limit of requests wins, and what it cuts off is not shown") {
    const SimulationResult result = simulate(two_pools(16), quick(10));

    CHECK(result.simulated_requests <= 10);
    for (const Cell& cell : result.cells) CHECK(cell.verdict == Verdict::kNotShown);
  }

  TEST_CASE("a deployment that cannot be simulated is refused by name") {
    Deployment wrong = two_pools(1);
    wrong.streams[0].pool = PoolId{9};
    CHECK_THROWS_WITH(simulate(wrong, quick(10)),
                      "a stream names a pool or entry that is not there");
    SimulationSettings none = quick(10);
    none.blocks = 0;
    CHECK_THROWS_WITH(simulate(two_pools(1), none),
                      "a simulation covers 1 .. 24 blocks");
  }
}

}  // namespace
}  // namespace isochrone::sim
