#pragma once

#include <span>
#include <vector>

#include "geo/place.h"

namespace isochrone::geo {

/// What one measured pair differs by from the model.
struct NeighbourObservation {
  Coordinates from;
  Coordinates to;
  double log_ratio = 0;  ///< of measured over modelled
  double path_km = 0;    ///< short paths say less about their neighbours
};

/// Weights of NeighbourField, one per observation. Kriging (Krige 1951; Rasmussen and
/// Williams 2006, chapter 2): the log ratio is a Gaussian field over pairs of places
/// with variance 0.03 and covariance exp(-(distance of the one ends + distance of the
/// others) / reach), in either order of the ends, plus noise of standard deviation 0.1,
/// and 0.3 more on short paths (falling by e every 1500 km). Log ratios beyond
/// 0.25 count as 0.25. O(n^3).
std::vector<double> fit_neighbours(std::span<const NeighbourObservation> observations,
                                   double reach_km);

/// The field of the weights at a pair, not limited.
double neighbour_log_ratio(std::span<const NeighbourObservation> observations,
                           std::span<const double> weights, double reach_km,
                           Coordinates from, Coordinates to);

}  // namespace isochrone::geo
