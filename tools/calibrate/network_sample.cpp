#include "tools/calibrate/network_sample.h"

#include <algorithm>
#include <map>
#include <utility>

#include "datasets/pings.h"
#include "geo/network.h"

namespace isochrone::calibrate {
namespace {

constexpr double kShortestKm = 100;
constexpr double kOneCityKm = 60;
constexpr double kKmPerMs = geo::kFibreKmPerSecond / 2e3;  // per ms of round trip

std::string group_of(const datasets::Catalog& catalog, geo::CountryCode country) {
  for (const geo::TransitGroup& group : catalog.network.transit_groups) {
    if (std::ranges::count(group.countries, country) > 0) return group.name;
  }
  return "";
}

void add_places(const datasets::Catalog& catalog, const datasets::PingFile& file,
                Sample& sample) {
  for (const datasets::PingPlace& place : file.places) {
    std::size_t city = sample.places.size();
    for (const MeasuredPlace& other : sample.places) {
      if (great_circle_km(other.end.at, place.end.at) >= kOneCityKm) continue;
      city = other.city;
      break;
    }
    sample.places.push_back(
        {place.name, place.end, city, group_of(catalog, place.end.country)});
  }
}

void add_pairs(const datasets::Catalog& catalog, const datasets::PingFile& file,
               const std::set<std::string>& skipped, std::size_t number,
               Sample& sample) {
  const std::size_t first = sample.places.size();
  add_places(catalog, file, sample);
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> rtts;
  for (const datasets::Ping& ping : file.pings) {
    if (skipped.contains(file.places[ping.from].name)) continue;
    rtts[std::minmax(first + ping.from, first + ping.to)].push_back(ping.rtt_ms);
  }
  for (const auto& [ends, both] : rtts) {
    const geo::Endpoint& a = sample.places[ends.first].end;
    const geo::Endpoint& b = sample.places[ends.second].end;
    const double km = great_circle_km(a.at, b.at);
    if (ends.first == ends.second || km < kShortestKm) continue;
    double sum = 0;
    for (const double rtt_ms : both) sum += rtt_ms;
    const std::string x = catalog.continent_of(a.country);
    const std::string y = catalog.continent_of(b.country);
    sample.pairs.push_back({{0, sum / static_cast<double>(both.size()), ends.first,
                             ends.second, a.country == b.country},
                            km,
                            number,
                            std::min(x, y) + " - " + std::max(x, y)});
  }
}

/// Path lengths of the pairs: RTTs under stretch 1 and no constant.
void add_paths(geo::NetworkTables tables, geo::Regime regime, Sample& sample) {
  tables.measured.clear();
  tables.neighbours.clear();
  for (geo::RegimeCoefficients* c : {&tables.backbone, &tables.public_internet}) {
    c->stretch = 1;
    c->constant_ms = c->near_ms = 0;
    c->domestic_ms.reset();
  }
  std::vector<geo::Endpoint> ends;
  for (const MeasuredPlace& place : sample.places) ends.push_back(place.end);
  const geo::RttMatrix rtts =
      geo::NetworkModel(std::move(tables)).rtts(regime, ends, ends);
  for (MeasuredPair& pair : sample.pairs) {
    pair.observed.path_km =
        kKmPerMs * to_ms(rtts.at(pair.observed.from_place, pair.observed.to_place).rtt);
  }
}

}  // namespace

Sample read_sample(const datasets::Catalog& catalog, const SampleRequest& request) {
  Sample sample;
  for (std::size_t i = 0; i < request.files.size(); i += 2) {
    add_pairs(catalog, datasets::PingFile::read(request.files[i], request.files[i + 1]),
              request.skipped, i / 2, sample);
  }
  add_paths(catalog.network, request.regime, sample);
  return sample;
}

}  // namespace isochrone::calibrate
