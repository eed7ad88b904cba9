#include "scenarios/residency.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "scenarios/countries.h"
#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {
namespace {

/// Users, what data, what mechanisms, where to; the verdict that the rows say.
struct LawCase {
  const char* from;
  const char* data;
  std::vector<std::string> mechanisms;
  const char* to;
  const char* verdict;  ///< the mechanism; "no" forbidden; "unknown"
};

Scenario scenario_with(const std::string& data, const std::string& residency,
                       const std::string& horizon = "") {
  Scenario scenario = small_scenario("residency { " + residency + " } " + horizon);
  if (!data.empty()) scenario.spec.mutable_workloads(0)->add_data(data);
  return scenario;
}

std::string law_with(const std::vector<std::string>& mechanisms) {
  std::string text = R"(mode: "law" law { )";
  for (const std::string& mechanism : mechanisms) {
    text += "mechanisms: \"" + mechanism + "\" ";
  }
  return text + "}";
}

Verdict verdict_of(const Scenario& scenario, const char* from, const char* to) {
  return ResidencyRules(scenario, world()).verdict(country(from), 0, country(to));
}

std::string word_of(const Verdict& verdict) {
  if (verdict.allowed) return verdict.mechanism;
  return verdict.unknown ? "unknown" : "no";
}

bool cites(const Verdict& verdict, const std::string& part) {
  return std::ranges::any_of(verdict.chain, [&](const std::string& line) {
    return line.find(part) != std::string::npos;
  });
}

void check_all(const std::vector<LawCase>& cases) {
  for (const LawCase& one : cases) {
    CAPTURE(one.from);
    CAPTURE(one.data);
    CAPTURE(one.to);
    const Verdict verdict =
        verdict_of(scenario_with(one.data, law_with(one.mechanisms)), one.from, one.to);
    CHECK(word_of(verdict) == one.verdict);
    CHECK_FALSE(verdict.chain.empty());
  }
}

TEST_SUITE("scenarios/residency") {
  TEST_CASE("the law of the EEA is free inside, and needs a mechanism outside") {
    check_all({
        {"DE", "general", {}, "DE", "home"},
        {"DE", "general", {}, "FR", "free"},
        {"NO", "general", {}, "SE", "free"},
        {"DE", "general", {}, "IS", "free"},
        {"DE", "general", {}, "GB", "no"},  // adequate, but the mechanism is not held
        {"DE", "general", {}, "CH", "no"},
        {"DE", "general", {"adequacy"}, "GB", "adequacy"},
        {"DE", "general", {"adequacy"}, "CH", "adequacy"},
        {"DE", "general", {"adequacy"}, "JP", "adequacy"},
        {"DE", "general", {"adequacy"}, "BR", "adequacy"},
        {"DE", "general", {"adequacy"}, "US", "no"},  // only under the framework
        {"DE", "general", {"dpf"}, "US", "dpf"},
        {"DE", "general", {"scc"}, "US", "scc"},
        {"DE", "general", {"bcr"}, "IN", "bcr"},
        {"DE", "general", {"adequacy"}, "IN", "no"},
        {"DE", "general", {"consent"}, "IN", "no"},  // a derogation, not listed
        {"DE", "general", {"dpf"}, "GB", "no"},
    });
  }

  TEST_CASE("rows of the data class must admit beside the general ones") {
    check_all({
        // The EEA's health and financial rows leave the destination to the general
        // ones.
        {"IT", "health", {"scc"}, "US", "scc"},
        {"IT", "financial", {"adequacy"}, "GB", "adequacy"},
        {"IT", "financial", {}, "GB", "no"},
        // France: certified hosts on EEA territory; Germany: EEA and adequate ones.
        {"FR", "health", {}, "DE", "no"},
        {"FR", "health", {"certification"}, "DE", "certification"},
        {"FR", "health", {"certification", "adequacy"}, "GB", "no"},
        {"DE",
         "health",
         {"certification", "adequacy"},
         "GB",
         "adequacy + certification"},
        {"DE", "health", {"certification", "dpf", "scc"}, "US", "no"},
        {"DE", "health", {"adequacy"}, "GB", "no"},
    });
  }

  TEST_CASE("other laws say what their rows say") {
    check_all({
        {"GB", "general", {"adequacy"}, "DE", "adequacy"},
        {"GB", "general", {"adequacy"}, "KR", "adequacy"},
        {"GB", "general", {"adequacy"}, "US", "no"},
        {"CH", "general", {"adequacy"}, "JP", "no"},  // not in the Swiss annex
        {"CH", "general", {"scc"}, "JP", "scc"},
        {"US", "general", {}, "IN", "free"},
        {"US", "general", {"scc"}, "CN", "no"},  // bulk data rule
        {"US", "general", {}, "HK", "no"},
        {"US", "health", {}, "CA", "no"},
        {"US", "health", {"baa"}, "CA", "baa"},
        {"CN", "general", {}, "SG", "no"},
        {"CN", "general", {"scc"}, "SG", "scc"},
        {"CN", "financial", {"scc"}, "SG", "no"},  // local only
        {"IN", "general", {}, "SG", "free"},
        {"IN", "financial", {"scc", "approval"}, "SG", "no"},  // local only
        {"KZ", "general", {"scc", "approval"}, "DE", "no"},
        {"KG", "general", {}, "DE", "free"},  // a copy at home, processing anywhere
        {"JP", "general", {"adequacy"}, "DE", "adequacy"},
        {"JP", "general", {"adequacy"}, "US", "no"},
        {"BR", "general", {"adequacy"}, "DE", "adequacy"},
        {"BR", "general", {"adequacy"}, "US", "no"},
        {"KE", "general", {"adequacy"}, "ZA", "no"},  // no list was read: left out
        {"KE", "general", {"scc"}, "ZA", "scc"},
        {"TW", "general", {}, "CN", "no"},
        {"TW", "general", {}, "JP", "free"},
        {"CL", "general", {}, "US", "no"},  // the new law holds since 2026-12-01
        {"CL", "general", {"scc"}, "US", "scc"},
    });
  }

  TEST_CASE("a country without a rule is unknown, and only home is left") {
    check_all({
        {"TZ",
         "general",
         {"adequacy", "scc", "bcr", "consent", "approval"},
         "ZA",
         "unknown"},
        {"TZ", "general", {}, "TZ", "home"},
        {"MO", "general", {"scc"}, "CN", "unknown"},  // own law: never China's rows
        {"GI", "general", {"adequacy"}, "ES", "unknown"},
        {"NC", "general", {"scc"}, "FR", "unknown"},
        {"KE", "financial", {"scc", "consent"}, "ZA", "unknown"},  // no financial row
    });
  }

  TEST_CASE("a territory has the rules of the country that it follows") {
    check_all({
        {"RE", "general", {}, "DE", "free"},
        {"RE", "general", {}, "FR", "home"},
        {"PR", "general", {}, "US", "home"},
        {"PR", "general", {}, "CN", "no"},
        {"GF", "health", {"certification"}, "DE", "certification"},
        {"RE", "general", {}, "US", "no"},
    });
  }

  TEST_CASE("the own country is allowed for every class under every law") {
    for (const datasets::Country& one : world().countries) {
      for (const char* data : {"general", "health", "financial"}) {
        const std::string code = one.code.text();
        CHECK(verdict_of(scenario_with(data, law_with({})), code.c_str(), code.c_str())
                  .allowed);
      }
    }
  }

  TEST_CASE("without a mechanism nothing but the free rows admits data of the EEA") {
    const Scenario scenario = scenario_with("general", law_with({}));
    const ResidencyRules rules(scenario, world());
    const CountrySet* eea = world().blocs.find("EEA");

    // TFEU Art. 349 and 355: parts of the Union that lie overseas, and the Aland
    // Islands. Svalbard follows Norway's law and is outside the EEA Agreement.
    const std::set<std::string> overseas{"AX", "GF", "GP", "MF", "MQ", "RE", "YT"};
    for (const datasets::Country& to : world().countries) {
      CAPTURE(to.code.text());
      const bool inside = eea->contains(to.code) || overseas.contains(to.code.text());
      CHECK(rules.verdict(country("DE"), 0, to.code).allowed == inside);
    }
  }

  TEST_CASE("a rule must hold to the last day of the horizon") {
    // GB's adequacy ends with 2031-12-27.
    const auto until = [](const char* horizon) {
      return word_of(verdict_of(
          scenario_with("general", law_with({"adequacy"}), horizon), "DE", "GB"));
    };

    CHECK(until(R"(horizon { start: "2031-01-28" months: 11 })") == "adequacy");
    CHECK(until(R"(horizon { start: "2031-01-29" months: 11 })") == "no");
    CHECK(until(R"(horizon { start: "2031-01-01" months: 24 })") == "no");
  }

  TEST_CASE("where one basis ends another may carry on, and both are named") {
    const Verdict verdict =
        verdict_of(scenario_with("general", law_with({"adequacy", "scc"}),
                                 R"(horizon { start: "2031-01-01" months: 24 })"),
                   "DE", "GB");

    CHECK(word_of(verdict) == "adequacy + scc");
  }

  TEST_CASE("a law that begins inside the horizon binds from its day") {
    // Chile: free until 2026-11-30, then scc or bcr.
    const auto from = [](const char* horizon, const std::vector<std::string>& held) {
      return word_of(
          verdict_of(scenario_with("general", law_with(held), horizon), "CL", "US"));
    };
    const char* before = R"(horizon { start: "2026-09-01" months: 3 })";
    const char* across = R"(horizon { start: "2026-09-01" months: 4 })";

    CHECK(from(before, {}) == "free");
    CHECK(from(across, {}) == "no");
    CHECK(from(across, {"scc"}) == "scc");
  }

  TEST_CASE("a row that is not yet in force does not admit") {
    // Brazil became adequate on 2026-01-26.
    const std::string horizon = R"(horizon { start: "2026-01-01" months: 12 })";

    CHECK(word_of(verdict_of(scenario_with("general", law_with({"adequacy"}), horizon),
                             "DE", "BR")) == "no");
  }

  TEST_CASE("the chain names the row that admits and the mechanism that is missing") {
    const Verdict admitted =
        verdict_of(scenario_with("general", law_with({"adequacy"})), "DE", "JP");
    const Verdict refused =
        verdict_of(scenario_with("general", law_with({})), "DE", "JP");

    CHECK(cites(admitted, "datasets/residency.csv:"));
    CHECK(cites(admitted, "adequacy: JP"));
    CHECK(cites(refused, "would admit JP under adequacy, not in law.mechanisms"));
  }

  TEST_CASE("the line in the chain is the line of the table") {
    const auto row = std::ranges::find_if(world().residency, [](const auto& one) {
      return one.regime == "GDPR Art. 45 adequacy: JP";
    });
    REQUIRE(row != world().residency.end());

    CHECK(
        cites(verdict_of(scenario_with("general", law_with({"adequacy"})), "DE", "JP"),
              "datasets/residency.csv:" + std::to_string(row->line) + ":"));
  }

  TEST_CASE("rules for part of a country warn and do not forbid") {
    // Florida's health records, within US health.
    const Verdict verdict =
        verdict_of(scenario_with("health", law_with({"baa"})), "US", "IN");

    CHECK(verdict.allowed);
    CHECK(cites(verdict, "note: "));
    CHECK(cites(verdict, "Florida"));
  }

  TEST_CASE("a copy that must stay at home is said and does not bind processing") {
    CHECK(cites(verdict_of(scenario_with("general", law_with({})), "KG", "DE"),
                "a copy must be stored in KG"));
  }

  TEST_CASE("an assumption fills a gap of the table and says why") {
    const std::string assume = law_with({}) + R"( assume { from: "TZ" data: "general"
        allow: "ZA" because: "counsel's letter" })";

    const Verdict assumed = verdict_of(scenario_with("general", assume), "TZ", "ZA");
    CHECK(word_of(assumed) == "assumed");
    CHECK(cites(assumed, "counsel's letter"));
    CHECK(word_of(verdict_of(scenario_with("general", assume), "TZ", "DE")) ==
          "unknown");
    CHECK(word_of(verdict_of(scenario_with("health", assume), "TZ", "ZA")) ==
          "unknown");
  }

  TEST_CASE("an assumption does not overrule a known rule") {
    const std::string assume =
        law_with({}) + R"( assume { from: "KZ" allow: "DE" because: "hope" })";

    CHECK(word_of(verdict_of(scenario_with("general", assume), "KZ", "DE")) == "no");
  }

  TEST_CASE("several classes of data must all be lawful") {
    Scenario scenario = scenario_with("general", law_with({"scc"}));
    scenario.spec.mutable_workloads(0)->add_data("financial");

    CHECK(word_of(verdict_of(scenario, "CN", "SG")) == "no");
    CHECK(word_of(verdict_of(scenario, "CH", "SG")) == "scc");
  }

  TEST_CASE("data of no class meet no rule") {
    CHECK(word_of(verdict_of(scenario_with("none", law_with({})), "KZ", "US")) ==
          "no rule applies");
  }

  TEST_CASE("data of no stated class are general") {
    CHECK(word_of(verdict_of(scenario_with("", law_with({})), "DE", "GB")) == "no");
  }

  TEST_CASE("residency that is switched off allows everything and says so") {
    CHECK(word_of(verdict_of(scenario_with("general", R"(mode: "off")"), "KZ", "US")) ==
          "off");
  }

  TEST_CASE("a policy allows what its rule lists, and no more") {
    const std::string policy = R"(mode: "policy" rules { from: "EEA" data: "general"
        allow: ["EEA", "CH"] } otherwise: "deny")";
    const auto word = [&](const char* data, const char* from, const char* to) {
      return word_of(verdict_of(scenario_with(data, policy), from, to));
    };

    CHECK(word("general", "DE", "FR") == "policy rule 1");
    CHECK(word("general", "DE", "CH") == "policy rule 1");
    CHECK(word("general", "DE", "GB") == "no");
    CHECK(word("general", "GB", "GB") == "no");  // otherwise: deny
    CHECK(word("health", "DE", "DE") == "no");   // the rule is for general data
    CHECK(word("general", "RE", "DE") == "policy rule 1");  // follows FR
    CHECK(word("general", "DE", "RE") == "no");  // but is not in the EEA's list
  }

  TEST_CASE("populations that no rule names stay at home unless the policy says else") {
    const auto word = [](const std::string& policy, const char* to) {
      return word_of(verdict_of(scenario_with("general", policy), "KE", to));
    };

    CHECK(word(R"(mode: "policy")", "KE") == "home");
    CHECK(word(R"(mode: "policy")", "ZA") == "no");
    CHECK(word(R"(mode: "policy" otherwise: "any")", "ZA") == "any");
    CHECK(word(R"(mode: "policy" otherwise: "deny")", "KE") == "no");
  }

  TEST_CASE("where two policy rules name a population both must list the place") {
    const std::string policy = R"(mode: "policy"
        rules { from: "EEA" allow: "EEA" } rules { from: "DE" allow: "DE" })";

    CHECK(word_of(verdict_of(scenario_with("general", policy), "DE", "FR")) == "no");
    CHECK(word_of(verdict_of(scenario_with("general", policy), "DE", "DE")) ==
          "policy rule 1 + policy rule 2");
    CHECK(word_of(verdict_of(scenario_with("general", policy), "FR", "DE")) ==
          "policy rule 1");
  }

  TEST_CASE("law and policy together are their intersection") {
    const std::string both = R"(mode: "both" law { mechanisms: "adequacy" }
        rules { from: "EEA" allow: ["EEA", "GB", "US"] })";
    const auto word = [&](const char* to) {
      return word_of(verdict_of(scenario_with("general", both), "DE", to));
    };

    CHECK(word("FR") == "policy rule 1");
    CHECK(word("GB") == "adequacy + policy rule 1");
    CHECK(word("JP") == "no");  // lawful, not in the policy
    CHECK(word("US") == "no");  // in the policy, not lawful
  }

  TEST_CASE("the chain cites the scenario's own line") {
    Scenario scenario =
        scenario_with("general", R"(mode: "policy" rules { from: "DE" allow: "FR" })");
    scenario.source.set_source("residency:\n  rules: [{from: [DE], allow: [FR]}]\n");
    scenario.source.put("residency.rules[0]", {"bank.yaml", 2, 11});

    CHECK(cites(verdict_of(scenario, "DE", "FR"), "bank.yaml:2: rules: [{from: [DE]"));
  }
}

}  // namespace
}  // namespace isochrone::scenarios
