#include <doctest/doctest.h>

#include "catalog_fixture.h"

namespace isochrone::scenarios {
namespace {

TEST_SUITE("scenarios/settings") {
  TEST_CASE("a setting replaces a value, by number or by name") {
    const Scenario scenario =
        parse(small_scenario(), {{"demand[0].users.DE", "7"},
                                 {"demand[users].requests_per_user_day", "3"},
                                 {"workloads[chat].slo.ttft_p95_ms", "650"}});

    CHECK(scenario.spec.demand(0).users().by_country().at("DE") == 7);
    CHECK(scenario.spec.demand(0).requests_per_user_day() == 3);
    CHECK(scenario.spec.workloads(0).slo().objectives(0).ms() == 650);
  }

  TEST_CASE("a setting makes what is not there, mappings on the way included") {
    const Scenario scenario =
        parse(small_scenario(), {{"limits.max_provider_share.share", "0.5"},
                                 {"sites.only", "[\"aws/*\"]"},
                                 {"workloads[0].slo.e2e_p99.9_ms", "9000"}});

    CHECK(scenario.spec.limits().max_provider_share().share() == 0.5);
    CHECK(scenario.spec.sites().only(0) == "aws/*");
    CHECK(scenario.spec.workloads(0).slo().objectives(1).percentile() == 99.9);
  }

  TEST_CASE("settings are as good as the same text in the file") {
    CHECK(parse(small_scenario(), {{"seed", "7"}}).hash ==
          parse(small_scenario() + "seed: 7\n").hash);
  }

  TEST_CASE("a later setting wins") {
    CHECK(parse(small_scenario(), {{"seed", "7"}, {"seed", "8"}}).spec.seed() == 8);
  }

  TEST_CASE("what is wrong with a value is said at the setting") {
    CHECK(faults_of(small_scenario(), {{"limits.max_sites", "0"}}) ==
          "--set limits.max_sites: error: limits.max_sites is 0, expected 1 to 10000");
    CHECK(faults_of(small_scenario(), {{"limits.max_site", "3"}}) ==
          "--set limits.max_site: error: unknown field \"max_site\" in limits; did you "
          "mean \"max_sites\"?");
    CHECK(faults_of(small_scenario(), {{"seed", ""}}) ==
          "--set seed: error: has no value");
  }

  TEST_CASE("a path that leads nowhere is refused") {
    const std::string no_path =
        "is no path; expected one as limits.max_sites or demand[consumers].users";
    for (const char* path : {"", ".", "a..b", "[0]", "a[", "a[]", "a[0]b", "a]"}) {
      CAPTURE(path);
      CHECK(faults_of(small_scenario(), {{path, "1"}}) ==
            std::string("--set ") + path + ": error: " + no_path);
    }
    CHECK(
        faults_of(small_scenario(), {{"demand[user].users", "1"}}) ==
        "--set demand[user].users: error: demand has no entry named \"user\"; did you "
        "mean \"users\"?");
    CHECK(faults_of(small_scenario(), {{"demand[1].users", "1"}}) ==
          "--set demand[1].users: error: demand has 1 entries, counted from 0");
    CHECK(faults_of(small_scenario(), {{"name.first", "a"}}) ==
          "--set name.first: error: name is \"small\"");
    CHECK(faults_of(small_scenario(), {{"demand.users", "1"}}) ==
          "--set demand.users: error: demand is a list; expected [number] or [name] "
          "before .users");
    CHECK(faults_of(small_scenario(), {{"name[0]", "a"}}) ==
          "--set name[0]: error: name is \"small\", not a list");
  }

  TEST_CASE("a value that is not YAML is refused at its own place") {
    CHECK(faults_of(small_scenario(), {{"sites.only", "[a"}})
              .starts_with("--set sites.only:1:"));
  }
}

}  // namespace
}  // namespace isochrone::scenarios
