// law_cases.csv holds answers that were derived from the articles cited in it, not from
// the tables: whoever mends the tables reads the law, not the test.
#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "base/csv.h"
#include "scenarios/residency.h"
#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {
namespace {

const CsvTable& cases() {
  static const CsvTable kCases =
      CsvTable::read(ISOCHRONE_ROOT "/tests/scenarios/law_cases.csv",
                     {"from", "data_class", "to", "date", "mechanisms", "verdict",
                      "mechanism", "citation"});
  return kCases;
}

Scenario law_scenario(const std::string& data, const std::string& date,
                      const std::vector<std::string>& mechanisms) {
  Scenario scenario = small_scenario("horizon { start: \"" + date +
                                     "\" months: 1 } residency { mode: "
                                     "\"law\" law { } }");
  scenario.spec.mutable_workloads(0)->add_data(data);
  for (const std::string& one : mechanisms) {
    scenario.spec.mutable_residency()->mutable_law()->add_mechanisms(one);
  }
  return scenario;
}

std::string word_of(const Verdict& verdict) {
  if (verdict.allowed) return "allowed";
  return verdict.unknown ? "unknown" : "forbidden";
}

/// The parts of `a + b`, in any order.
std::set<std::string> parts(const std::string& text) {
  std::set<std::string> all;
  for (std::size_t from = 0; from < text.size();) {
    const auto plus = std::min(text.find(" + ", from), text.size());
    all.insert(text.substr(from, plus - from));
    from = plus + 3;
  }
  return all;
}

TEST_SUITE("scenarios/law cases") {
  TEST_CASE("the law is read as its articles say, case by case") {
    REQUIRE(cases().size() >= 150);
    for (std::size_t i = 0; i < cases().size(); ++i) {
      const auto cell = [&](const char* column) { return cases().text(i, column); };
      CAPTURE(cases().line(i));
      CAPTURE(cell("from"));
      CAPTURE(cell("data_class"));
      CAPTURE(cell("to"));
      CAPTURE(cell("mechanisms"));
      CAPTURE(cell("citation"));
      const Scenario scenario =
          law_scenario(cell("data_class"), cell("date"), cases().list(i, "mechanisms"));

      const Verdict verdict =
          ResidencyRules(scenario, world())
              .verdict(country(cell("from")), 0, country(cell("to")));

      CHECK(word_of(verdict) == cell("verdict"));
      CHECK(parts(verdict.mechanism) == parts(cell("mechanism")));
      CHECK_FALSE(verdict.chain.empty());
      CHECK_FALSE(cell("citation").empty());
    }
  }

  TEST_CASE("no case is asked twice") {
    std::set<std::string> asked;
    for (std::size_t i = 0; i < cases().size(); ++i) {
      std::string key;
      for (const char* column : {"from", "data_class", "to", "date", "mechanisms"}) {
        key += cases().text(i, column) + ' ';
      }
      CHECK_MESSAGE(asked.insert(key).second, key);
    }
  }

  TEST_CASE("where no whole rule speaks nothing abroad is free, whatever is held") {
    std::set<geo::CountryCode> ruled;
    for (const datasets::ResidencyRow& row : world().residency) {
      if (row.note_only || row.data_class != "general") continue;
      ruled.insert(row.countries.begin(), row.countries.end());
    }
    const Scenario scenario = law_scenario("general", "2027-01-01",
                                           {"adequacy", "dpf", "scc", "bcr", "consent",
                                            "certification", "baa", "approval"});
    const ResidencyRules rules(scenario, world());
    int unknown = 0;
    for (const datasets::Country& from : world().countries) {
      const auto follows = world().territories.find(from.code);
      const auto law =
          follows == world().territories.end()
              ? from.code
              : geo::CountryCode::parse(follows->second).value_or(from.code);
      if (ruled.contains(law)) continue;
      ++unknown;
      CAPTURE(from.code.text());
      const auto to = country(from.code.text() == "TZ" ? "KE" : "TZ");
      CHECK(word_of(rules.verdict(from.code, 0, to)) == "unknown");
    }
    CHECK(unknown > 100);
  }
}

}  // namespace
}  // namespace isochrone::scenarios
