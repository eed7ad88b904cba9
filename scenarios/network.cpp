#include "scenarios/network.h"

#include <stdexcept>
#include <vector>

#include "datasets/pings.h"
#include "geo/corridors.h"

namespace isochrone::scenarios {
namespace {

void append(const spec::Measured& measured, const std::string& folder,
            std::vector<geo::MeasuredRtt>& into) {
  const auto file = datasets::PingFile::read(file_path(folder, measured.file()),
                                             file_path(folder, measured.places()));
  const auto regime =
      measured.regime() == "public" ? geo::Regime::kPublic : geo::Regime::kBackbone;
  for (const datasets::Ping& ping : file.pings) {
    into.push_back({file.places[ping.from].end, file.places[ping.to].end, regime,
                    micros_from_ms(ping.rtt_ms)});
  }
}

}  // namespace

geo::NetworkModel network_of(const Scenario& scenario,
                             const datasets::Catalog& catalog) {
  geo::NetworkTables tables = catalog.network;
  // One's own measurements win over the catalog's: the first entry of a pair counts.
  std::vector<geo::MeasuredRtt> measured;
  for (const spec::Measured& file : scenario.spec.network().measured()) {
    append(file, scenario.folder, measured);
  }
  tables.measured.insert(tables.measured.begin(), measured.begin(), measured.end());
  const spec::Network& network = scenario.spec.network();
  std::vector<std::string> cuts(network.cut().begin(), network.cut().end());
  try {
    if (network.has_reserve_pct()) {
      cuts = geo::with_full_corridors(tables, cuts, network.reserve_pct());
    }
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
