#pragma once

#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "place/plan.pb.h"
#include "scenarios/scenario.h"

namespace isochrone::verify {

/// One thing that a plan claims and that is not so.
struct Fault {
  std::string where;    ///< "pools[3].gpus"
  std::string message;  ///< "48 rented, 6 replicas of 4 GPUs in groups of 8 need 24"
};

struct Verification {
  std::vector<Fault> faults;          ///< empty: the plan holds
  std::vector<std::string> checked;   ///< what was recomputed, for the summary
  std::vector<std::string> rests_on;  ///< what could not be, and rests on simulation
};

/// Recomputes every constraint, every dollar and the bound of a plan from the scenario
/// and the catalog. Shares no code with the search, the tables or the simulator.
Verification verify(const plan::Plan& plan, const scenarios::Scenario& scenario,
                    const datasets::Catalog& catalog);

}  // namespace isochrone::verify
