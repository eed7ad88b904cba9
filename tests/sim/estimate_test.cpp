#include "sim/estimate.h"

#include <doctest/doctest.h>

#include "base/rng.h"

namespace isochrone::sim {
namespace {

TEST_SUITE("sim/estimate") {
  // Two units: 1 of 10 missed, scale 1; 3 of 10 missed, scale 3: (1 + 9) / (10 + 30).
  TEST_CASE("a share is the ratio of scaled sums") {
    const std::vector<WindowCount> a{{5, 1}, {5, 0}};
    const std::vector<WindowCount> b{{5, 1}, {5, 2}};

    CHECK(missed_share({{&a, 1}, {&b, 3}}).share == doctest::Approx(0.25));
  }

  // Clopper-Pearson for 0 of n at 95 % one-sided: 1 - .05^(1/n); n = 200: .01487.
  TEST_CASE("no miss among 200 requests leaves 1.49 % possible") {
    const std::vector<WindowCount> none{{100, 0}, {100, 0}};
    const ShareEstimate estimate = missed_share({{&none, 1}});

    CHECK(estimate.share == 0);
    CHECK(estimate.low == 0);
    CHECK(estimate.high == doctest::Approx(0.01487).epsilon(0.001));
  }

  // t quantiles at .95: 6.314 for 1 degree of freedom, 1.812 for 10 (any table).
  TEST_CASE("student quantiles are those of the tables") {
    CHECK(student_quantile(0.95, 1) == doctest::Approx(6.314).epsilon(0.001));
    CHECK(student_quantile(0.95, 10) == doctest::Approx(1.812).epsilon(0.001));
  }

  TEST_CASE("nothing measured shows nothing") {
    const ShareEstimate estimate = missed_share({});

    CHECK(estimate.low == 0);
    CHECK(estimate.high == 1);
  }

  // Windows whose miss shares scatter far more than binomially, as bursts make them do:
  // each window misses all with probability .04, else nothing; the truth is .04. Of
  // 2,000 one-sided limits at 95 % at least 93 % must hold (standard error .5 %).
  TEST_CASE("limits hold as often as they say when windows scatter") {
    Rng rng(11);
    int low_holds = 0;
    int high_holds = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<WindowCount> windows(400);
      for (WindowCount& window : windows) {
        window = {50, rng.uniform() < 0.04 ? 50.0 : 0.0};
      }
      const ShareEstimate estimate = missed_share({{&windows, 1}});
      low_holds += estimate.low <= 0.04 ? 1 : 0;
      high_holds += estimate.high >= 0.04 ? 1 : 0;
    }

    CHECK(low_holds > 1860);
    CHECK(high_holds > 1860);
  }
}

}  // namespace
}  // namespace isochrone::sim
