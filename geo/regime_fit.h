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

/// RTT of a path under the coefficients, without cap.
double predicted_ms(const RegimeCoefficients& coefficients, double path_km,
                    bool domestic = false);

/// `start` with the stretch (>= 1) and the two constants (>= near_ms) that minimise the
/// sum of absolute relative errors; near_ms, ramp, cap and a constant that no
/// observation tells about stay. Iteratively reweighted least squares (Schlossmacher,
/// JASA 1973). Throws std::invalid_argument for fewer than three observations.
RegimeCoefficients fit_regime(std::span<const PathObservation> observations,
                              RegimeCoefficients start);

}  // namespace isochrone::geo
