#include "place/planner/question.h"

#include <vector>

#include "scenarios/network.h"

namespace isochrone::place {

Question Question::ask(const scenarios::Scenario& scenario,
                       const datasets::Catalog& catalog) {
  Question question{scenario,
                    catalog,
                    scenarios::expand_demand(scenario, catalog),
                    scenarios::find_candidates(scenario, catalog),
                    scenarios::ResidencyRules(scenario, catalog),
                    {}};
  std::vector<geo::Endpoint> metros;
  for (const scenarios::Population& population : question.demand.populations) {
    metros.push_back(population.endpoint);
  }
  std::vector<geo::Endpoint> sites;
  for (const scenarios::CandidateSite& site : question.candidates.sites) {
    sites.push_back(site.endpoint);
  }
  question.rtts = scenarios::network_of(scenario, catalog)
                      .rtts(geo::Regime::kPublic, metros, sites);
  return question;
}

}  // namespace isochrone::place
