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

  // Windows saw 20 requests with 4 missed where the fluid saw 18 and 5; in its life the
  // fluid sees 180 and 30 (scale 1): (30 + 4 - 5) / (180 + 20 - 18) = 29 / 182.
  TEST_CASE("the fluid corrects what the windows happened to see") {
    const std::vector<WindowCount> windows{{12, 3, 10, 4}, {8, 1, 8, 1}};

    CHECK(missed_share({{&windows, 1, 180, 30}}).share == doctest::Approx(29.0 / 182));
  }

  // A fluid that is always right leaves only its own uncertainty: variance .01^2 on a
  // life of 1 request is a standard error of .01.
  TEST_CASE("a perfect control leaves the variance of the fluid alone") {
    const std::vector<WindowCount> windows{{1000, 70, 1000, 70}, {900, 9, 900, 9}};
    const ShareEstimate estimate = missed_share({{&windows, 1e-3, 1, 0.05, 1e-4}});

    CHECK(estimate.share == doctest::Approx(0.05));
    CHECK(estimate.standard_error == doctest::Approx(0.01));
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
