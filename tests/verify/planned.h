#pragma once

#include <string>

#include <doctest/doctest.h>

#include "place/planner/planner.h"
#include "scenarios/scenario.h"
#include "tests/place/world.h"

namespace isochrone::verify {

/// A question about the tables of the project.
inline scenarios::Scenario asked(const std::string& yaml) {
  return scenarios::parse_scenario(yaml, "question.yaml", ".", world());
}

/// The planner's answer, as it is read back from a file.
inline plan::Plan planned_for(const scenarios::Scenario& question) {
  const place::Planned made = place::make_plan(question, world(), {});
  REQUIRE(made.ending == place::Ending::kPlanned);
  plan::Plan read;
  REQUIRE(read.ParseFromString(made.plan.SerializeAsString()));
  return read;
}

}  // namespace isochrone::verify
