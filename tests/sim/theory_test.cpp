// The simulator against queueing theory at 30, 60 and 90 % load: long runs, so in a
// release build only. Each mean must lie within 1 % of theory, or inside its own 99.7 %
// interval by batch means where that is wider.
#ifdef NDEBUG

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/rng.h"
#include "sim/pool.h"
#include "sim/simulate.h"
#include "tests/sim/queues.h"
#include "tests/sim/serving_kind.h"

namespace isochrone::sim {
namespace {

constexpr int kBatches = 50;

struct Mean {
  double value = 0;
  double error = 0;  // standard error by batch means
};

// The sum of a million or so neighbours, so that their correlation is inside.
class BatchMeans {
 public:
  explicit BatchMeans(std::uint64_t requests) : per_batch_(requests / kBatches) {}

  void add(double value) {
    sum_ += value;
    if (++count_ % per_batch_ != 0) return;
    means_.push_back(sum_ / static_cast<double>(per_batch_));
    sum_ = 0;
  }
  Mean mean() const {
    // The first batch warms up.
    Mean mean;
    const auto n = static_cast<double>(means_.size() - 1);
    for (std::size_t i = 1; i < means_.size(); ++i) mean.value += means_[i] / n;
    double square = 0;
    for (std::size_t i = 1; i < means_.size(); ++i) {
      square += (means_[i] - mean.value) * (means_[i] - mean.value);
    }
    mean.error = std::sqrt(square / (n - 1) / n);
    return mean;
  }

 private:
  std::uint64_t per_batch_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::vector<double> means_;
};

/// "" where the mean is known well enough and meets theory, else the figures.
std::string fault(const Mean& mean, double theory) {
  const double band = std::max(0.01 * theory, 3 * mean.error);
  if (mean.error < 0.02 * theory && std::abs(mean.value - theory) <= band) return "";
  return fmt::format("{} +- {} for {}", mean.value, mean.error, theory);
}

double second_moment(const IntegerLaw& law) {
  double sum = 0;
  for (const std::int64_t cell : law.cells()) {
    sum += static_cast<double>(cell) * static_cast<double>(cell);
  }
  return sum / static_cast<double>(IntegerLaw::kCells);
}

template <class Value>
Mean mean_of(Value&& value, const PoolKind& kind, double rate, std::uint64_t requests,
             std::uint64_t seed) {
  BatchMeans means(requests);
  run_poisson(kind, 1, rate, requests, seed,
              [&](const Outcome& outcome) { means.add(value(outcome)); });
  return means.mean();
}

double erlang_c(int servers, double load) {
  double term = 1, sum = 1;
  for (int k = 1; k < servers; ++k) sum += term *= load / k;
  term *= load / servers * servers / (servers - load);
  return term / (sum + term);
}

std::uint64_t enough(double rho) { return rho > 0.8 ? 8'000'000 : 2'000'000; }

TEST_SUITE("sim/theory") {
  // Pollaczek and Khinchine: W = lambda E[S^2] / (2 (1 - rho)), for any service law of
  // mean 1 s: exponential is M/M/1 (2 E[S]^2 but for what the table of 4,096 cells cuts
  // off, hence the law's own moment), constant is M/D/1, the third has a CV of 2.
  TEST_CASE("one server waits as Pollaczek and Khinchine say") {
    const IntegerLaw laws[] = {exponential_law(1e9),
                               IntegerLaw::constant(1'000'000'000),
                               IntegerLaw::lognormal(1e9, 8.5e9, 1'000'000'000'000)};
    CHECK(second_moment(laws[0]) / 2e18 == doctest::Approx(1).epsilon(0.002));
    for (const IntegerLaw& law : laws) {
      const double mean = law.mean() / 1e9;
      for (const double rho : {0.3, 0.6, 0.9}) {
        const double rate = rho / mean;
        const double theory = rate * second_moment(law) / 1e18 / (2 * (1 - rho));
        CAPTURE(rho);
        const Mean wait = mean_of(wait_s, servers(law, 1), rate, enough(rho), 3);
        CHECK(fault(wait, theory) == "");
      }
    }
  }

  // M/M/8: W = C(8, 8 rho) / (8 - 8 rho) services.
  TEST_CASE("eight servers wait as Erlang says") {
    for (const double rho : {0.3, 0.6, 0.9}) {
      const double theory = erlang_c(8, 8 * rho) / (8 - 8 * rho);
      const std::uint64_t requests = rho < 0.5 ? 20'000'000 : enough(rho);
      CAPTURE(rho);
      const Mean wait =
          mean_of(wait_s, servers(exponential_law(1e9), 8), 8 * rho, requests, 4);
      CHECK(fault(wait, theory) == "");
    }
  }

  // A step that lasts 0.1 ms per request in the batch shares the processor fairly. The
  // mean sojourn of processor sharing is E[S] / (1 - rho) whatever the law of lengths;
  // a step is 1/500 of a service, and who comes waits for its end.
  TEST_CASE("a batch whose step grows with it is processor sharing") {
    PoolKind kind;
    kind.batching = BatchingEngine{};
    kind.batching->step = {.b = 100'000'000, .a = 100'000'000};
    kind.batching->step.t0_prefill = 1;
    kind.batching->kv_blocks = 100'000'000;
    kind.max_num_seqs = 1000;
    kind.prompt_tokens = IntegerLaw::constant(1);
    for (const IntegerLaw& law : {exponential_law(500), IntegerLaw::constant(500)}) {
      kind.answer_tokens = law;
      const double service_s = law.mean() * 1e-4;
      for (const double rho : {0.3, 0.6, 0.9}) {
        CAPTURE(rho);
        const Mean sojourn = mean_of(sojourn_s, kind, rho / service_s,
                                     rho > 0.8 ? 2'000'000 : 500'000, 5);
        CHECK(fault(sojourn, service_s / (1 - rho)) == "");
      }
    }
  }

  // M/M/1 at 90 %: P(W > t) = .9 exp(-.1 t), t = 10 s: .3311. Of 200 intervals at 95 %,
  // 180 to 196 hold the truth (90 to 98 %; 190 +- 2.6 sigma are 182 to 198).
  TEST_CASE("intervals of a busy single server hold the truth as often as they say") {
    const PoolKind kind = servers(exponential_law(1e9), 1);
    int held = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const WaitShare share = measure_wait(kind, 1, requests_per_second(0.9), {},
                                           std::chrono::seconds{10}, 40'000, seed);
      held += std::abs(share.share - 0.3311) <= share.half_width ? 1 : 0;
    }
    CAPTURE(held);
    CHECK(held >= 180);
  }

  // A pool of two batching replicas at 95 % of what it carries; the truth is a run of
  // two million requests.
  TEST_CASE("intervals of a batching pool hold the truth as often as they say") {
    PoolKind kind = serving_kind();
    kind.max_num_seqs = 16;
    const ServiceLaw law = measure_service(kind, 16, 4000, 1);
    const double load = 0.95 * 2 * 16 / law.mean_residence_s;
    double late = 0;
    constexpr std::uint64_t kRequests = 2'000'000;
    run_poisson(kind, 2, load, kRequests, 99,
                [&](const Outcome& outcome) { late += wait_s(outcome) > 0.5 ? 1 : 0; });
    const double truth = late / static_cast<double>(kRequests);

    int held = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const WaitShare share =
          measure_wait(kind, 2, requests_per_second(load), {},
                       std::chrono::milliseconds{500}, 20'000, seed);
      held += std::abs(share.share - truth) <= share.half_width ? 1 : 0;
    }
    CAPTURE(truth);
    CAPTURE(held);
    CHECK(held >= 180);
  }

  // One replica that saturates at about 1.5 prompts of 8,000 tokens a second, under a
  // load that swings between 0 and 30 a second for ten minutes: about a tenth is served
  // by the end. The queue is nearly all of TTFT; TPOT is no worse than in the closed
  // loop.
  TEST_CASE("overload shows as queueing, not as slow tokens, and is counted") {
    PoolKind kind = serving_kind();
    kind.batching->step.a = 80'000'000;
    kind.max_num_seqs = 32;
    kind.prompt_tokens = IntegerLaw::constant(8000);
    kind.answer_tokens = IntegerLaw::constant(50);
    const ServiceLaw closed = measure_service(kind, 32, 2000, 1);
    const double capacity = 32 / closed.mean_residence_s;
    PoolRun pool(kind, 1);
    const WorkSampler sampler(kind);
    Rng rng(5);
    constexpr double kEnd = 600;
    std::uint64_t offered = 0;
    for (double now = 0;;) {
      now += rng.exponential() / (20 * capacity);  // thinned to the sinusoid
      if (now >= kEnd) break;
      if (rng.uniform() > (1 + std::sin(now / 60 * 6.283185307)) / 2) continue;
      pool.offer({offered++, std::llround(now * 1e9), sampler.draw(rng)});
    }
    pool.run_until(std::llround(kEnd * 1e9));
    double ttft = 0, queue = 0, tpot = 0;
    for (const Outcome& outcome : pool.finished()) {
      ttft += static_cast<double>(outcome.first_ns - outcome.arrival_ns);
      queue += static_cast<double>(outcome.assigned_ns - outcome.arrival_ns);
      tpot += static_cast<double>(outcome.last_ns - outcome.first_ns) / 49;
    }
    const auto ended = static_cast<double>(pool.finished().size());

    CHECK(ended / static_cast<double>(offered) == doctest::Approx(0.1).epsilon(0.1));
    CHECK(pool.in_system() + pool.finished().size() == offered);
    CHECK(queue > 0.9 * ttft);
    CHECK(tpot / ended <= 1.05 * static_cast<double>(closed.tpot.back().count()));
  }
}

}  // namespace
}  // namespace isochrone::sim

#endif
