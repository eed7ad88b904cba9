#pragma once

#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "datasets/pings.h"
#include "geo/evaluation.h"

namespace isochrone::tools {

/// A measured pair beside what the model says of it.
struct EvaluatedPing {
  std::string from;
  std::string to;
  double km = 0;  ///< great circle
  geo::JudgedPair judged;
  geo::RttBasis basis = geo::RttBasis::kModelled;
};

struct RttEvaluation {
  geo::Regime regime = geo::Regime::kBackbone;
  bool overrides = true;
  double min_km = 0;
  std::size_t too_near = 0;          ///< rows left out, because nearer than min_km
  std::vector<EvaluatedPing> pings;  ///< in the order of the file
};

/// Every row of the file whose ends are at least `min_km` apart, direction by
/// direction. Groups are pairs of continents (of the blocs table), in either order.
/// With overrides, a place named like a measured one of the tables is that one.
RttEvaluation evaluate_rtts(const datasets::Catalog& catalog,
                            const datasets::PingFile& file, geo::Regime regime,
                            bool overrides, double min_km);

/// For a terminal: overall, per pair of continents, and the `worst` pairs.
std::string evaluation_table(const RttEvaluation& evaluation, std::size_t worst);
std::string evaluation_json(const RttEvaluation& evaluation, std::size_t worst);
/// Every pair: from, to, great circle, measured, modelled, error, basis, continents.
std::string evaluation_csv(const RttEvaluation& evaluation);

}  // namespace isochrone::tools
