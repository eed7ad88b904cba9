#include "scenarios/network.h"

#include <map>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"

namespace isochrone::scenarios {
namespace {

std::map<std::string, geo::Endpoint> read_places(const std::string& path) {
  const CsvTable table =
      CsvTable::read(path, {"place", "city", "country", "lat", "lon"});
  Diagnostics faults;
  std::map<std::string, geo::Endpoint> places;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto country = geo::CountryCode::parse(table.text(row, "country"));
    if (!country) {
      faults.error(
          table.position(row, "country"),
          fmt::format("\"{}\" is no country code", table.text(row, "country")));
      continue;
    }
    places[table.text(row, "place")] = {
        table.text(row, "city"),
        *country,
        {table.number_in(row, "lat", -90, 90, faults),
         table.number_in(row, "lon", -180, 180, faults)}};
  }
  faults.throw_if_errors();
  return places;
}

void read_measured(const spec::Measured& measured, const std::string& folder,
                   std::vector<geo::MeasuredRtt>& into) {
  const auto places = read_places(folder + "/" + measured.places());
  const std::string path = folder + "/" + measured.file();
  const CsvTable table = CsvTable::read(path, {"from", "to", "rtt_ms_p50"});
  const auto regime =
      measured.regime() == "public" ? geo::Regime::kPublic : geo::Regime::kBackbone;
  std::vector<std::string> known;
  for (const auto& [name, endpoint] : places) known.push_back(name);
  Diagnostics faults;
  for (std::size_t row = 0; row < table.size(); ++row) {
    bool whole = true;
    for (const char* end : {"from", "to"}) {
      const std::string& name = table.text(row, end);
      if (places.contains(name)) continue;
      faults.error(table.position(row, end),
                   fmt::format("place \"{}\" is not in {}", name, measured.places()),
                   did_you_mean(name, known));
      whole = false;
    }
    const double ms = table.number_in(row, "rtt_ms_p50", 0, 5000, faults);
    if (!whole) continue;
    into.push_back({places.at(table.text(row, "from")),
                    places.at(table.text(row, "to")), regime, micros_from_ms(ms)});
  }
  faults.throw_if_errors();
}

}  // namespace

geo::NetworkModel network_of(const Scenario& scenario,
                             const datasets::Catalog& catalog) {
  geo::NetworkTables tables = catalog.network;
  // One's own measurements win over the catalog's: the first entry of a pair counts.
  std::vector<geo::MeasuredRtt> measured;
  for (const spec::Measured& file : scenario.spec.network().measured()) {
    read_measured(file, scenario.folder, measured);
  }
  tables.measured.insert(tables.measured.begin(), measured.begin(), measured.end());
  const std::vector<std::string> cuts(scenario.spec.network().cut().begin(),
                                      scenario.spec.network().cut().end());
  try {
    return geo::NetworkModel(std::move(tables), cuts);
  } catch (const std::invalid_argument& unknown_cut) {
    Diagnostics faults;
    faults.error(scenario.source.at("network.cut"), unknown_cut.what());
    faults.throw_if_errors();
    throw;
  }
}

std::string loss_element(const Scenario& scenario, const CandidateSite& site) {
  const std::string& survive = scenario.spec.resilience().survive();
  if (survive == "site") return site.id;
  if (survive == "location") return site.location;
  if (survive == "country") return site.endpoint.country.text();
  if (survive == "provider") {
    // Own hardware in two towns does not fail together.
    return site.tier == datasets::Tier::kColo ? site.id : site.provider;
  }
  return "";
}

}  // namespace isochrone::scenarios
