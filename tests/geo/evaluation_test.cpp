#include "geo/evaluation.h"

#include <vector>

#include <doctest/doctest.h>

namespace isochrone::geo {
namespace {

TEST_SUITE("geo/evaluation") {
  // Errors of 0, 10, 20, 30 and 40 %; of 0, 10, 20, 30 and 40 ms; half of them
  // negative.
  TEST_CASE("errors are shares of the measured value, quantiles interpolated") {
    const std::vector<JudgedPair> pairs{{100, 140, "a"},
                                        {100, 70, "a"},
                                        {100, 80, "b"},
                                        {100, 90, "b"},
                                        {100, 100, "b"}};

    const ErrorSummary all = summarise_errors(pairs);
    CHECK(all.n == 5);
    CHECK(all.median == doctest::Approx(0.2));
    CHECK(all.p90 == doctest::Approx(0.36));  // rank 3.6 of 0 .. 4
    CHECK(all.median_ms == doctest::Approx(20));
    CHECK(all.p90_ms == doctest::Approx(36));
    CHECK(all.bias == doctest::Approx(-0.1));
    const auto groups = summarise_groups(pairs);
    CHECK(groups.at("a").median == doctest::Approx(0.35));
    CHECK(groups.at("b").median == doctest::Approx(0.1));
    CHECK(mean_of_medians(groups) == doctest::Approx(0.225));
  }

  TEST_CASE("no pairs have no error") {
    CHECK(summarise_errors({}).n == 0);
    CHECK(mean_of_medians({}) == 0);
  }
}

}  // namespace
}  // namespace isochrone::geo
