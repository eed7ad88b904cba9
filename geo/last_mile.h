#pragma once

#include <vector>

namespace isochrone::geo {

/// Law of a non-negative time in ms, as atoms sorted by value: probability `mass[i]` of
/// `value_ms[i]`. Masses sum to 1. Made by rounding values *up* within each cell, so
/// that P(time <= t) is never overstated.
struct AtomicLaw {
  std::vector<double> value_ms;
  std::vector<double> mass;
};

/// Access time of a population, user to network edge, from its percentiles.
struct AccessLaw {
  double p50_ms = 0;
  double p75_ms = 0;
  double p90_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  double download_mbps = 0;  ///< 0 = no transfer time is modelled
  bool estimated = false;    ///< pooled from a region: a guess, printed as such

  bool none() const { return p99_ms == 0; }
  /// Time at quantile u in (0, 1): log-linear between the percentiles (0.2 * p50 at
  /// u = 0), continued beyond p99 with the slope of p95-p99 up to 2 * p99.
  double quantile_ms(double u) const;
  /// 96 cells, finer towards the tail (last edges .99, .995, .999, 1), each at its
  /// upper edge, convolved with the jitter of jitter_quantile_ms().
  AtomicLaw atoms_with_jitter() const;
};

/// Time of a round trip above the floor of its path, on a path drawn at random; see
/// geo/jitter.h, also for users without a last mile.
double jitter_quantile_ms(double u);

}  // namespace isochrone::geo
