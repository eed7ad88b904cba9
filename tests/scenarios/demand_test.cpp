#include "scenarios/demand.h"

#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {
namespace {

Demand demand_of(const std::string& fields) {
  return expand_demand(small_scenario(fields), world());
}

/// One entry "crowd" of workload chat, one request per user and day.
std::string crowd(const std::string& fields) {
  return R"(demand { name: "crowd" workload: "chat" requests_per_user_day: 1 )" +
         fields + " } ";
}

double users(const Demand& demand) {
  double sum = 0;
  for (const Population& population : demand.populations) sum += population.users;
  return sum;
}

std::map<std::string, double> users_by_country(const Demand& demand) {
  std::map<std::string, double> sums;
  for (const Population& population : demand.populations) {
    sums[population.endpoint.country.text()] += population.users;
  }
  return sums;
}

bool noted(const Demand& demand, const std::string& part) {
  return std::ranges::any_of(demand.notes, [&](const std::string& note) {
    return note.find(part) != std::string::npos;
  });
}

double online(const char* code) {
  return world().countries[world().country(country(code)).value()].internet_users;
}

constexpr PopulationId kFirst{0};

TEST_SUITE("scenarios/demand") {
  TEST_CASE("a total is kept when it is spread over countries and metros") {
    const Demand demand = demand_of(
        crowd(R"(users { total: 4000000 } regions: ["EEA", "GB", "US", "KE"])"));

    CHECK(users(demand) == doctest::Approx(4e6));
    CHECK(demand.users_asked == doctest::Approx(4e6));
    CHECK(demand.users_served == doctest::Approx(4e6));
  }

  TEST_CASE("countries share a total by their Internet users") {
    const auto sums = users_by_country(
        demand_of(crowd(R"(users { total: 1000000 } regions: ["DE", "KE"])")));

    CHECK(sums.at("DE") ==
          doctest::Approx(1e6 * online("DE") / (online("DE") + online("KE"))));
  }

  TEST_CASE("a country named twice counts once") {
    const Demand once =
        demand_of(crowd(R"(users { total: 1000000 } regions: ["EEA"])"));
    const Demand twice =
        demand_of(crowd(R"(users { total: 1000000 } regions: ["EEA", "DE", "EU"])"));

    CHECK(users_by_country(once) == users_by_country(twice));
  }

  TEST_CASE("the EEA has no users in Britain or Switzerland") {
    const auto sums = users_by_country(
        demand_of(crowd(R"(users { total: 1000000 } regions: ["EEA"])")));

    CHECK_FALSE(sums.contains("GB"));
    CHECK_FALSE(sums.contains("CH"));
    CHECK(sums.contains("NO"));
  }

  TEST_CASE("users given per country stay in their country") {
    const auto sums = users_by_country(demand_of(crowd(
        R"(users { by_country { key: "DE" value: 900000 } by_country { key: "KE" value: 120000 } })")));

    CHECK(sums.size() == 2);
    CHECK(sums.at("DE") == doctest::Approx(900000));
    CHECK(sums.at("KE") == doctest::Approx(120000));
  }

  TEST_CASE(
      "with as many metros as countries each keeps its largest, and all its users") {
    const Demand demand = demand_of(crowd(
        R"(metros_max: 2 users { by_country { key: "DE" value: 900000 } by_country { key: "FR" value: 100000 } })"));

    REQUIRE(demand.populations.size() == 2);
    CHECK(demand.populations[kFirst].metro == "de-essen");
    CHECK(demand.populations[kFirst].users == doctest::Approx(900000));
    CHECK(demand.populations[PopulationId{1}].metro == "fr-paris");
    CHECK(demand.populations[PopulationId{1}].users == doctest::Approx(100000));
    CHECK(noted(demand, "2 of "));
  }

  TEST_CASE("users of a small metro join the nearest kept one of their own country") {
    const Demand all =
        demand_of(crowd(R"(users { by_country { key: "DE" value: 1000000 } })"));
    const Demand two = demand_of(
        crowd(R"(metros_max: 2 users { by_country { key: "DE" value: 1000000 } })"));

    // The kept ones are the two with the most users; everybody else goes to the nearer.
    std::vector<Population> ranked = all.populations.items();
    std::ranges::sort(ranked, std::greater{}, &Population::users);
    std::map<std::string, double> expected;
    for (const Population& population : ranked) {
      const auto km = [&](int kept) {
        return geo::great_circle_km(ranked[static_cast<std::size_t>(kept)].endpoint.at,
                                    population.endpoint.at);
      };
      expected[ranked[km(0) <= km(1) ? 0 : 1].metro] += population.users;
    }
    REQUIRE(two.populations.size() == 2);
    for (const Population& population : two.populations) {
      CHECK(population.users == doctest::Approx(expected.at(population.metro)));
    }
  }

  TEST_CASE("fewer metros than countries is an error at its line") {
    Scenario scenario = small_scenario(
        crowd(R"(users { total: 1000 } regions: ["EEA"] metros_max: 5)"));
    scenario.source.put("demand[0].metros_max", {"eea.yaml", 14, 17});

    try {
      expand_demand(scenario, world());
      FAIL("no error");
    } catch (const InputError& error) {
      REQUIRE(error.diagnostics().size() == 1);
      CHECK(error.diagnostics()[0].position.line == 14);
      CHECK(error.diagnostics()[0].message.find("30 countries") != std::string::npos);
    }
  }

  TEST_CASE("users of an embargoed country are taken out and not given to others") {
    const Demand demand =
        demand_of(crowd(R"(users { total: 1000000 } regions: ["DE", "RU"])"));

    const double served = 1e6 * online("DE") / (online("DE") + online("RU"));
    CHECK(users(demand) == doctest::Approx(served));
    CHECK(demand.users_asked == doctest::Approx(1e6));
    CHECK(demand.users_served == doctest::Approx(served));
    CHECK(noted(demand, "1.0 M asked"));
    CHECK(noted(demand, "embargoed: RU"));
  }

  TEST_CASE("users in China are taken out as partner-run, those in Hong Kong are not") {
    const auto sums = users_by_country(
        demand_of(crowd(R"(users { total: 1000000 } regions: ["CN", "HK"])")));

    CHECK_FALSE(sums.contains("CN"));
    CHECK(sums.contains("HK"));
  }

  TEST_CASE("sites.countries.allow lifts an embargo by code, not by bloc") {
    const std::string entry =
        crowd(R"(users { total: 1000000 } regions: ["DE", "RU"])");

    CHECK(
        users_by_country(demand_of(entry + R"(sites { countries { allow: ["RU"] } })"))
            .contains("RU"));
    CHECK_FALSE(users_by_country(
                    demand_of(entry + R"(sites { countries { allow: ["EUROPE"] } })"))
                    .contains("RU"));
  }

  TEST_CASE("a country without a metro is left out and named") {
    const Demand demand =
        demand_of(crowd(R"(users { total: 1000 } regions: ["DE", "IO"])"));

    CHECK(users(demand) ==
          doctest::Approx(1000 * online("DE") / (online("DE") + online("IO"))));
    CHECK(noted(demand, "no metro is known: IO"));
  }

  TEST_CASE("a scenario that nobody is left in is an error") {
    CHECK_THROWS_AS(demand_of(crowd(R"(users { total: 1000 } regions: ["RU"])")),
                    InputError);
  }

  TEST_CASE("a steady rate becomes load and requests as on paper") {
    // 86 400 users x 1 a day = 1 request per second. Load: 1 x 1.3 x headroom 1.15 =
    // 1.495. Requests: 3600 in each hour of 365 days, over 12 months: 109 500.
    const Demand demand = demand_of(
        crowd(R"(users { total: 86400 } at { city: "Accra" country: "GH" })") +
        "headroom: 1.15");

    REQUIRE(demand.populations.size() == 1);
    const Population& accra = demand.populations[kFirst];
    for (std::size_t block = 0; block < kBlocks; ++block) {
      CHECK(accra.load[block] == MicroRps::of(1'495'000));
      CHECK(accra.requests_month[block] == 109'500);
    }
  }

  TEST_CASE("requests of a year are what users ask in a year") {
    // 1 000 000 users x 1 x 365 days / 12 months; the consumer week has mean 1, and 365
    // days are 52 weeks and a Friday, a weekday of factor 1.02: + 0.02 of a day.
    const Demand demand = demand_of(crowd(
        R"(users { total: 1000000 } regions: ["EEA", "US"] daily_profile { name: "consumer" })"));

    std::int64_t requests = 0;
    for (const Population& population : demand.populations) {
      for (const std::int64_t block : population.requests_month) requests += block;
    }
    CHECK(static_cast<double>(requests) ==
          doctest::Approx(1e6 * 365.02 / 12).epsilon(1e-4));
  }

  TEST_CASE("a stated peak is the largest 10-minute mean, times headroom") {
    const Demand demand = demand_of(
        crowd(
            R"(rps_peak: 1500 at { city: "Frankfurt am Main" country: "DE" } daily_profile { name: "office" })") +
        "headroom: 1.5");

    const Population& desk = demand.populations[kFirst];
    CHECK(std::ranges::max(desk.load) == MicroRps::of(2'250'000'000));
    CHECK(desk.users == 0);
    CHECK(demand.users_asked == 0);
  }

  TEST_CASE("a stated peak of a flat day makes requests of its hourly mean") {
    // Hourly mean 1300 / 1.3 = 1000 a second; 3 600 000 an hour x 365 / 12.
    const Demand demand =
        demand_of(crowd(R"(rps_peak: 1300 at { city: "Accra" country: "GH" })"));

    CHECK(demand.populations[kFirst].requests_month[0] == 109'500'000);
  }

  TEST_CASE("a stated peak over several metros is the peak of their sum") {
    const Demand demand = demand_of(
        crowd(R"(rps_peak: 100 regions: ["DE"] daily_profile { name: "consumer" })"));

    std::array<std::int64_t, kBlocks> sums{};
    for (const Population& population : demand.populations) {
      for (std::size_t block = 0; block < kBlocks; ++block) {
        sums[block] += population.load[block].count();
      }
    }
    // Each metro rounds up by at most 1 micro-rps.
    CHECK(static_cast<double>(std::ranges::max(sums)) == doctest::Approx(100e6));
  }

  TEST_CASE("bursty arrivals replace the 10-minute factor by their modulation") {
    const Demand demand = demand_of(crowd(
        R"(users { total: 86400 } at { city: "Accra" country: "GH" } burstiness { cv: 1.2 correlation_min: 10 })"));

    // k = (1.44 + 1) / (1.44 - 1) = 2.44 / 0.44.
    CHECK(demand.modulation[0].shape == doctest::Approx(2.44 / 0.44));
    CHECK(demand.modulation[0].correlation_s == doctest::Approx(600));
    CHECK(demand.populations[kFirst].load[0] == MicroRps::of(1'000'000));
  }

  TEST_CASE("a coefficient of variation of one is Poisson and keeps the factor") {
    const Demand demand = demand_of(crowd(
        R"(users { total: 86400 } at { city: "Accra" country: "GH" } burstiness { cv: 1 correlation_min: 10 })"));

    CHECK(demand.modulation[0].shape == 0);
    CHECK(demand.populations[kFirst].load[0] == MicroRps::of(1'300'000));
  }

  TEST_CASE("capacity holds at the end of the growth") {
    // 12 months: the last is month 11; 1.1^11 = 2.853116706.
    const Demand demand = demand_of(crowd(
        R"(users { total: 86400 } at { city: "Accra" country: "GH" } growth_pct_month: 10)"));

    CHECK(to_rps(demand.populations[kFirst].load[0]) ==
          doctest::Approx(1.3 * 2.853116706));
  }

  TEST_CASE("access says which last mile users have") {
    const std::string at = R"(users { total: 10 } at { city: "Accra" country: "GH" } )";
    const datasets::Country& ghana =
        world().countries[world().country(country("GH")).value()];
    const auto law = [&](const char* access) {
      return demand_of(crowd(at + access)).populations[kFirst].access;
    };

    CHECK(law("").p95_ms == ghana.access.p95_ms);
    CHECK(law(R"(access { kind: "fixed" })").p50_ms == ghana.access.p50_ms);
    CHECK(law(R"(access { kind: "none" })").none());
    CHECK(law("access { rtt_ms: 3 }").p50_ms == 3);
    CHECK(law("access { rtt_ms: 3 }").p99_ms == 3);
    const geo::AccessLaw mobile = law(R"(access { kind: "mobile" })");
    CHECK(mobile.p75_ms == ghana.access_mobile.p75_ms);
    CHECK(mobile.p99_ms == doctest::Approx(ghana.access_mobile.p75_ms *
                                           ghana.access.p99_ms / ghana.access.p75_ms));
    CHECK(mobile.estimated);
  }

  TEST_CASE("of two reporting regions that hold a country the smaller one has it") {
    const Demand demand =
        demand_of(crowd(R"(users { total: 1000 } regions: ["AE", "JP", "KE"])") +
                  R"(regions { key: "asia" value { words: ["ASIA"] } }
           regions { key: "gulf" value { words: ["AE", "SA", "QA"] } })");

    std::map<std::string, std::string> region;
    for (const Population& population : demand.populations) {
      region[population.endpoint.country.text()] =
          demand.regions[population.region].name;
    }
    CHECK(region.at("AE") == "gulf");
    CHECK(region.at("JP") == "asia");
    CHECK(region.at("KE") == "KE");
  }

  TEST_CASE("an unknown city is an error that names the nearest") {
    try {
      demand_of(crowd(
          R"(users { total: 10 } at { city: "Frankfort am Main" country: "DE" })"));
      FAIL("no error");
    } catch (const InputError& error) {
      CHECK(error.diagnostics()[0].hint.find("Frankfurt am Main") != std::string::npos);
    }
  }

  TEST_CASE("a place given by coordinates keeps the clock of its nearest metro") {
    // 50.11 N 8.68 E is Frankfurt; noon there in January is 11 UTC.
    std::string noon;
    for (int hour = 0; hour < 24; ++hour) {
      noon += hour == 12 ? " hours: 1" : " hours: 0";
    }
    const Demand demand = demand_of(
        crowd("users { total: 10 } at { lat: 50.11 lon: 8.68 country: \"DE\" } "
              "daily_profile {" +
              noon + " }"));

    const Population& place = demand.populations[kFirst];
    CHECK(place.load[11].count() > 0);
    CHECK(place.load[9].count() == 0);
    CHECK(place.endpoint.at == geo::Coordinates{50.11, 8.68});
  }

  TEST_CASE("populations come by entry, then by metro") {
    const Demand demand = demand_of(crowd(R"(users { total: 1000 } regions: ["FR"])") +
                                    crowd(R"(users { total: 1000 } regions: ["DE"])"));

    CHECK(std::ranges::is_sorted(demand.populations, {}, [](const Population& p) {
      return std::pair(p.entry, p.metro);
    }));
  }

  TEST_CASE("where sessions stay, every hour holds the largest of its metro") {
    const std::string entry = crowd(
        R"(users { by_country { key: "DE" value: 1000 } } daily_profile { name: "office" })");
    const Demand roaming = demand_of(entry);
    Scenario scenario = small_scenario(entry);
    scenario.spec.mutable_workloads(0)->mutable_session()->set_sticky("site");
    const Demand staying = expand_demand(scenario, world());

    const Population& before = roaming.populations[kFirst];
    const Population& after = staying.populations[kFirst];
    REQUIRE(std::ranges::min(before.load) < std::ranges::max(before.load));
    CHECK(std::ranges::min(after.load) == std::ranges::max(before.load));
    CHECK(std::ranges::max(after.load) == std::ranges::max(before.load));
    CHECK(after.requests_month == before.requests_month);
    CHECK(noted(staying, "sessions stay at their site"));
    CHECK_FALSE(noted(roaming, "sessions stay at their site"));
  }
}

}  // namespace
}  // namespace isochrone::scenarios
