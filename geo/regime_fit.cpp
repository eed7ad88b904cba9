#include "geo/regime_fit.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>

#include "geo/regime_law.h"

namespace isochrone::geo {
namespace {

constexpr int kRounds = 60;
// Errors below one per cent count alike, or a pair that fits by chance would rule.
constexpr double kSmallestError = 0.01;

/// rtt - near * (1 - grown) = stretch * light + constant * grown, in units of the rtt.
/// Columns: stretch, constant between countries, constant within one.
struct Design {
  Eigen::MatrixX3d terms;
  Eigen::VectorXd target;

  Design(std::span<const PathObservation> observations, const RegimeCoefficients& c)
      : terms(std::ssize(observations), 3), target(std::ssize(observations)) {
    for (Eigen::Index i = 0; i < target.size(); ++i) {
      const PathObservation& o = observations[static_cast<std::size_t>(i)];
      const double share = grown_share(c, o.path_km);
      const double constant = share / o.rtt_ms;
      terms.row(i) << kFibreMsPerKm * o.path_km / o.rtt_ms, o.domestic ? 0 : constant,
          o.domestic ? constant : 0;
      target[i] = (o.rtt_ms - c.near_ms * (1 - share)) / o.rtt_ms;
    }
  }
};

/// Weighted least squares; a coefficient that would fall below its bound is fixed there
/// and the others are solved again.
Eigen::Vector3d solve(const Design& design, const Eigen::VectorXd& weights,
                      const Eigen::Vector3d& lowest) {
  const auto normal = design.terms.transpose() * weights.asDiagonal();
  Eigen::Matrix3d matrix = normal * design.terms;
  Eigen::Vector3d right = normal * design.target;
  const auto fix = [&](Eigen::Index k) {
    right -= matrix.col(k) * lowest[k];
    matrix.col(k).setZero();
    matrix.row(k).setZero();
    matrix(k, k) = 1;
    right[k] = lowest[k];
  };
  for (const Eigen::Index k : {0, 1, 2}) {
    if (matrix(k, k) == 0) fix(k);
  }
  Eigen::Vector3d x = matrix.ldlt().solve(right);
  for (const Eigen::Index k : {0, 1, 2}) {
    if (x[k] >= lowest[k]) continue;
    fix(k);
    x = matrix.ldlt().solve(right);
  }
  return x.cwiseMax(lowest);
}

}  // namespace

double predicted_ms(const RegimeCoefficients& c, double path_km, bool domestic) {
  return kFibreMsPerKm * path_km * c.stretch + c.near_ms +
         (full_constant_ms(c, domestic) - c.near_ms) * grown_share(c, path_km);
}

RegimeCoefficients fit_regime(std::span<const PathObservation> observations,
                              RegimeCoefficients start) {
  if (observations.size() < 3) {
    throw std::invalid_argument("a regime is fitted on three pairs at least");
  }
  const Design design(observations, start);
  const Eigen::Vector3d lowest(1, start.near_ms, start.near_ms);
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(design.target.size());
  Eigen::Vector3d x = lowest;
  for (int round = 0; round < kRounds; ++round) {
    x = solve(design, weights, lowest);
    const Eigen::ArrayXd errors = (design.terms * x - design.target).array().abs();
    weights = errors.max(kSmallestError).inverse().matrix();
  }
  start.stretch = x[0];
  const auto told = [&](Eigen::Index column) {
    return design.terms.col(column).cwiseAbs().sum() > 0;
  };
  if (told(1)) start.constant_ms = x[1];
  if (told(2)) start.domestic_ms = x[2];
  return start;
}

}  // namespace isochrone::geo
