#include "geo/evaluation.h"

#include <algorithm>
#include <cmath>

namespace isochrone::geo {
namespace {

double quantile(std::vector<double>& values, double share) {
  std::ranges::sort(values);
  const double rank = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] +
         (rank - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

ErrorSummary summarise_errors(std::span<const JudgedPair> pairs) {
  ErrorSummary summary;
  summary.n = pairs.size();
  if (pairs.empty()) return summary;
  std::vector<double> signed_errors;
  std::vector<double> errors;
  std::vector<double> errors_ms;
  for (const JudgedPair& pair : pairs) {
    const double error_ms = pair.modelled_ms - pair.measured_ms;
    signed_errors.push_back(error_ms / pair.measured_ms);
    errors.push_back(std::abs(error_ms) / pair.measured_ms);
    errors_ms.push_back(std::abs(error_ms));
  }
  summary.median = quantile(errors, 0.5);
  summary.p90 = quantile(errors, 0.9);
  summary.median_ms = quantile(errors_ms, 0.5);
  summary.p90_ms = quantile(errors_ms, 0.9);
  summary.bias = quantile(signed_errors, 0.5);
  return summary;
}

std::map<std::string, ErrorSummary> summarise_groups(
    std::span<const JudgedPair> pairs) {
  std::map<std::string, std::vector<JudgedPair>> members;
  for (const JudgedPair& pair : pairs) members[pair.group].push_back(pair);
  std::map<std::string, ErrorSummary> groups;
  for (const auto& [name, group] : members) groups[name] = summarise_errors(group);
  return groups;
}

double mean_of_medians(const std::map<std::string, ErrorSummary>& groups) {
  if (groups.empty()) return 0;
  double sum = 0;
  for (const auto& [name, group] : groups) sum += group.median;
  return sum / static_cast<double>(groups.size());
}

}  // namespace isochrone::geo
