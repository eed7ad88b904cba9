#include "geo/regime_fit.h"

#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "geo/evaluation.h"

namespace isochrone::geo {
namespace {

const RegimeCoefficients kTruth{
    .stretch = 1.3, .constant_ms = 8, .near_ms = 1, .ramp_km = 500};

std::vector<PathObservation> exact_pairs() {
  std::vector<PathObservation> pairs;
  for (std::size_t i = 0; i < 12; ++i) {
    const double km = 150.0 + 900.0 * static_cast<double>(i);
    pairs.push_back({km, predicted_ms(kTruth, km), i, i + 1});
  }
  return pairs;
}

RegimeCoefficients unfitted() {
  RegimeCoefficients start = kTruth;
  start.stretch = 1;
  start.constant_ms = 1;
  return start;
}

TEST_SUITE("geo/regime_fit") {
  // Truth: 8 ms between countries, 3 ms within one. 1000 km: 9.7948 * 1.3 = 12.7332 ms.
  TEST_CASE("paths within one country have a constant of their own") {
    RegimeCoefficients truth = kTruth;
    truth.domestic_ms = 3;
    std::vector<PathObservation> pairs;
    for (std::size_t i = 1; i <= 12; ++i) {
      const double km = 400.0 * static_cast<double>(i);
      const bool domestic = i % 2 == 0;
      pairs.push_back({km, predicted_ms(truth, km, domestic), i, i + 1, domestic});
    }

    CHECK(predicted_ms(truth, 1000, true) == doctest::Approx(15.7332).epsilon(1e-5));
    const RegimeCoefficients fitted = fit_regime(pairs, unfitted());
    CHECK(fitted.stretch == doctest::Approx(1.3));
    CHECK(fitted.constant_ms == doctest::Approx(8));
    CHECK(fitted.domestic_ms.value_or(0) == doctest::Approx(3));
  }

  // 1000 km: 2000 / 204190 s = 9.79480 ms, * 1.3 + 8 = 20.7332. 250 km, half the ramp:
  // 2.44870 * 1.3 + (1 + 8) / 2 = 7.6833.
  TEST_CASE("a prediction is stretched light plus the grown constant") {
    CHECK(predicted_ms(kTruth, 1000) == doctest::Approx(20.7332).epsilon(1e-5));
    CHECK(predicted_ms(kTruth, 250) == doctest::Approx(7.6833).epsilon(1e-5));
  }

  TEST_CASE("coefficients that made the data are found again") {
    const RegimeCoefficients fitted = fit_regime(exact_pairs(), unfitted());

    CHECK(fitted.stretch == doctest::Approx(1.3));
    CHECK(fitted.constant_ms == doctest::Approx(8));
    CHECK(fitted.near_ms == 1);
  }

  // An absolute-error fit passes through the majority, whatever the rest does.
  TEST_CASE("a few wild pairs do not move the fit") {
    std::vector<PathObservation> pairs = exact_pairs();
    pairs[3].rtt_ms *= 3;
    pairs[8].rtt_ms *= 2;
    const RegimeCoefficients fitted = fit_regime(pairs, unfitted());

    CHECK(fitted.stretch == doctest::Approx(1.3).epsilon(0.005));
    CHECK(fitted.constant_ms == doctest::Approx(8).epsilon(0.05));
    std::vector<JudgedPair> judged;
    for (const PathObservation& pair : pairs) {
      judged.push_back({pair.rtt_ms, predicted_ms(fitted, pair.path_km), ""});
    }
    CHECK(summarise_errors(judged).median < 0.01);
  }

  TEST_CASE("no fit is faster than light or below the near constant") {
    std::vector<PathObservation> pairs = exact_pairs();
    for (PathObservation& pair : pairs) pair.rtt_ms = 9e-3 * pair.path_km;
    const RegimeCoefficients fitted = fit_regime(pairs, unfitted());

    CHECK(fitted.stretch == 1);
    CHECK(fitted.constant_ms == 1);
  }

  TEST_CASE("two pairs are too few to fit") {
    CHECK_THROWS_WITH_AS(fit_regime(std::vector<PathObservation>(2), unfitted()),
                         "a regime is fitted on three pairs at least",
                         std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::geo
