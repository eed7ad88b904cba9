#include <algorithm>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

bool holds(const char* bloc, const char* country) {
  return world().blocs.find(bloc)->contains(code(country));
}

TEST_SUITE("datasets/law") {
  TEST_CASE("the EU has 27 members, and neither GB nor CH nor NO is one") {
    CHECK(world().blocs.find("EU")->size() == 27);
    CHECK(holds("EU", "FR"));
    CHECK_FALSE(holds("EU", "GB"));
    CHECK_FALSE(holds("EU", "CH"));
    CHECK_FALSE(holds("EU", "NO"));
  }

  TEST_CASE("the EEA is the EU with Iceland, Liechtenstein and Norway") {
    CHECK(world().blocs.find("EEA")->size() == 30);
    CHECK(holds("EEA", "NO"));
    CHECK_FALSE(holds("EEA", "CH"));
    CHECK_FALSE(holds("EEA", "GB"));
  }

  TEST_CASE("the United States are not adequate without a mechanism") {
    CHECK_FALSE(holds("GDPR_ADEQUATE", "US"));

    const auto row = std::ranges::find_if(world().residency, [](const auto& rule) {
      return rule.countries.contains(code("DE")) && rule.allow.contains(code("US")) &&
             rule.data_class == "general";
    });
    REQUIRE(row != world().residency.end());
    CHECK(row->outcome == "conditional");
    CHECK(row->needs == std::vector<std::string>{"dpf"});
  }

  TEST_CASE("data move freely inside the EEA by a rule of its 30 countries") {
    const auto row = std::ranges::find_if(world().residency, [](const auto& rule) {
      return rule.countries.contains(code("IS")) && rule.outcome == "free";
    });
    REQUIRE(row != world().residency.end());
    CHECK(row->countries == *world().blocs.find("EEA"));
    CHECK(row->allow == *world().blocs.find("EEA"));
    CHECK_FALSE(row->allow_any);
    CHECK_FALSE(row->and_rule);
  }

  TEST_CASE("the adequacy of GB ends on 27 December 2031") {
    const auto row = std::ranges::find_if(world().residency, [](const auto& rule) {
      return rule.countries.contains(code("DE")) && rule.allow.contains(code("GB")) &&
             rule.needs == std::vector<std::string>{"adequacy"};
    });
    REQUIRE(row != world().residency.end());
    CHECK(row->until_date == "2031-12-27");
  }

  TEST_CASE("a copy that must stay at home does not forbid processing abroad") {
    int copies = 0;
    for (const ResidencyRow& rule : world().residency) {
      if (rule.outcome != "local_copy") continue;
      ++copies;
      CHECK(rule.allow_any);
      CHECK_FALSE(rule.stores.empty());
    }

    CHECK(copies == 3);
  }

  TEST_CASE("a territory follows another country, its own law, or nothing known") {
    CHECK(world().territories.at(code("PR")) == "US");
    CHECK(world().territories.at(code("RE")) == "FR");
    CHECK(world().territories.at(code("HK")) == "own");
    CHECK(world().territories.at(code("BM")) == "unknown");
    CHECK_FALSE(world().territories.contains(code("DE")));
  }

  TEST_CASE("embargoes and partner-run regions are known by country") {
    const auto restricted = [](const char* country, const char* kind) {
      return std::ranges::any_of(world().restrictions, [&](const Restriction& r) {
        return r.country == code(country) && r.kind == kind;
      });
    };

    CHECK(restricted("RU", "embargoed"));
    CHECK(restricted("CN", "partner_run"));
    CHECK_FALSE(restricted("CN", "embargoed"));
  }
}

}  // namespace
}  // namespace isochrone::datasets
