#pragma once

#include <set>
#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// Whether data of some classes may be processed in a country, and why.
struct Verdict {
  bool allowed = false;
  bool unknown = false;        ///< no rule is known; treated as the scenario says
  std::string mechanism;       ///< "home", "free", "adequacy", "policy rule 1", "off" ...
  std::vector<std::string> chain;  ///< the rows and lines that decided, in order
};

/// Law and policy of a scenario (MODELS: own country always allowed, rows of `general`
/// and of the class must both admit, unknown is never free).
class ResidencyRules {
 public:
  ResidencyRules(const Scenario& scenario, const datasets::Catalog& catalog);

  /// For data of all classes of workload `workload`, from users in `from`, processed in
  /// `to`, on every day of the horizon.
  Verdict verdict(geo::CountryCode from, std::size_t workload,
                  geo::CountryCode to) const;

 private:
  const Scenario& scenario_;
  const datasets::Catalog& catalog_;
};

}  // namespace isochrone::scenarios
