#include "sim/law.h"

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace isochrone::sim {
namespace {

constexpr std::int64_t kNoCap = 1'000'000'000'000;

TEST_SUITE("sim/law") {
  TEST_CASE("a lognormal law keeps the mean and the p99 that were asked for") {
    for (const auto& [mean, p99] : std::vector<std::pair<double, double>>{
             {600, 4000}, {250, 1200}, {1.2e6, 3e6}, {1155, 8000}}) {
      const IntegerLaw law = IntegerLaw::lognormal(mean, p99, kNoCap);

      CHECK(law.mean() == doctest::Approx(mean).epsilon(0.005));
      CHECK(static_cast<double>(law.at(0.99)) == doctest::Approx(p99).epsilon(0.005));
    }
  }

  // ln(p99 / mean) = z*s - s^2/2 has the roots s and 2z - s; the smaller one lies below
  // z = 2.326, so that the median mean * exp(-s^2/2) is above mean * exp(-2.71).
  TEST_CASE("of two lognormal laws the less spread is meant") {
    const IntegerLaw law = IntegerLaw::lognormal(600, 4000, kNoCap);

    CHECK(law.at(0.5) > 600 * std::exp(-2.71));
  }

  TEST_CASE("values are positive and capped") {
    const IntegerLaw law = IntegerLaw::lognormal(3, 20, 10);

    CHECK(law.at(1e-9) == 1);
    CHECK(law.largest() == 10);
  }

  // Uniform on 100 .. 300: mean 200, quartile 150.
  TEST_CASE("a uniform law is spread evenly") {
    const IntegerLaw law = IntegerLaw::uniform(100, 300, kNoCap);

    CHECK(law.mean() == doctest::Approx(200).epsilon(0.001));
    CHECK(law.at(0.25) == 150);
  }

  TEST_CASE("impossible laws are refused") {
    CHECK_THROWS_AS(IntegerLaw::lognormal(100, 90, kNoCap), std::invalid_argument);
    CHECK_THROWS_AS(IntegerLaw::lognormal(100, 1600, kNoCap), std::invalid_argument);
    CHECK_THROWS_AS(IntegerLaw({3, 2, 1}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::sim
