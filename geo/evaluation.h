#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace isochrone::geo {

/// A measured round trip, and what the model says of it.
struct JudgedPair {
  double measured_ms = 0;  ///< > 0
  double modelled_ms = 0;
  std::string group;  ///< e.g. a pair of continents
};

/// How far a model is from measurements. Relative errors are shares of the measured
/// value; quantiles are interpolated linearly.
struct ErrorSummary {
  std::size_t n = 0;
  double median = 0;  ///< of |modelled - measured| / measured
  double p90 = 0;
  double median_ms = 0;  ///< of |modelled - measured|
  double p90_ms = 0;
  double bias = 0;  ///< median of (modelled - measured) / measured
};

/// All zero if there is no pair.
ErrorSummary summarise_errors(std::span<const JudgedPair> pairs);

/// One summary per group, by name.
std::map<std::string, ErrorSummary> summarise_groups(std::span<const JudgedPair> pairs);

/// Mean of the groups' medians: every group counts alike, however many pairs it has.
double mean_of_medians(const std::map<std::string, ErrorSummary>& groups);

}  // namespace isochrone::geo
