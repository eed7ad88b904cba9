#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/parallel.h"
#include "place/planner/tables.h"

namespace isochrone::place {
namespace {

using namespace std::chrono_literals;
using Metric = sim::Objective::Metric;

constexpr std::int64_t kMs = 1'000'000'000;  // in ps

/// A 70B model on four GPUs, roughly: 11 ms steps, prompts of 600, answers of 200.
ServingOption large_model() {
  ServingOption option;
  option.profile = "large";
  option.gpus_per_replica = 4;
  option.front_end = 25ms;
  sim::BatchingEngine engine;
  engine.step = {11 * kMs,        55 * kMs / 1000,      28 * kMs / 1'000'000,
                 12 * kMs,        50 * kMs / 1000,      4 * kMs,
                 55 * kMs / 1000, 45 * kMs / 1'000'000, 0};
  engine.kv_blocks = 40'000;
  engine.chunk_tokens = 2048;
  option.kind.batching = engine;
  option.kind.prompt_tokens = sim::IntegerLaw::lognormal(600, 4000, 32768);
  option.kind.answer_tokens = sim::IntegerLaw::lognormal(200, 900, 8192);
  return option;
}

/// Four streams of a service of exactly 2 ms.
ServingOption quick_service() {
  ServingOption option;
  option.profile = "service";
  option.kind.slots = sim::SlotEngine{};
  option.kind.max_num_seqs = 4;
  option.kind.service_ns = sim::IntegerLaw::constant(2'000'000);
  return option;
}

LevelQuestion chat() {
  LevelQuestion question;
  question.objectives = {{Metric::kTtft, 95, 800ms}, {Metric::kTpot, 95, 33ms}};
  question.degraded = {{Metric::kTtft, 95, 1500ms}};
  question.requests = 600;
  return question;
}

std::string fingerprint(const std::vector<LevelTable>& levels) {
  std::string text;
  for (const LevelTable& level : levels) {
    text += std::to_string(level.option) + ' ' + std::to_string(level.max_num_seqs) +
            ' ' + std::to_string(level.wait_budget_ms) + ' ' +
            std::to_string(level.degraded_wait_budget_ms);
    for (const MicroRps one : level.capacity) text += ' ' + std::to_string(one.count());
    for (const MicroRps one : level.degraded_capacity) {
      text += ' ' + std::to_string(one.count());
    }
    text += '\n';
  }
  return text;
}

TEST_SUITE("place/build_tables") {
  // 0.8 of the 5 % that may miss.
  TEST_CASE("the share that may wait follows the strictest percentile") {
    const std::vector<sim::Objective> two{
        {Metric::kTtft, 95, 1s}, {Metric::kE2e, 99, 9s}, {Metric::kTpot, 99.9, 33ms}};

    CHECK(wait_share(two) == doctest::Approx(0.008));
    CHECK(wait_share(std::vector{two[2]}) == doctest::Approx(0.04));
  }

  TEST_CASE(
      "a chat model gets levels that keep the pace and spend a part of the misses") {
    const std::vector<ServingOption> options{large_model()};

    const auto levels = build_tables(options, chat(), 1);

    REQUIRE(levels.size() >= 3);
    for (const LevelTable& level : levels) {
      CHECK(meets_pace(level.law, chat().objectives));
      // 0.8 of the 5 % that may miss, whole or in a part of kWaitShareParts.
      CHECK(std::ranges::any_of(kWaitShareParts, [&](double part) {
        return level.wait_share == doctest::Approx(0.04 * part);
      }));
      CHECK(level.occupancy.back() == static_cast<double>(level.max_num_seqs));
      CHECK(std::ranges::is_sorted(level.residence_s));
      CHECK(level.degraded_wait_budget_ms >= level.wait_budget_ms);
      CHECK(level.degraded_carries(5) >= level.carries(5));
    }
  }

  // 11 ms of floor and 55 us per sequence: a step reaches 20 ms at 164 sequences even
  // without any cache, prompt or jitter.
  TEST_CASE("depths whose pace misses the objective are not offered") {
    LevelQuestion question = chat();
    question.objectives[1].limit = 20ms;
    const std::vector<ServingOption> options{large_model()};

    for (const LevelTable& level : build_tables(options, question, 1)) {
      CHECK(level.max_num_seqs < 164);
    }
  }

  // 1,000 blocks hold 16,000 tokens: 22 requests of 600 + 100 at once, on average.
  TEST_CASE("depths that the KV cache cannot hold are not offered") {
    std::vector<ServingOption> options{large_model()};
    options[0].kind.batching->kv_blocks = 1000;

    const auto levels = build_tables(options, chat(), 1);

    REQUIRE_FALSE(levels.empty());
    for (const LevelTable& level : levels) CHECK(level.max_num_seqs < 22);
  }

  TEST_CASE("an objective that no level can meet leaves none") {
    LevelQuestion question = chat();
    question.objectives = {{Metric::kTtft, 95, 20ms}};
    const std::vector<ServingOption> options{large_model()};

    CHECK(build_tables(options, question, 1).empty());
  }

  // Where everybody is near, the deepest batch with the longest wait carries the most
  // at every n, and reaches everybody.
  TEST_CASE("where distance costs nothing one level of an option is enough") {
    LevelQuestion question = chat();
    question.longest_rtt = Micros(1000);
    const std::vector<ServingOption> options{large_model(), large_model()};

    const auto levels = build_tables(options, question, 1);

    REQUIRE(levels.size() == 2);
    CHECK(levels[0].option == 0);
    CHECK(levels[1].option == 1);
    CHECK(levels[0].wait_budget_ms == 320);
  }

  TEST_CASE("levels of one depth trade reach against capacity") {
    LevelQuestion question = chat();
    question.longest_rtt = kUnlimitedReach;
    const std::vector<ServingOption> options{large_model()};
    const geo::AtomicLaw at_once{{0}, {1}};
    const auto levels = build_tables(options, question, 1);
    int pairs = 0;

    for (std::size_t i = 0; i < levels.size() * levels.size(); ++i) {
      const LevelTable& sooner = levels[i / levels.size()];
      const LevelTable& later = levels[i % levels.size()];
      if (sooner.max_num_seqs != later.max_num_seqs) continue;
      if (sooner.wait_share != later.wait_share) continue;
      if (sooner.wait_budget_ms >= later.wait_budget_ms) continue;
      ++pairs;
      CHECK(later.carries(8) > sooner.carries(8));
      CHECK(reach(later, options[0], question.objectives, false, at_once, 1, 0s) <
            reach(sooner, options[0], question.objectives, false, at_once, 1, 0s));
    }
    CHECK(pairs >= 1);
  }

  // 9 ms less 2 ms of service: budgets of 1 and 5 ms leave 6 and 2 ms of round trip.
  TEST_CASE("a service offers its budgets, a longer one for a shorter reach") {
    LevelQuestion question;
    question.objectives = {{Metric::kE2e, 99, 9ms}};
    question.requests = 600;
    const std::vector<ServingOption> options{quick_service()};
    const geo::AtomicLaw at_once{{0}, {1}};

    auto levels = build_tables(options, question, 1);
    std::erase_if(levels, [](const LevelTable& l) { return l.wait_share < 0.008; });

    REQUIRE(levels.size() == 2);
    CHECK(reach(levels[0], options[0], question.objectives, false, at_once, 1, 0s) ==
          Micros(6000));
    CHECK(reach(levels[1], options[0], question.objectives, false, at_once, 1, 0s) ==
          Micros(2000));
    CHECK(levels[1].carries(1) > levels[0].carries(1));
    CHECK(levels[1].carries(1) < requests_per_second(2000));
  }

  // p90 lets 0.08 wait, but without degraded objectives 0.04 may, for up to 320 ms.
  TEST_CASE("a loss without objectives waits as long as any budget lets it") {
    LevelQuestion question;
    question.objectives = {{Metric::kE2e, 90, 9ms}};
    question.requests = 600;
    const std::vector<ServingOption> options{quick_service()};

    for (const LevelTable& level : build_tables(options, question, 1)) {
      CHECK(std::ranges::any_of(kWaitShareParts, [&](double part) {
        return level.wait_share == doctest::Approx(0.08 * part);
      }));
      CHECK(level.degraded_wait_share == doctest::Approx(0.04));
      CHECK(level.degraded_wait_budget_ms == 320);
      CHECK(level.degraded_carries(8) ==
            carried_load(level.occupancy, level.residence_s, level.max_num_seqs, 8,
                         0.32, 0.04, {}));
    }
  }

  TEST_CASE("tables do not depend on the number of threads") {
    const std::vector<ServingOption> options{large_model(), quick_service()};
    LevelQuestion question = chat();
    question.modulation = {5, 600};
    set_thread_count(1);
    const std::string alone = fingerprint(build_tables(options, question, 7));
    set_thread_count(2);
    const std::string together = fingerprint(build_tables(options, question, 7));
    set_thread_count(0);

    CHECK(alone == together);
  }
}

}  // namespace
}  // namespace isochrone::place
