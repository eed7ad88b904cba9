// Fits stretch and constant of one regime to measured RTTs, and says how good they are.
//
//   isochrone_network_fit DATASETS backbone|public DATE [--skip-from PLACE]...
//       [--worst N] RTT.csv PLACES.csv [RTT.csv PLACES.csv]...
//
// RTT.csv has columns from,to,rtt_ms_p50; PLACES.csv place,city,country,lat,lon. Both
// directions of a pair are averaged, pairs under 100 km left out. Paths come from the
// tables in DATASETS without their measurements. Standard output gets the row for
// datasets/network_regimes.csv, standard error the errors.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "datasets/catalog.h"
#include "geo/network.h"
#include "geo/regime_fit.h"

namespace isochrone::calibrate {
namespace {

constexpr double kShortestKm = 100;
constexpr double kKmPerMs = 204190 / 2e3;  // of path, per ms of round trip

struct Request {
  std::string datasets;
  geo::Regime regime = geo::Regime::kBackbone;
  std::string date;
  std::set<std::string> skipped;
  std::size_t worst = 0;
  std::vector<std::string> files;  // RTT.csv and PLACES.csv in turn
};

struct PairOfPlaces {
  geo::PathObservation observed;
  double great_circle_km = 0;
};

struct Sample {
  std::vector<geo::Endpoint> places;
  std::vector<PairOfPlaces> pairs;
};

Request parse(const std::vector<std::string>& words) {
  Request request;
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool option = words[i] == "--skip-from" || words[i] == "--worst";
    if (!option) {
      plain.push_back(words[i]);
      continue;
    }
    if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " needs a value");
    if (words[i] == "--worst") {
      request.worst = std::stoul(words[i + 1]);
    } else {
      request.skipped.insert(words[i + 1]);
    }
    ++i;
  }
  if (plain.size() < 5 || plain.size() % 2 == 0 ||
      (plain[1] != "backbone" && plain[1] != "public")) {
    throw std::invalid_argument(
        "usage: isochrone_network_fit DATASETS backbone|public DATE "
        "[--skip-from PLACE]... [--worst N] RTT.csv PLACES.csv ...");
  }
  request.datasets = plain[0];
  request.regime = plain[1] == "public" ? geo::Regime::kPublic : geo::Regime::kBackbone;
  request.date = plain[2];
  request.files.assign(plain.begin() + 3, plain.end());
  return request;
}

std::map<std::string, std::size_t> read_places(const std::string& file,
                                               std::vector<geo::Endpoint>& places) {
  Diagnostics faults;
  const CsvTable table = CsvTable::read(file, {"place", "country", "lat", "lon"});
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto country = geo::CountryCode::parse(table.text(i, "country"));
    if (!country) faults.error(table.position(i, "country"), "is no country code");
    index.emplace(table.text(i, "place"), places.size());
    places.push_back({table.text(i, "place"),
                      country.value_or(geo::CountryCode{}),
                      {table.number_in(i, "lat", -90, 90, faults),
                       table.number_in(i, "lon", -180, 180, faults)}});
  }
  faults.throw_if_errors();
  return index;
}

void read_pairs(const std::string& file,
                const std::map<std::string, std::size_t>& index,
                const std::set<std::string>& skipped, Sample& sample) {
  Diagnostics faults;
  const CsvTable table = CsvTable::read(file, {"from", "to", "rtt_ms_p50"});
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> rtts;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (skipped.contains(table.text(i, "from"))) continue;
    const auto from = index.find(table.text(i, "from"));
    const auto to = index.find(table.text(i, "to"));
    if (from == index.end() || to == index.end()) {
      faults.error(table.position(i, "from"), "names a place without coordinates");
      continue;
    }
    const double rtt_ms = table.number_in(i, "rtt_ms_p50", 0.01, 5000, faults);
    rtts[std::minmax(from->second, to->second)].push_back(rtt_ms);
  }
  faults.throw_if_errors();
  for (const auto& [ends, both] : rtts) {
    const double km =
        great_circle_km(sample.places[ends.first].at, sample.places[ends.second].at);
    if (km < kShortestKm) continue;
    double sum = 0;
    for (const double rtt_ms : both) sum += rtt_ms;
    sample.pairs.push_back(
        {{0, sum / static_cast<double>(both.size()), ends.first, ends.second}, km});
  }
}

/// Path lengths of the pairs: RTTs under stretch 1 and no constant.
void add_paths(geo::NetworkTables tables, geo::Regime regime, Sample& sample) {
  tables.measured.clear();
  for (geo::RegimeCoefficients* c : {&tables.backbone, &tables.public_internet}) {
    c->stretch = 1;
    c->constant_ms = c->near_ms = 0;
  }
  const geo::NetworkModel model(std::move(tables));
  const geo::RttMatrix rtts = model.rtts(regime, sample.places, sample.places);
  for (PairOfPlaces& pair : sample.pairs) {
    pair.observed.path_km =
        kKmPerMs * to_ms(rtts.at(pair.observed.from_place, pair.observed.to_place).rtt);
  }
}

std::vector<geo::PathObservation> observations(const Sample& sample, double from_km,
                                               double until_km) {
  std::vector<geo::PathObservation> selected;
  for (const PairOfPlaces& pair : sample.pairs) {
    if (pair.great_circle_km < from_km || pair.great_circle_km >= until_km) continue;
    selected.push_back(pair.observed);
  }
  return selected;
}

void print_errors(const std::string& what, const geo::RelativeErrors& errors) {
  std::cerr << fmt::format(
      "{:<28} n {:>6}  median {:>5.1f} %  p90 {:>5.1f} %  mean "
      "{:>5.1f} %\n",
      what, errors.n, 100 * errors.median, 100 * errors.p90, 100 * errors.mean);
}

void print_worst(const Sample& sample, const geo::RegimeCoefficients& fitted,
                 std::size_t count) {
  std::vector<std::pair<double, const PairOfPlaces*>> ranked;
  for (const PairOfPlaces& pair : sample.pairs) {
    const double predicted = geo::predicted_ms(fitted, pair.observed.path_km);
    ranked.emplace_back(predicted / pair.observed.rtt_ms - 1, &pair);
  }
  std::ranges::sort(ranked, std::ranges::greater{},
                    [](const auto& entry) { return std::abs(entry.first); });
  if (ranked.size() > count) ranked.resize(count);
  for (const auto& [error, pair] : ranked) {
    std::cerr << fmt::format(
        "{:+6.0f} %  {:>7.1f} ms measured  {:>6.0f} km path  {} - {}\n", 100 * error,
        pair->observed.rtt_ms, pair->observed.path_km,
        sample.places[pair->observed.from_place].name,
        sample.places[pair->observed.to_place].name);
  }
}

void fit(const Request& request) {
  const geo::NetworkTables tables = datasets::Catalog::load(request.datasets).network;
  Sample sample;
  for (std::size_t i = 0; i < request.files.size(); i += 2) {
    const auto index = read_places(request.files[i + 1], sample.places);
    read_pairs(request.files[i], index, request.skipped, sample);
  }
  add_paths(tables, request.regime, sample);
  const bool open = request.regime == geo::Regime::kPublic;
  const auto all = observations(sample, 0, 1e9);
  const geo::RegimeCoefficients fitted =
      geo::fit_regime(all, open ? tables.public_internet : tables.backbone);
  const geo::RelativeErrors errors = geo::relative_errors(all, fitted);
  print_errors("all pairs", errors);
  print_errors("each place left out", geo::leave_place_out_errors(all, fitted));
  for (const auto& [from, until] :
       {std::pair{100.0, 600.0}, {600.0, 1500.0}, {1500.0, 5000.0}, {5000.0, 1e9}}) {
    print_errors(until < 1e8 ? fmt::format("{:.0f} to {:.0f} km", from, until)
                             : fmt::format("over {:.0f} km", from),
                 geo::relative_errors(observations(sample, from, until), fitted));
  }
  print_worst(sample, fitted, request.worst);
  std::cout << fmt::format(
      "{},{:.3f},{:.2f},{:g},{:g},{:g},{:g},{:g},{},{},{:.1f},{:.1f}\n",
      open ? "public" : "backbone", fitted.stretch, fitted.constant_ms, fitted.near_ms,
      fitted.ramp_km, fitted.cap_until_km, fitted.cap_factor, fitted.cap_km, errors.n,
      request.date, 100 * errors.median, 100 * errors.p90);
}

}  // namespace
}  // namespace isochrone::calibrate

int main(int argc, char** argv) {
  try {
    isochrone::calibrate::fit(
        isochrone::calibrate::parse(std::vector<std::string>(argv + 1, argv + argc)));
    return 0;
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << "\n";
    return 2;
  } catch (const isochrone::InputError& error) {
    std::cerr << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
