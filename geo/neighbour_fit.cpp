#include "geo/neighbour_fit.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "geo/neighbour_field.h"

namespace isochrone::geo {
namespace {

constexpr double kVariance = 0.03;
constexpr double kNoise = 0.1;
constexpr double kShortNoise = 0.3;
constexpr double kShortKm = 1500;
constexpr double kOutlier = 0.25;

double kernel(const NeighbourObservation& a, Coordinates from, Coordinates to,
              double reach_km) {
  const auto k = [&](Coordinates x, Coordinates y) {
    return place_kernel(x, y, reach_km);
  };
  return k(a.from, from) * k(a.to, to) + k(a.from, to) * k(a.to, from);
}

}  // namespace

std::vector<double> fit_neighbours(std::span<const NeighbourObservation> observations,
                                   double reach_km) {
  const auto n = std::ssize(observations);
  Eigen::MatrixXd covariance(n, n);
  Eigen::VectorXd target(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto& a = observations[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j <= i; ++j) {
      const auto& b = observations[static_cast<std::size_t>(j)];
      covariance(i, j) = kVariance * kernel(a, b.from, b.to, reach_km);
      covariance(j, i) = covariance(i, j);
    }
    const double noise = kNoise + kShortNoise * std::exp(-a.path_km / kShortKm);
    covariance(i, i) += noise * noise;
    target[i] = std::clamp(a.log_ratio, -kOutlier, kOutlier);
  }
  const Eigen::VectorXd weights = kVariance * covariance.llt().solve(target);
  return {weights.begin(), weights.end()};
}

double neighbour_log_ratio(std::span<const NeighbourObservation> observations,
                           std::span<const double> weights, double reach_km,
                           Coordinates from, Coordinates to) {
  double sum = 0;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    sum += weights[i] * kernel(observations[i], from, to, reach_km);
  }
  return sum;
}

}  // namespace isochrone::geo
