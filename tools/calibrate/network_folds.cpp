#include "tools/calibrate/network_folds.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "geo/neighbour_field.h"

namespace isochrone::calibrate {
namespace {

constexpr std::uint64_t kFolds = 4;
constexpr std::uint64_t kDraws = 6;

/// SplitMix64 (Steele, Lea, Flood 2014): a fixed pseudo-random number per (draw, unit).
std::uint64_t mixed(std::uint64_t draw, std::uint64_t unit) {
  std::uint64_t z = (draw + 1) * 0x9e3779b97f4a7c15 + unit * 0xd1b54a32d192ed03;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<std::uint64_t> units(const Sample& sample, LeftOut left_out) {
  std::map<std::string, std::uint64_t> groups;
  std::vector<std::uint64_t> numbers;
  for (const MeasuredPlace& place : sample.places) {
    numbers.push_back(left_out == LeftOut::kGroups
                          ? groups.emplace(place.group, groups.size()).first->second
                          : place.city);
  }
  return numbers;
}

}  // namespace

Fit::Fit(const Sample& sample, const std::vector<const MeasuredPair*>& pairs,
         const geo::RegimeCoefficients& start)
    : sample_(sample) {
  std::vector<geo::PathObservation> paths;
  for (const MeasuredPair* pair : pairs) paths.push_back(pair->observed);
  coefficients_ = geo::fit_regime(paths, start);
  if (!(coefficients_.neighbour_km > 0)) return;
  for (const MeasuredPair* pair : pairs) {
    const geo::PathObservation& o = pair->observed;
    const double modelled = geo::predicted_ms(coefficients_, o.path_km, o.domestic);
    observations_.push_back({sample.places[o.from_place].end.at,
                             sample.places[o.to_place].end.at,
                             std::log(o.rtt_ms / modelled), o.path_km});
  }
  weights_ = geo::fit_neighbours(observations_, coefficients_.neighbour_km);
}

double Fit::predicted_ms(const MeasuredPair& pair) const {
  const geo::PathObservation& o = pair.observed;
  double ms = geo::predicted_ms(coefficients_, o.path_km, o.domestic);
  if (!weights_.empty()) {
    const double log_ratio = geo::neighbour_log_ratio(
        observations_, weights_, coefficients_.neighbour_km,
        sample_.places[o.from_place].end.at, sample_.places[o.to_place].end.at);
    ms *= std::exp(std::clamp(log_ratio, -geo::NeighbourField::kLargest,
                              geo::NeighbourField::kLargest));
  }
  return std::max(ms, geo::kFibreMsPerKm * o.path_km);
}

geo::JudgedPair judge(const MeasuredPair& pair, double predicted_ms) {
  return {pair.observed.rtt_ms, predicted_ms, pair.continents};
}

std::vector<geo::JudgedPair> cross_validate(const Sample& sample,
                                            const geo::RegimeCoefficients& start,
                                            LeftOut left_out) {
  const auto unit = units(sample, left_out);
  const bool by_operator = left_out == LeftOut::kCitiesAndOperator;
  std::vector<geo::JudgedPair> judged;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    for (std::uint64_t fold = 0; fold < kFolds; ++fold) {
      std::vector<const MeasuredPair*> seen;
      std::vector<const MeasuredPair*> unseen;
      for (const MeasuredPair& pair : sample.pairs) {
        const bool a = mixed(draw, unit[pair.observed.from_place]) % kFolds == fold;
        const bool b = mixed(draw, unit[pair.observed.to_place]) % kFolds == fold;
        const bool judged_file = pair.file == draw % 2;
        if (a && b && (!by_operator || judged_file)) unseen.push_back(&pair);
        if (!a && !b && (!by_operator || !judged_file)) seen.push_back(&pair);
      }
      if (seen.size() < 3) continue;
      const Fit fit(sample, seen, start);
      for (const MeasuredPair* pair : unseen) {
        judged.push_back(judge(*pair, fit.predicted_ms(*pair)));
      }
    }
  }
  return judged;
}

}  // namespace isochrone::calibrate
