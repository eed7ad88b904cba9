#pragma once

#include <vector>

#include "geo/evaluation.h"
#include "geo/neighbour_fit.h"
#include "geo/network.h"
#include "tools/calibrate/network_sample.h"

namespace isochrone::calibrate {

/// What a fold leaves out: whole cities, whole transit groups of countries, or whole
/// cities and the operator too (fitted on one file, judged on another).
enum class LeftOut { kCities, kGroups, kCitiesAndOperator };

/// Regime coefficients and, where they have a reach, measured neighbours, fitted to
/// some pairs.
class Fit {
 public:
  Fit(const Sample& sample, const std::vector<const MeasuredPair*>& pairs,
      const geo::RegimeCoefficients& start);

  const geo::RegimeCoefficients& coefficients() const { return coefficients_; }
  double predicted_ms(const MeasuredPair& pair) const;

 private:
  const Sample& sample_;
  geo::RegimeCoefficients coefficients_;
  std::vector<geo::NeighbourObservation> observations_;
  std::vector<double> weights_;
};

/// Pairs predicted by fits that have seen neither of their ends: four folds, drawn six
/// times. The transit policy and the gates have seen all pairs.
std::vector<geo::JudgedPair> cross_validate(const Sample& sample,
                                            const geo::RegimeCoefficients& start,
                                            LeftOut left_out);

geo::JudgedPair judge(const MeasuredPair& pair, double predicted_ms);

}  // namespace isochrone::calibrate
