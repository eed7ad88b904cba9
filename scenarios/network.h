#pragma once

#include <string>

#include "geo/network.h"
#include "scenarios/candidates.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// The network of a scenario: the catalog's, with the scenario's cuts and measurements.
/// Throws InputError for an unknown cut or an unreadable file.
geo::NetworkModel network_of(const Scenario& scenario,
                             const datasets::Catalog& catalog);

/// The element whose loss takes `site` with it under resilience.survive: the site
/// itself, its location, country or provider. "" if nothing is to be survived.
std::string loss_element(const Scenario& scenario, const CandidateSite& site);

}  // namespace isochrone::scenarios
