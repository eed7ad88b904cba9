#include "geo/last_mile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

namespace isochrone::geo {
namespace {

AccessLaw example() {
  return {.p50_ms = 10, .p75_ms = 20, .p90_ms = 35, .p95_ms = 60, .p99_ms = 150};
}

/// P(jitter <= t), by halving.
double jitter_within(double t_ms) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (jitter_quantile_ms(middle) <= t_ms ? low : high) = middle;
  }
  return low;
}

/// P(access + jitter <= t) by brute force over 4,000 quantiles of the access time.
double probability_within(const AccessLaw& access, double t_ms) {
  constexpr int kSteps = 4000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double left = t_ms - access.quantile_ms((i + 0.5) / kSteps);
    if (left > 0) sum += jitter_within(left);
  }
  return sum / kSteps;
}

double mass_within(const AtomicLaw& law, double t_ms) {
  double sum = 0;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    if (law.value_ms[i] <= t_ms) sum += law.mass[i];
  }
  return sum;
}

TEST_SUITE("geo/last_mile") {
  TEST_CASE("access quantiles pass through the given percentiles") {
    const AccessLaw access = example();

    CHECK(access.quantile_ms(0.50) == doctest::Approx(10));
    CHECK(access.quantile_ms(0.75) == doctest::Approx(20));
    CHECK(access.quantile_ms(0.90) == doctest::Approx(35));
    CHECK(access.quantile_ms(0.95) == doctest::Approx(60));
    CHECK(access.quantile_ms(0.99) == doctest::Approx(150));
  }

  // Log-linear: at u = .25, half way from 0.2 * 10 = 2 ms to 10 ms, sqrt(2 * 10); at
  // u = .625, half way from 10 to 20 ms, sqrt(10 * 20).
  TEST_CASE("between two percentiles the logarithm of the time is linear") {
    CHECK(example().quantile_ms(0.25) == doctest::Approx(std::sqrt(20.0)));
    CHECK(example().quantile_ms(0.625) == doctest::Approx(std::sqrt(200.0)));
  }

  // Slope of the last piece: a factor 150 / 60 = 2.5 over .04, so over the last .01 a
  // factor 2.5^.25 = 1.2574. With p95 = 1 ms the factor would be 150^.25 = 3.5: two.
  TEST_CASE("the tail beyond p99 keeps its slope but stops at twice p99") {
    AccessLaw steep = example();
    steep.p50_ms = 0.25;
    steep.p75_ms = 0.5;
    steep.p90_ms = 0.75;
    steep.p95_ms = 1;

    CHECK(example().quantile_ms(1) == doctest::Approx(150 * 1.25743));
    CHECK(steep.quantile_ms(1) == doctest::Approx(300));
  }

  TEST_CASE("access quantiles never fall") {
    const AccessLaw access = example();

    double last = 0;
    for (int i = 0; i <= 1000; ++i) {
      const double time = access.quantile_ms(i / 1000.0);
      CHECK(time >= last);
      last = time;
    }
  }

  TEST_CASE("equal percentiles are a fixed time, and none at all is zero") {
    const AccessLaw fixed{
        .p50_ms = 3, .p75_ms = 3, .p90_ms = 3, .p95_ms = 3, .p99_ms = 3};

    CHECK(fixed.quantile_ms(0.01) == 3);
    CHECK(fixed.quantile_ms(0.999) == 3);
    CHECK(AccessLaw{}.quantile_ms(0.5) == 0);
  }

  TEST_CASE("the atoms rise and their masses sum to one") {
    for (const AccessLaw& access : {example(), AccessLaw{}}) {
      const AtomicLaw law = access.atoms_with_jitter();

      CHECK(law.value_ms.size() == 96);
      CHECK(std::accumulate(law.mass.begin(), law.mass.end(), 0.0) ==
            doctest::Approx(1).epsilon(1e-12));
      CHECK(std::is_sorted(law.value_ms.begin(), law.value_ms.end()));
    }
  }

  TEST_CASE("the atoms never promise more than the law, and not much less") {
    const AccessLaw access = example();
    const AtomicLaw law = access.atoms_with_jitter();

    for (double t = 0.5; t < 200; t *= 1.05) {
      const double promised = mass_within(law, t);
      const double true_share = probability_within(access, t);
      CHECK(promised <= true_share + 1e-4);
      // Two roundings of at most one cell each (.0125 in the body).
      CHECK(promised >= true_share - 0.03);
    }
  }
}

}  // namespace
}  // namespace isochrone::geo
