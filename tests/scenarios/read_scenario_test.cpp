#include <doctest/doctest.h>

#include "catalog_fixture.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {
namespace {

constexpr const char* kExamples[] = {"code-completion", "eu-bank-fraud", "global-chat",
                                     "southeast-asia-latency"};

Scenario example(const std::string& name) {
  return read_scenario(ISOCHRONE_ROOT "/scenarios/examples/" + name + ".yaml",
                       catalog());
}

TEST_SUITE("scenarios/read_scenario") {
  TEST_CASE("every example is sound and warns of nothing") {
    for (const std::string name : kExamples) {
      CAPTURE(name);
      const Scenario scenario = example(name);
      CHECK(scenario.spec.name() == name);
      for (const Diagnostic& warning : scenario.warnings) {
        FAIL_CHECK(render(warning, ""));
      }
    }
  }

  TEST_CASE("the normalised text of a scenario is its own normalised text") {
    for (const std::string name : kExamples) {
      CAPTURE(name);
      const Scenario scenario = example(name);
      const Scenario again = parse_scenario(scenario.normalised, "again",
                                            scenario.folder, catalog());
      CHECK(again.normalised == scenario.normalised);
      CHECK(again.hash == scenario.hash);
    }
  }
}

}  // namespace
}  // namespace isochrone::scenarios
