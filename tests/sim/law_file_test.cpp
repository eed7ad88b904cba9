#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "base/diagnostics.h"
#include "scenarios/scenario.h"
#include "sim/law.h"

namespace isochrone::sim {
namespace {

constexpr std::int64_t kNoCap = 1'000'000'000'000;

scenarios::Scenario with_file(const std::string& name, const std::string& text) {
  scenarios::Scenario scenario;
  scenario.folder =
      (std::filesystem::temp_directory_path() / "isochrone_law_test").string();
  std::filesystem::create_directories(scenario.folder);
  std::ofstream(scenario.folder + "/" + name) << text;
  return scenario;
}

TEST_SUITE("sim/law") {
  // Weights 1 : 3 put a quarter of the mass on 10, the rest on 20: mean 17.5.
  TEST_CASE("an empirical law weighs its values") {
    const auto scenario = with_file("law.csv", "value,weight\n20,3\n10,1\n");
    spec::Law form;
    form.set_empirical("law.csv");

    const IntegerLaw law(form, 1, kNoCap, scenario);
    CHECK(law.at(0.2) == 10);
    CHECK(law.at(0.3) == 20);
    CHECK(law.mean() == doctest::Approx(17.5).epsilon(0.001));
  }

  TEST_CASE("a trace is read by the column of its quantity") {
    const auto scenario =
        with_file("trace.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n0,100,7\n");
    spec::Law form;
    form.set_trace("trace.csv");

    CHECK(IntegerLaw(form, 1, kNoCap, scenario, Quantity::kPrompt).at(0.5) == 100);
    CHECK(IntegerLaw(form, 1, kNoCap, scenario, Quantity::kAnswer).at(0.5) == 7);
    CHECK_THROWS_AS(IntegerLaw(form, 1, kNoCap, scenario), InputError);
  }

  TEST_CASE("a file without a positive weight is refused") {
    const auto scenario = with_file("none.csv", "value,weight\n20,0\n");
    spec::Law form;
    form.set_empirical("none.csv");
    CHECK_THROWS_AS(IntegerLaw(form, 1, kNoCap, scenario), InputError);
    form.set_empirical("missing.csv");
    CHECK_THROWS_AS(IntegerLaw(form, 1, kNoCap, scenario), InputError);
  }
}

}  // namespace
}  // namespace isochrone::sim
