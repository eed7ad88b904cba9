#pragma once

#include <string>
#include <vector>

#include "place/plan.pb.h"
#include "scenarios/scenario.h"

namespace isochrone::place {

/// One field of a scenario, eased step by step.
struct Relaxation {
  std::string name;  ///< the field as an architect calls it
  struct Step {
    scenarios::Setting setting;
    std::string told;  ///< "5 sites (+1)"
  };
  std::vector<Step> steps;  ///< mildest first, each implies those before it
};

/// Single fields whose easing may undo the conflicts of a refused plan: the limits that
/// its conflicts rest on, and the objectives. Each alone leaves the others as they are.
std::vector<Relaxation> relaxations(const scenarios::Scenario& scenario,
                                    const plan::Plan& refused);

}  // namespace isochrone::place
