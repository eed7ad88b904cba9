// Round trips on one path lie above a floor by a Gamma law of shape 0.36: most hardly
// at all, a few by several times the mean. Paths differ far more among themselves: half
// of them have a standard deviation of 0.7 ms, one in ten over 4 ms, one in a hundred
// 30 ms. Seven eighths of that (in logarithms) belong to the two ends and not to the
// way between them, so a length says little and a user of whom nothing is known stands
// for all paths at once: the law is the mixture over paths. A single Gamma law with the
// median deviation would have a tail ten times too short at the 99th percentile.
//
// The mixture is kept by its quantiles; between them the logarithm of the time is
// linear in the logit of the share, which is exact for a power at either end.

#include "geo/jitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "geo/last_mile.h"

namespace isochrone::geo {
namespace {

struct Knot {
  double share = 0;
  double time_ms = 0;
};

constexpr double kBackboneMeanMs = 0.6;
// The exponential has no largest value; the law used here stops at this quantile (12
// ms).
constexpr double kBackboneTop = 1 - 1e-9;

/// A law by its quantiles.
template <std::size_t kCount>
class QuantileLaw {
 public:
  explicit QuantileLaw(const std::array<Knot, kCount>& knots) {
    for (std::size_t i = 0; i < kCount; ++i) {
      knots_[i] = {logit(knots[i].share), std::log(knots[i].time_ms)};
    }
  }

  double quantile_ms(double u) const {
    if (!(u > 0)) return 0;
    const double x = logit(std::min(u, kJitterTop));
    const auto high =
        std::ranges::find_if(knots_.begin() + 1, knots_.end() - 1,
                             [x](const Knot& knot) { return x <= knot.share; });
    const Knot& low = *(high - 1);
    const double part = (x - low.share) / (high->share - low.share);
    return std::exp(low.time_ms + part * (high->time_ms - low.time_ms));
  }

 private:
  static double logit(double u) { return std::log(u / (1 - u)); }

  std::array<Knot, kCount> knots_;  // logit of the share, logarithm of the time
};

const QuantileLaw<12>& public_law() {
  static const QuantileLaw<12> kLaw({{{0.05, 0.0002},
                                      {0.10, 0.0016},
                                      {0.25, 0.0203},
                                      {0.50, 0.1548},
                                      {0.75, 0.6765},
                                      {0.90, 2.1262},
                                      {0.95, 4.3993},
                                      {0.975, 8.6787},
                                      {0.99, 19.4885},
                                      {0.995, 33.4515},
                                      {0.999, 84.7374},
                                      {kJitterTop, 178.1287}}});
  return kLaw;
}

}  // namespace

double jitter_quantile_ms(double u) { return public_law().quantile_ms(u); }

double backbone_jitter_quantile_ms(double u) {
  return -kBackboneMeanMs * std::log1p(-std::clamp(u, 0.0, kBackboneTop));
}

}  // namespace isochrone::geo
