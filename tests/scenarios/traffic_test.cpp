#include "scenarios/traffic.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {
namespace {

namespace fs = std::filesystem;

TEST_SUITE("scenarios/traffic") {
  TEST_CASE("a named file lies beside the scenario, unless its whole path is given") {
    CHECK(file_path("", "law.csv") == "law.csv");
    CHECK(file_path("here", "law.csv") == "here/law.csv");
    CHECK(file_path("here", "/there/law.csv") == "/there/law.csv");
  }

  // (1 * 100 + 3 * 200) / 4 = 175.
  TEST_CASE("the mean of an empirical law is found by its whole path too") {
    const fs::path file = fs::temp_directory_path() / "isochrone-traffic-test.csv";
    std::ofstream(file) << "value,weight\n100,1\n200,3\n";
    spec::Law law;
    law.set_empirical(file.string());
    Scenario scenario = small_scenario("");
    scenario.folder = "elsewhere";

    CHECK(mean_of(law, scenario) == doctest::Approx(175));
    fs::remove(file);
  }
}

}  // namespace
}  // namespace isochrone::scenarios
