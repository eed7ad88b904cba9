#pragma once

#include <cstddef>
#include <vector>

namespace isochrone::sim {

/// What one window saw of a cell, beside what the fluid saw in the same window.
struct WindowCount {
  double requests = 0;
  double missed = 0;
  double fluid_requests = 0;
  double fluid_missed = 0;
  double weight = 1;  ///< mean 1 over many windows
};

/// Windows of one unit (a pool in a set of blocks), in pairs that were drawn from the
/// same part of its states; each stands for `scale` times itself.
struct UnitWindows {
  const std::vector<WindowCount>* windows;
  double scale = 1;
  double fluid_requests = 0;  ///< of the whole life, in the unit of scale * requests
  double fluid_missed = 0;
  double fluid_variance = 0;  ///< of fluid_missed: its path is long, not endless
};

/// A share of requests with its limits.
struct ShareEstimate {
  double share = 0;
  double low = 0;  ///< one-sided 95 % limit each
  double high = 1;
  double standard_error = 0;
  double degrees = 1;                  ///< of freedom of the standard error
  double effective_requests = 0;       ///< independent ones that would tell as much
  bool binomial = false;               ///< a limit was widened to the binomial one
  std::vector<double> variance_parts;  ///< by unit, summing to 1 (or all 0)
};

/// The share of requests that missed, over all units: a ratio of scaled sums, each with
/// the fluid as control variate: what the windows saw beyond the fluid, plus what the
/// fluid sees in its whole life. Its standard error comes from the differences within
/// pairs, its limits from Student's t with Satterthwaite's degrees of freedom, but
/// never closer than the exact binomial limits (Clopper and Pearson 1934) of as many
/// independent requests: windows without a miss do not prove that there is none.
ShareEstimate missed_share(const std::vector<UnitWindows>& units);

/// Quantile of Student's t; `degrees` >= 1.
double student_quantile(double p, double degrees);

}  // namespace isochrone::sim
