#include <cmath>
#include <limits>

#include "sim/estimate.h"
#include "sim/life.h"

namespace isochrone::sim {
namespace {

double mean_of(const std::vector<double>& batches) {
  double sum = 0;
  for (const double batch : batches) sum += batch;
  return batches.empty() ? 0 : sum / static_cast<double>(batches.size());
}

double half_width_of(const std::vector<double>& batches) {
  const auto n = static_cast<double>(batches.size());
  if (n < 2) return std::numeric_limits<double>::infinity();
  const double mean = mean_of(batches);
  double square = 0;
  for (const double batch : batches) square += (batch - mean) * (batch - mean);
  return student_quantile(0.975, n - 1) * std::sqrt(square / (n - 1) / n);
}

}  // namespace

double ObjectiveLife::attained() const {
  return requests > 0 ? static_cast<double>(kept) / static_cast<double>(requests) : 1;
}

double ObjectiveLife::at_percentile() const { return mean_of(percentile_by_day); }

double ObjectiveLife::half_width() const { return half_width_of(share_by_day); }

double ObjectiveLife::percentile_half_width() const {
  return half_width_of(percentile_by_day);
}

}  // namespace isochrone::sim
