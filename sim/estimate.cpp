#include "sim/estimate.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace isochrone::sim {
namespace {

constexpr double kConfidence = 0.95;

struct Sums {
  double requests = 0;        // scaled
  double missed = 0;          // scaled
  double squared_scales = 0;  // sum of scale^2 * requests: for the effective number
};

Sums sums_of(const std::vector<UnitWindows>& units) {
  Sums sums;
  for (const UnitWindows& unit : units) {
    for (const WindowCount& window : *unit.windows) {
      sums.requests += unit.scale * window.requests;
      sums.missed += unit.scale * window.missed;
      sums.squared_scales += unit.scale * unit.scale * window.requests;
    }
  }
  return sums;
}

void widen_to_binomial(ShareEstimate& estimate, double requests) {
  const double missed = estimate.share * requests;
  const double met = requests - missed;
  const double high =
      met <= 0 ? 1
               : boost::math::ibeta_inv(missed + 1, std::max(met, 1e-9), kConfidence);
  const double low = missed <= 0 ? 0
                                 : boost::math::ibeta_inv(std::max(missed, 1e-9),
                                                          met + 1, 1 - kConfidence);
  estimate.high = std::max(estimate.high, high);
  estimate.low = std::min(estimate.low, low);
}

}  // namespace

double student_quantile(double p, double degrees) {
  return boost::math::quantile(boost::math::students_t(std::max(degrees, 1.0)), p);
}

ShareEstimate missed_share(const std::vector<UnitWindows>& units) {
  ShareEstimate estimate;
  const Sums sums = sums_of(units);
  if (sums.requests <= 0) return estimate;
  estimate.share = sums.missed / sums.requests;
  double variance = 0;
  double squares = 0;
  for (const UnitWindows& unit : units) {
    const std::vector<WindowCount>& windows = *unit.windows;
    for (std::size_t i = 0; i + 1 < windows.size(); i += 2) {
      const double requests = windows[i].requests - windows[i + 1].requests;
      const double missed = windows[i].missed - windows[i + 1].missed;
      const double residual = unit.scale * (missed - estimate.share * requests);
      variance += residual * residual;
      squares += residual * residual * residual * residual;
    }
  }
  estimate.standard_error = std::sqrt(variance) / sums.requests;
  estimate.degrees = squares > 0 ? std::max(1.0, variance * variance / squares) : 1;
  const double reach =
      student_quantile(kConfidence, estimate.degrees) * estimate.standard_error;
  estimate.low = std::max(0.0, estimate.share - reach);
  estimate.high = std::min(1.0, estimate.share + reach);
  widen_to_binomial(estimate, sums.requests * sums.requests / sums.squared_scales);
  return estimate;
}

}  // namespace isochrone::sim
