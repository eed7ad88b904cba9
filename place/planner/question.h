#pragma once

#include "datasets/catalog.h"
#include "geo/network.h"
#include "scenarios/candidates.h"
#include "scenarios/demand.h"
#include "scenarios/residency.h"
#include "scenarios/scenario.h"

namespace isochrone::place {

/// Everything that follows from scenario and catalog before anything is optimised: who
/// asks, what can be rented, how far apart they are, what may go where.
struct Question {
  const scenarios::Scenario& scenario;
  const datasets::Catalog& catalog;
  scenarios::Demand demand;
  scenarios::Candidates candidates;
  scenarios::ResidencyRules residency;
  geo::RttMatrix rtts;  ///< public regime, population x candidate site

  static Question ask(const scenarios::Scenario& scenario,
                      const datasets::Catalog& catalog);

  const spec::Workload& workload(std::size_t index) const {
    return scenario.spec.workloads(static_cast<int>(index));
  }
  const spec::Demand& entry(std::size_t index) const {
    return scenario.spec.demand(static_cast<int>(index));
  }
  const scenarios::Population& population(std::size_t index) const {
    return demand
        .populations[scenarios::PopulationId{static_cast<std::uint32_t>(index)}];
  }
  const scenarios::CandidateSite& site(std::size_t index) const {
    return candidates.sites[scenarios::CandidateId{static_cast<std::uint32_t>(index)}];
  }
  /// Whether the population's data may be processed at the site. Not cheap: the rules
  /// are walked.
  bool lawful(const scenarios::Population& p,
              const scenarios::CandidateSite& site) const {
    return residency.verdict(p.endpoint.country, p.workload, site.endpoint.country)
        .allowed;
  }
  /// Months of the horizon.
  std::int64_t months() const { return scenario.spec.horizon().months(); }
};

}  // namespace isochrone::place
