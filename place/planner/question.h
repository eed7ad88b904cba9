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
  /// Months of the horizon.
  std::int64_t months() const { return scenario.spec.horizon().months(); }
};

}  // namespace isochrone::place
