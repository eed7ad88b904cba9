#pragma once

#include <set>
#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "geo/evaluation.h"
#include "geo/regime_fit.h"

namespace isochrone::calibrate {

/// Two measured places, both directions averaged.
struct MeasuredPair {
  geo::PathObservation observed;
  double great_circle_km = 0;
  std::size_t file = 0;    ///< of the files given
  std::string continents;  ///< of the two ends, in alphabetical order
};

struct MeasuredPlace {
  std::string name;
  geo::Endpoint end;
  std::size_t city = 0;  ///< places within 60 km are one city
  std::string group;     ///< transit group of the country
};

struct Sample {
  std::vector<MeasuredPlace> places;
  std::vector<MeasuredPair> pairs;
};

struct SampleRequest {
  geo::Regime regime = geo::Regime::kBackbone;
  std::set<std::string> skipped;   ///< places whose outward rows are left out
  std::vector<std::string> files;  ///< RTT.csv and PLACES.csv in turn
};

/// Pairs of 100 km and more with their paths over the tables, measurements, neighbours
/// and coefficients of the tables left out.
Sample read_sample(const datasets::Catalog& catalog, const SampleRequest& request);

}  // namespace isochrone::calibrate
