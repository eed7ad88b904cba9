#pragma once

#include <cstddef>
#include <span>

#include "geo/network.h"

namespace isochrone::geo {

/// One measured pair of places and the length of its modelled path.
struct PathObservation {
  double path_km = 0;  ///< > 0
  double rtt_ms = 0;   ///< > 0
  std::size_t from_place = 0;
  std::size_t to_place = 0;
  bool domestic = false;  ///< both ends in one country
};

/// Of |predicted - measured| / measured.
struct RelativeErrors {
  std::size_t n = 0;
  double median = 0;
  double p90 = 0;
  double mean = 0;
};

/// RTT of a path under the coefficients, without cap.
double predicted_ms(const RegimeCoefficients& coefficients, double path_km,
                    bool domestic = false);

/// `start` with the stretch (>= 1) and the two constants (>= near_ms) that minimise the
/// sum of absolute relative errors; near_ms, ramp, cap and a constant that no
/// observation tells about stay. Iteratively reweighted
/// least squares (Schlossmacher, JASA 1973). Throws std::invalid_argument for fewer
/// than three observations.
RegimeCoefficients fit_regime(std::span<const PathObservation> observations,
                              RegimeCoefficients start);

RelativeErrors relative_errors(std::span<const PathObservation> observations,
                               const RegimeCoefficients& coefficients);

/// Each place in turn is left out of the fit, and its pairs are predicted. What this
/// shows is the error of the two coefficients, not that of the transit policy.
RelativeErrors leave_place_out_errors(std::span<const PathObservation> observations,
                                      const RegimeCoefficients& start);

}  // namespace isochrone::geo
