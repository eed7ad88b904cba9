#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "base/hash.h"
#include "catalog_fixture.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {
namespace {

std::string with_demand(const std::string& entry) {
  return without_demand() + "demand: [{name: users, workload: chat, " + entry + "}]\n";
}

/// A file that is gone when the test is.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() / name) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string faults_of_file(const std::string& path) {
  try {
    read_scenario(path, catalog());
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST_SUITE("scenarios/read_scenario") {
  TEST_CASE("every example is sound and warns of nothing") {
    for (const std::string& name : example_names()) {
      CAPTURE(name);
      const Scenario scenario = read_scenario(example_path(name), catalog());
      CHECK(scenario.spec.name() == name);
      CHECK(scenario.warnings.empty());
      CHECK(scenario.folder == ISOCHRONE_ROOT "/scenarios/examples");
    }
  }

  TEST_CASE("the normalised text of a scenario is its own normalised text") {
    for (const std::string& name : example_names()) {
      CAPTURE(name);
      const Scenario scenario = read_scenario(example_path(name), catalog());
      const Scenario again = parse(scenario.normalised);
      CHECK(again.normalised == scenario.normalised);
      CHECK(again.hash == scenario.hash);
      CHECK(scenario.hash == sha256(scenario.normalised));
    }
  }

  TEST_CASE("texts that mean the same normalise to the same") {
    const Scenario one = parse(with_demand(
        "users: {FR: 10, DE: 2e1}, requests_per_user_day: 5.0, access: \"fixed\", "
        "slo: {ttft_p99_ms: 900, ttft_p95.0_ms: 700}"));
    const Scenario other =
        parse(with_demand("slo: {ttft_p95_ms: 700, ttft_p99_ms: 900}, access: fixed, "
                          "users: {DE: 20, FR: 10}, requests_per_user_day: 5"));

    CHECK(one.normalised == other.normalised);
    CHECK(
        one.normalised.find("\"users\": {\n        \"DE\": 20,\n        \"FR\": 10") !=
        std::string::npos);
  }

  TEST_CASE("text that JSON must escape comes back unchanged") {
    const std::string because = "counsel's \\\"letter\\\",\\n3 May: caf\\u00e9 #1";
    const std::string law =
        "residency: {mode: law, law: {mechanisms: []}, assume: [{from: [TZ], "
        "allow: [ZA], because: \"" +
        because + "\"}]}\n";
    std::string yaml = small_scenario();
    yaml.replace(yaml.find("residency: {mode: off}\n"), 23, law);
    const Scenario scenario = parse(yaml);

    CHECK(scenario.spec.residency().assume(0).because() ==
          "counsel's \"letter\",\n3 May: caf\xC3\xA9 #1");
    CHECK(parse(scenario.normalised).normalised == scenario.normalised);
  }

  TEST_CASE("NO is Norway and off is a word, not booleans") {
    const Scenario scenario =
        parse(with_demand("users: {NO: 5}, requests_per_user_day: 1"));

    CHECK(scenario.spec.demand(0).users().by_country().at("NO") == 5);
    CHECK(scenario.spec.residency().mode() == "off");
  }

  TEST_CASE("a byte order mark and line ends of Windows are read") {
    std::string windows = "\xEF\xBB\xBF";
    for (const char c : small_scenario()) {
      if (c == '\n') windows += '\r';
      windows += c;
    }

    CHECK(parse(windows).normalised == parse(small_scenario()).normalised);
  }

  TEST_CASE("a whole number may be written with a point or an exponent") {
    const Scenario scenario =
        parse(small_scenario() + "simulate: {hours: 24.0, max_requests: 2e6}\n");

    CHECK(scenario.spec.simulate().hours() == 24);
    CHECK(scenario.spec.simulate().max_requests() == 2'000'000);
  }

  TEST_CASE("an alias stands for a copy of what it names") {
    const Scenario scenario = parse(small_scenario() +
                                    "regions: {north: &n [NO, SE], south: [IT]}\n"
                                    "sites: {countries: {allow: *n}}\n");

    CHECK(scenario.spec.sites().countries().allow_size() == 2);
  }

  TEST_CASE("profiles, access and users are read in each of their forms") {
    std::string hours = "[";
    for (int i = 0; i < 168; ++i) hours += i % 24 == 12 ? "3," : "1,";
    hours.back() = ']';
    const Scenario scenario =
        parse(with_demand("users: 1e6, regions: [EEA, GB], requests_per_user_day: 2, "
                          "access: {rtt_ms: 3}, "
                          "daily_profile: " +
                          hours));

    const spec::Demand& entry = scenario.spec.demand(0);
    CHECK(entry.users().total() == 1e6);
    CHECK(entry.access().rtt_ms() == 3);
    CHECK(entry.daily_profile().hours_size() == 168);
    CHECK(entry.daily_profile().hours(12) == 3);
  }

  TEST_CASE("files of a scenario start from its folder") {
    const TemporaryFile lengths("isochrone-lengths.csv", "value,weight\n10,1\n");
    const TemporaryFile scenario("isochrone-scenario.yaml", [] {
      std::string yaml = small_scenario();
      yaml.replace(yaml.find("{constant: 400}"), 15,
                   "{empirical: isochrone-lengths.csv}");
      return yaml;
    }());

    CHECK(faults_of_file(scenario.path()).empty());
  }

  TEST_CASE("what is no file of a scenario is said to be none") {
    const std::string folder = ISOCHRONE_ROOT "/scenarios";
    CHECK(faults_of_file(folder) == folder + ": error: is a directory");
    CHECK(faults_of_file(folder + "/none.yaml") ==
          folder + "/none.yaml: error: no such file");
    // Endless, so only a bounded read comes back from it.
    CHECK(
        faults_of_file("/dev/zero") ==
        "/dev/zero: error: is larger than the 1048576 bytes that a scenario may have");
  }

  TEST_CASE("a scenario may have as many bytes as is said, and no more") {
    std::string yaml = small_scenario();
    yaml += "#" + std::string(kMaxYamlBytes - yaml.size() - 1, 'x');

    CHECK(faults_of(yaml).empty());
    CHECK(faults_of(yaml + "x").find("larger") != std::string::npos);
  }

  TEST_CASE("the defaults are those that the header states") {
    std::string yaml = small_scenario();
    yaml.erase(yaml.find("headroom: 1.2\n"), 14);
    const Scenario scenario = parse(yaml);

    CHECK(seed(scenario) == 42);
    CHECK(headroom(scenario) == 1.0);
    CHECK(headroom(parse(small_scenario())) == 1.2);
  }

  TEST_CASE("objectives of an entry replace those of its workload one by one") {
    const Scenario scenario = parse(
        with_demand("users: {DE: 1}, requests_per_user_day: 1, slo: {ttft_p95_ms: 600, "
                    "e2e_p99.9_ms: 9000, rtt_max_ms: 80}"));

    const spec::Slo slo = objectives(scenario, scenario.spec.demand(0));
    REQUIRE(slo.objectives_size() == 2);
    CHECK(slo.objectives(0).metric() == "e2e");
    CHECK(slo.objectives(0).percentile() == 99.9);
    CHECK(slo.objectives(1).metric() == "ttft");
    CHECK(slo.objectives(1).ms() == 600);
    CHECK(slo.rtt_max_ms() == 80);
  }

  TEST_CASE("degraded objectives are the given ones, sorted") {
    const Scenario scenario = parse(small_scenario() +
                                    "resilience: {survive: site, degraded: "
                                    "{ttft_p95_ms: 1500, e2e_p95_ms: 9000}}\n");

    const spec::Slo slo = degraded_objectives(scenario);
    REQUIRE(slo.objectives_size() == 2);
    CHECK(slo.objectives(0).metric() == "e2e");
    CHECK(slo.objectives(1).metric() == "ttft");
  }
}

TEST_SUITE("scenarios/source_map") {
  TEST_CASE("every value has the place where it was written") {
    const Scenario scenario = parse(small_scenario());
    // Line 10: `    slo: {ttft_p95_ms: 800}`; the 800 begins in column 24.
    const SourcePosition at = scenario.source.at("workloads[0].slo.ttft_p95_ms");

    CHECK(at.file == "s.yaml");
    CHECK(at.line == 10);
    CHECK(at.column == 24);
    CHECK(scenario.source.has("demand[0].users.DE"));
    CHECK_FALSE(scenario.source.has("demand[0].regions"));
  }

  TEST_CASE("a value that is not given has the place of what it would stand in") {
    const Scenario scenario = parse(small_scenario());

    CHECK(scenario.source.at("workloads[0].slo.e2e_p99_ms").line == 10);
    CHECK(scenario.source.at("workloads[0].batch").line == 5);
    CHECK(scenario.source.at("limits.max_sites").line == 1);
  }

  TEST_CASE("a citation is the line, without its indentation") {
    const Scenario scenario = parse(small_scenario());

    CHECK(scenario.source.cite("workloads[0].kind") == "s.yaml:6: kind: llm");
  }
}

}  // namespace
}  // namespace isochrone::scenarios
