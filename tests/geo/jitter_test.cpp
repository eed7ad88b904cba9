#include "geo/jitter.h"

#include <cmath>
#include <cstddef>
#include <span>

#include <doctest/doctest.h>

#include "geo/last_mile.h"

namespace isochrone::geo {
namespace {

/// Lower incomplete gamma over the whole, by its series (Abramowitz, Stegun 6.5.29).
double gamma_share(double shape, double x) {
  if (x <= 0) return 0;
  if (x > 40) return 1;
  double term = 1 / shape;
  double sum = term;
  for (int n = 1; n < 300; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return sum * std::exp(-x + shape * std::log(x) - std::lgamma(shape));
}

/// A mixture of Gamma laws of one shape over paths.
struct Mixture {
  double shape;
  std::span<const PathJitter> paths;

  /// Standard deviation of the path at this share of all paths, its logarithm linear
  /// between the knots and constant beyond them.
  double deviation_ms(double share) const {
    std::size_t high = 0;
    while (high < paths.size() && paths[high].share < share) ++high;
    if (high == 0) return paths.front().deviation_ms;
    if (high == paths.size()) return paths.back().deviation_ms;
    const PathJitter& a = paths[high - 1];
    const PathJitter& b = paths[high];
    const double part = (share - a.share) / (b.share - a.share);
    return a.deviation_ms * std::pow(b.deviation_ms / a.deviation_ms, part);
  }

  /// P(jitter <= t): a Gamma law of this shape and standard deviation s has the scale
  /// s / sqrt(shape). Mean over 400 paths.
  double share_within(double t_ms) const {
    double sum = 0;
    for (int i = 0; i < 400; ++i) {
      const double scale_ms = deviation_ms((i + 0.5) / 400) / std::sqrt(shape);
      sum += gamma_share(shape, t_ms / scale_ms);
    }
    return sum / 400;
  }
};

const Mixture kPublic{kJitterShape, kPathJitter};

TEST_SUITE("geo/jitter") {
  // The share of slower round trips may be wrong by a tenth of itself: between the
  // knots of the paths, and most of all beyond the last, the mixture is interpolated.
  TEST_CASE("jitter is the mixture of Gamma laws over paths") {
    for (const double u : {0.1, 0.3, 0.5, 0.6, 0.75, 0.85, 0.9, 0.93, 0.95, 0.97}) {
      CAPTURE(u);
      const double within = kPublic.share_within(jitter_quantile_ms(u));
      CHECK(within == doctest::Approx(u).epsilon(0.02));
      CHECK(1 - within == doctest::Approx(1 - u).epsilon(0.1));
    }
  }

  // One path in a hundred deviates by more than the last knot says, so the mixture over
  // the knots alone is the one that has fewer slow round trips here.
  TEST_CASE("the tail of jitter is no shorter than that of the described paths") {
    for (const double u : {0.98, 0.99, 0.995, 0.999}) {
      CHECK(1 - kPublic.share_within(jitter_quantile_ms(u)) <= 1.1 * (1 - u));
    }
  }

  // Measured: half of all paths deviate by 0.67 ms; the median round trip on such a
  // path lies under that, because the law is skewed.
  TEST_CASE("most round trips are near the floor, and one in a hundred is not") {
    CHECK(jitter_quantile_ms(0.5) < 0.667);
    CHECK(jitter_quantile_ms(0.99) > 10);
  }

  // Median 0.6 ln 2. Deviations of 50 paths under 60 ms of a backbone, June 2020, and
  // of all its 342 paths (10, 50, 90, 95 and 99 %).
  TEST_CASE("jitter between data centres is that of a backbone, short paths and long") {
    const PathJitter shorter[] = {
        {0.10, 0.117}, {0.50, 0.207}, {0.90, 0.347}, {0.95, 0.733}, {0.99, 0.755}};
    const PathJitter all[] = {
        {0.10, 0.188}, {0.50, 0.426}, {0.90, 0.883}, {0.95, 2.134}, {0.99, 4.842}};

    CHECK(backbone_jitter_quantile_ms(0.5) == doctest::Approx(0.6 * std::log(2.0)));
    for (const double u : {0.9, 0.95, 0.99}) {
      CAPTURE(u);
      CHECK(Mixture{kJitterShape, shorter}.share_within(
                backbone_jitter_quantile_ms(u)) >= u);
    }
    CHECK(Mixture{kJitterShape, all}.share_within(backbone_jitter_quantile_ms(0.99)) <
          0.99);
    CHECK(backbone_jitter_quantile_ms(0) == 0);
    CHECK(std::isfinite(backbone_jitter_quantile_ms(1)));
  }

  TEST_CASE("jitter begins at nothing, never falls and has an end") {
    CHECK(jitter_quantile_ms(0) == 0);
    CHECK(jitter_quantile_ms(-1) == 0);
    double last = 0;
    for (int i = 1; i <= 2000; ++i) {
      const double time_ms = jitter_quantile_ms(i / 2000.0);
      CHECK(time_ms >= last);
      last = time_ms;
    }
    CHECK(jitter_quantile_ms(1) == doctest::Approx(178.1287));
  }
}

}  // namespace
}  // namespace isochrone::geo
