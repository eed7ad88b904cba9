#include "sim/estimate.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace isochrone::sim {
namespace {

constexpr double kConfidence = 0.95;

struct Sums {
  double requests = 0;  // all scaled
  double missed = 0;
  double seen = 0;            // requests without the fluid
  double squared_scales = 0;  // for the effective number of requests
};

Sums sums_of(const std::vector<UnitWindows>& units) {
  Sums sums;
  for (const UnitWindows& unit : units) {
    sums.requests += unit.fluid_requests;
    sums.missed += unit.fluid_missed;
    for (const WindowCount& window : *unit.windows) {
      const double scale = unit.scale * window.weight;
      sums.requests += scale * (window.requests - window.fluid_requests);
      sums.missed += scale * (window.missed - window.fluid_missed);
      sums.seen += scale * window.requests;
      sums.squared_scales += scale * scale * window.requests;
    }
  }
  return sums;
}

double residual(const WindowCount& window, double share) {
  return window.weight * (window.missed - window.fluid_missed -
                          share * (window.requests - window.fluid_requests));
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
  estimate.binomial = high > estimate.high || low < estimate.low;
  estimate.high = std::max(estimate.high, high);
  estimate.low = std::min(estimate.low, low);
}

}  // namespace

double student_quantile(double p, double degrees) {
  return boost::math::quantile(boost::math::students_t(std::max(degrees, 1.0)), p);
}

ShareEstimate missed_share(const std::vector<UnitWindows>& units) {
  ShareEstimate estimate;
  estimate.variance_parts.assign(units.size(), 0);
  const Sums sums = sums_of(units);
  if (sums.seen <= 0 || sums.requests <= 0) return estimate;
  estimate.share = std::clamp(sums.missed / sums.requests, 0.0, 1.0);
  double variance = 0;
  double squares = 0;
  for (std::size_t u = 0; u < units.size(); ++u) {
    const std::vector<WindowCount>& windows = *units[u].windows;
    double part = units[u].fluid_variance;
    for (std::size_t i = 0; i + 1 < windows.size(); i += 2) {
      const double difference = residual(windows[i], estimate.share) -
                                residual(windows[i + 1], estimate.share);
      const double squared = units[u].scale * units[u].scale * difference * difference;
      part += squared;
      squares += squared * squared;
    }
    estimate.variance_parts[u] = part;
    variance += part;
  }
  for (double& part : estimate.variance_parts) part /= variance > 0 ? variance : 1;
  estimate.standard_error = std::sqrt(variance) / sums.requests;
  estimate.degrees = squares > 0 ? std::max(1.0, variance * variance / squares) : 1;
  const double reach =
      student_quantile(kConfidence, estimate.degrees) * estimate.standard_error;
  estimate.low = std::max(0.0, estimate.share - reach);
  estimate.high = std::min(1.0, estimate.share + reach);
  estimate.effective_requests = sums.seen * sums.seen / sums.squared_scales;
  widen_to_binomial(estimate, estimate.effective_requests);
  return estimate;
}

}  // namespace isochrone::sim
