#include <algorithm>

#include <doctest/doctest.h>

#include "sim/engine.h"

namespace isochrone::sim {
namespace {

PoolKind chat_kind(std::int64_t batch) {
  PoolKind kind;
  kind.batching = BatchingEngine{};
  // Of the order of a 70B model in fp8 on four H100.
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
  kind.max_num_seqs = batch;
  kind.prompt_tokens = IntegerLaw::lognormal(600, 4000, 32'000);
  kind.answer_tokens = IntegerLaw::lognormal(250, 1200, 8'000);
  return kind;
}

TEST_SUITE("sim/service") {
  TEST_CASE("the grid rises from .02 to 1") {
    CHECK(service_grid().size() == 57);
    CHECK(service_grid().front() == doctest::Approx(0.02));
    CHECK(service_grid().back() == 1.0);
    CHECK(std::is_sorted(service_grid().begin(), service_grid().end()));
  }

  // Steady state of a closed loop: TPOT = t0 + b*C + c*KV + (a/OSL)*C*ISL with the
  // figures above and C = 32: 11 + 1.76 ms; KV: residence-weighted context, for lengths
  // of squared CV 2.2 about 32*(600 + 400) = 32k tokens, 0.9 ms; prefill 45 us * 600 *
  // 32 / 250 = 3.5 ms. About 17 ms, so 250 tokens take about 4.3 s.
  TEST_CASE("a full batch has the pace of the steady-state formula") {
    const ServiceLaw law = measure_service(chat_kind(32), 32, 2000, 1);

    const double tpot_ms = static_cast<double>(law.tpot[24].count()) / 1e6;
    CHECK(tpot_ms == doctest::Approx(17).epsilon(0.12));
    CHECK(law.mean_residence_s == doctest::Approx(4.3).epsilon(0.15));
    CHECK(law.preemption_share == 0);
  }

  TEST_CASE("a fuller batch is slower in every quantile") {
    const ServiceLaw few = measure_service(chat_kind(8), 8, 2000, 1);
    const ServiceLaw many = measure_service(chat_kind(64), 64, 2000, 1);

    for (std::size_t i = 0; i + 3 < service_grid().size(); ++i) {
      CHECK(few.tpot[i] < many.tpot[i]);
      CHECK(few.first_token[i] < many.first_token[i]);
    }
  }

  TEST_CASE("a law comes out the same for the same seed") {
    const ServiceLaw one = measure_service(chat_kind(16), 16, 500, 9);
    const ServiceLaw two = measure_service(chat_kind(16), 16, 500, 9);

    CHECK(one.last_token == two.last_token);
    CHECK(one.last_token != measure_service(chat_kind(16), 16, 500, 10).last_token);
  }

  TEST_CASE("too little kv shows as preemptions") {
    PoolKind kind = chat_kind(32);
    kind.batching->kv_blocks = 1500;  // 24,000 tokens where about 32,000 are wanted

    CHECK(measure_service(kind, 32, 1000, 1).preemption_share > 0.05);
  }

  // Prompt 1000 at 8,000 tok/s: 125 ms; 250 answer tokens at 20 ms: the last leaves
  // 249 intervals after the first, 4,980 ms.
  TEST_CASE("a fixed pace gives the prompt time and one interval per further token") {
    PoolKind kind;
    kind.slots = SlotEngine{125'000'000, 20'000'000'000};
    kind.max_num_seqs = 24;
    kind.prompt_tokens = IntegerLaw::constant(1000);
    kind.answer_tokens = IntegerLaw::constant(250);
    const ServiceLaw law = measure_service(kind, 24, 100, 1);

    CHECK(law.first_token[0] == std::chrono::milliseconds{125});
    CHECK(law.last_token[0] == std::chrono::milliseconds{5105});
    CHECK(law.tpot[0] == std::chrono::milliseconds{20});
  }

  TEST_CASE("a service ends with its draw") {
    PoolKind kind;
    kind.slots = SlotEngine{};
    kind.max_num_seqs = 4;
    kind.service_ns = IntegerLaw::constant(1'200'000);
    const ServiceLaw law = measure_service(kind, 4, 100, 1);

    CHECK(law.first_token.back() == Nanos{1'200'000});
    CHECK(law.last_token.back() == Nanos{1'200'000});
    CHECK(law.tpot.empty());
    CHECK(law.mean_residence_s == doctest::Approx(0.0012));
  }
}

}  // namespace
}  // namespace isochrone::sim
