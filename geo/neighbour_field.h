#pragma once

#include <span>
#include <vector>

#include "geo/network.h"

namespace isochrone::geo {

/// What measured pairs say about pairs near them: the logarithm of measured over
/// modelled time, smoothed over the map (kriging with a product of exponential kernels;
/// geo/MODEL.md). Zero far from all measurements.
class NeighbourField {
 public:
  /// The correction never leaves exp(-kLargest) .. exp(kLargest).
  static constexpr double kLargest = 0.2;

  NeighbourField(std::span<const NeighbourWeight> weights, const std::vector<Hub>& hubs,
                 double reach_km);

  bool empty() const { return anchors_.empty(); }

  /// An endpoint as the field sees it.
  struct View {
    std::vector<double> near;    ///< kernel to each anchor
    std::vector<double> folded;  ///< weights times kernel
  };
  View view(const Coordinates& at) const;

  /// Symmetric to the last bit.
  static double correction(const View& a, const View& b);

 private:
  double reach_km_ = 0;
  std::vector<Coordinates> anchors_;
  std::vector<double> weights_;  // square, symmetric
};

/// Kernel of two places: exp(-distance / reach).
double place_kernel(Coordinates a, Coordinates b, double reach_km);

}  // namespace isochrone::geo
