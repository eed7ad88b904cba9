// Fits one regime to measured RTTs, and says how good the model is on places that a fit
// has not seen.
//
//   isochrone_network_fit DATASETS backbone|public DATE [--skip-from PLACE]...
//       [--neighbours OUT.csv] [--no-folds] RTT.csv PLACES.csv [RTT.csv PLACES.csv]...
//
// RTT.csv has columns from,to,rtt_ms_p50; PLACES.csv place,city,country,lat,lon. Both
// directions of a pair are averaged, pairs under 100 km left out. Paths come from the
// tables in DATASETS without their measurements. Standard output gets the row for
// datasets/network_regimes.csv, standard error the errors, OUT.csv the table
// datasets/neighbour_weights.csv (measured places snapped to the nearest hub).

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "datasets/catalog.h"
#include "geo/evaluation.h"
#include "geo/neighbour_fit.h"
#include "geo/regime_fit.h"
#include "tools/calibrate/network_folds.h"
#include "tools/calibrate/network_sample.h"
#include "tools/calibrate/program.h"

namespace isochrone::calibrate {
namespace {

struct Request {
  std::string datasets;
  std::string date;
  std::string neighbours;
  bool folds = true;
  SampleRequest sample;
};

Request parse(const std::vector<std::string>& words) {
  Request request;
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-folds") {
      request.folds = false;
    } else if (words[i] == "--skip-from" || words[i] == "--neighbours") {
      if (i + 1 == words.size()) {
        throw std::invalid_argument(words[i] + " needs a value");
      }
      if (words[i] == "--neighbours") {
        request.neighbours = words[i + 1];
      } else {
        request.sample.skipped.insert(words[i + 1]);
      }
      ++i;
    } else {
      plain.push_back(words[i]);
    }
  }
  if (plain.size() < 5 || plain.size() % 2 == 0 ||
      (plain[1] != "backbone" && plain[1] != "public")) {
    throw std::invalid_argument(
        "usage: isochrone_network_fit DATASETS backbone|public DATE [--skip-from "
        "PLACE]... [--neighbours OUT.csv] [--no-folds] RTT.csv PLACES.csv ...");
  }
  request.datasets = plain[0];
  request.sample.regime =
      plain[1] == "public" ? geo::Regime::kPublic : geo::Regime::kBackbone;
  request.date = plain[2];
  request.sample.files.assign(plain.begin() + 3, plain.end());
  return request;
}

void print_errors(const std::string& what, const std::vector<geo::JudgedPair>& pairs) {
  const geo::ErrorSummary all = geo::summarise_errors(pairs);
  std::cerr << fmt::format(
      "{:<44} n {:>6}  median {:>5.1f} %  p90 {:>5.1f} %  bias {:>+5.1f} %  continent "
      "pairs {:>5.1f} %\n",
      what, all.n, 100 * all.median, 100 * all.p90, 100 * all.bias,
      100 * geo::mean_of_medians(geo::summarise_groups(pairs)));
}

std::vector<geo::JudgedPair> judged(const Sample& sample, const Fit& fit,
                                    double from_km, double until_km) {
  std::vector<geo::JudgedPair> pairs;
  for (const MeasuredPair& pair : sample.pairs) {
    if (pair.great_circle_km < from_km || pair.great_circle_km >= until_km) continue;
    pairs.push_back(judge(pair, fit.predicted_ms(pair)));
  }
  return pairs;
}

void print_folds(const Sample& sample, const geo::RegimeCoefficients& start,
                 const std::string& what) {
  print_errors("cities unseen" + what, cross_validate(sample, start, LeftOut::kCities));
  print_errors("groups of countries unseen" + what,
               cross_validate(sample, start, LeftOut::kGroups));
  const bool operators = std::ranges::any_of(
      sample.pairs, [](const MeasuredPair& pair) { return pair.file == 1; });
  if (!operators) return;
  print_errors("cities and operator unseen" + what,
               cross_validate(sample, start, LeftOut::kCitiesAndOperator));
}

const geo::Hub& nearest_hub(const std::vector<geo::Hub>& hubs, geo::Coordinates at) {
  return *std::ranges::min_element(
      hubs, {}, [&](const geo::Hub& hub) { return great_circle_km(hub.at, at); });
}

/// One weight per pair of hubs: what all files say of it is averaged first.
void write_neighbours(const std::string& path, const datasets::Catalog& catalog,
                      const Sample& sample, const geo::RegimeCoefficients& fitted,
                      const std::string& date) {
  std::map<std::pair<std::string, std::string>, std::vector<geo::NeighbourObservation>>
      by_hubs;
  for (const MeasuredPair& pair : sample.pairs) {
    const geo::PathObservation& o = pair.observed;
    const geo::Hub* a =
        &nearest_hub(catalog.network.hubs, sample.places[o.from_place].end.at);
    const geo::Hub* b =
        &nearest_hub(catalog.network.hubs, sample.places[o.to_place].end.at);
    if (a == b) continue;
    if (b->name < a->name) std::swap(a, b);
    const double modelled = geo::predicted_ms(fitted, o.path_km, o.domestic);
    by_hubs[{a->name, b->name}].push_back(
        {a->at, b->at, std::log(o.rtt_ms / modelled), o.path_km});
  }
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<geo::NeighbourObservation> observations;
  for (const auto& [hubs, several] : by_hubs) {
    geo::NeighbourObservation mean = several.front();
    for (std::size_t i = 1; i < several.size(); ++i) {
      mean.log_ratio += several[i].log_ratio;
      mean.path_km += several[i].path_km;
    }
    mean.log_ratio /= static_cast<double>(several.size());
    mean.path_km /= static_cast<double>(several.size());
    names.push_back(hubs);
    observations.push_back(mean);
  }
  const auto weights = geo::fit_neighbours(observations, fitted.neighbour_km);
  std::ofstream out(path);
  out << "from,to,weight,as_of,basis,source\n";
  for (std::size_t i = 0; i < weights.size(); ++i) {
    out << fmt::format("{},{},{:.5f},{},estimated,fitted to measured_rtt.csv\n",
                       names[i].first, names[i].second, weights[i], date);
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

int run(const std::vector<std::string>& words) {
  const Request request = parse(words);
  const datasets::Catalog catalog = datasets::Catalog::load(request.datasets);
  const Sample sample = read_sample(catalog, request.sample);
  const bool open = request.sample.regime == geo::Regime::kPublic;
  const geo::RegimeCoefficients start =
      open ? catalog.network.public_internet : catalog.network.backbone;
  geo::RegimeCoefficients alone = start;
  alone.neighbour_km = 0;
  std::vector<const MeasuredPair*> all;
  for (const MeasuredPair& pair : sample.pairs) all.push_back(&pair);
  const Fit whole(sample, all, alone);
  const geo::RegimeCoefficients& fitted = whole.coefficients();
  const auto pairs = judged(sample, whole, 0, 1e9);
  print_errors("all pairs, coefficients alone", pairs);
  for (const auto& [from, until] :
       {std::pair{100.0, 600.0}, {600.0, 1500.0}, {1500.0, 5000.0}, {5000.0, 1e9}}) {
    print_errors(until < 1e8 ? fmt::format("  {:.0f} to {:.0f} km", from, until)
                             : fmt::format("  over {:.0f} km", from),
                 judged(sample, whole, from, until));
  }
  if (request.folds) {
    print_folds(sample, alone, ", coefficients alone");
    if (start.neighbour_km > 0) print_folds(sample, start, ", with neighbours");
  }
  if (!request.neighbours.empty()) {
    geo::RegimeCoefficients reaching = fitted;
    reaching.neighbour_km = start.neighbour_km;
    write_neighbours(request.neighbours, catalog, sample, reaching, request.date);
  }
  const geo::ErrorSummary errors = geo::summarise_errors(pairs);
  std::cout << fmt::format(
      "{},{:.3f},{:.2f},{:.2f},{:g},{:g},{:g},{:g},{:g},{:g},{},{},{:.1f},{:.1f}\n",
      open ? "public" : "backbone", fitted.stretch, fitted.constant_ms,
      fitted.domestic_ms.value_or(fitted.constant_ms), fitted.near_ms, fitted.ramp_km,
      fitted.cap_until_km, fitted.cap_factor, fitted.cap_km, start.neighbour_km,
      errors.n, request.date, 100 * errors.median, 100 * errors.p90);
  return 0;
}

}  // namespace
}  // namespace isochrone::calibrate

int main(int count, char** values) {
  return isochrone::calibrate::run_program(count, values, isochrone::calibrate::run);
}
