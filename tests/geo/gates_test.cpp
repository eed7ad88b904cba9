#include <stdexcept>

#include <doctest/doctest.h>

#include "geo/network.h"

namespace isochrone::geo {
namespace {

CountryCode code(const char* text) { return *CountryCode::parse(text); }

// On the equator, a degree is 111.195 km. Two neighbours, Left(0) and Right(10), joined
// by land; each reaches Market(30) by a cable of its own, and Right a second, Fair(40).
//
//   Left --land 1200-- Right      Left --A 4000-- Market      Right --B 3000-- Market
//   Right --C 4000-- Fair         Market --D 1300-- Fair
NetworkTables two_neighbours() {
  NetworkTables tables;
  tables.hubs = {{"Left", code("LL"), {0, 0}},
                 {"Right", code("RR"), {0, 10}},
                 {"Market", code("MM"), {0, 30}},
                 {"Fair", code("MM"), {0, 40}}};
  tables.links = {{"land", "Left", "Right", 1200, false, {}, 1},
                  {"A", "Left", "Market", 4000, true, {}, 1},
                  {"B", "Right", "Market", 3000, true, {}, 1},
                  {"C", "Right", "Fair", 4000, true, {}, 1},
                  {"D", "Market", "Fair", 1300, false, {}, 1}};
  tables.backbone = {.stretch = 1, .constant_ms = 2};
  tables.public_internet = {.stretch = 1, .constant_ms = 2, .domestic_ms = 1};
  tables.transit_groups = {{"ends", {code("LL"), code("RR")}, {"Market"}, {"Market"}},
                           {"middle", {code("MM")}, {"Fair"}, {"Market"}}};
  return tables;
}

const Endpoint kLeft{"Left", code("LL"), {0, 0}};
const Endpoint kRight{"Right", code("RR"), {0, 10}};
const Endpoint kMarket{"Market", code("MM"), {0, 30}};
const Endpoint kFair{"Fair", code("MM"), {0, 40}};

Micros rtt(const NetworkModel& model, Regime regime, const Endpoint& a,
           const Endpoint& b) {
  return model.rtts(regime, std::span(&a, 1), std::span(&b, 1)).at(0, 0).rtt;
}

TEST_SUITE("geo/gates") {
  // Backbone: land, 2 * 1200 / 204190 s = 11.7538 ms + 2. Public: by Market; from Left
  // the weighed way is 1200 + 3000 = 4200 against 4000, so A; then B: 7000 km, 68.5636
  // ms + 2.
  TEST_CASE("on the public internet neighbours meet at a gate, on a backbone not") {
    const NetworkModel model(two_neighbours());

    CHECK(rtt(model, Regime::kBackbone, kLeft, kRight) == Micros{13754});
    CHECK(rtt(model, Regime::kPublic, kLeft, kRight) == Micros{70564});
    CHECK(rtt(model, Regime::kPublic, kRight, kLeft) == Micros{70564});
  }

  // Right leaves by Market, Fair's side is entered at Fair: 3000 + 1300 km although C
  // has 4000: 42.1177 ms + 2.
  TEST_CASE("a way between groups takes a gate of either side") {
    CHECK(rtt(NetworkModel(two_neighbours()), Regime::kPublic, kRight, kFair) ==
          Micros{44118});
  }

  // 1300 km of land in one country: 12.7332 ms + 1.
  TEST_CASE("within one country there are no gates, and its own constant") {
    CHECK(rtt(NetworkModel(two_neighbours()), Regime::kPublic, kMarket, kFair) ==
          Micros{13733});
  }

  // Without A and B, Left and Right reach Market by C and D: 1200 + 4000 + 1300 = 6500
  // and 5300 km, 11,800 in all: 115.5786 ms + 2. Without the three cables there is no
  // way to any gate, and the land link remains: 13.754 ms.
  TEST_CASE("a cut makes ways through gates longer, and without gates they go direct") {
    const std::vector<std::string> two{"cable/A", "cable/B"};
    const std::vector<std::string> all{"cable/A", "cable/B", "cable/C"};

    CHECK(rtt(NetworkModel(two_neighbours(), two), Regime::kPublic, kLeft, kRight) ==
          Micros{117579});
    CHECK(rtt(NetworkModel(two_neighbours(), all), Regime::kPublic, kLeft, kRight) ==
          Micros{13754});
  }

  TEST_CASE("the hops name the gates and sum exactly to the entry of the matrix") {
    const NetworkModel model(two_neighbours());

    const Route route = model.route(Regime::kPublic, kRight, kFair);
    REQUIRE(route.hops.size() == 5);
    CHECK(route.hops[0].what == "B");
    CHECK(route.hops[1].what == "gate");
    CHECK(route.hops[1].from == "Market");
    CHECK(route.hops[2].what == "D");
    CHECK(route.hops[3].from == "Fair");
    Micros sum{0};
    for (const Hop& hop : route.hops) sum += hop.rtt;
    CHECK(sum == rtt(model, Regime::kPublic, kRight, kFair));
  }

  TEST_CASE("a country that is in no group goes directly") {
    NetworkTables tables = two_neighbours();
    tables.transit_groups[0].countries = {code("LL")};

    CHECK(rtt(NetworkModel(tables), Regime::kPublic, kLeft, kRight) == Micros{13754});
  }

  TEST_CASE("wrong groups are refused by name") {
    NetworkTables tables = two_neighbours();
    tables.transit_groups[0].local_gates = {"Bazaar"};
    CHECK_THROWS_WITH_AS(NetworkModel{tables}, "transit gate \"Bazaar\" is no hub",
                         std::invalid_argument);
    tables = two_neighbours();
    tables.transit_groups[1].countries = {code("MM"), code("LL")};
    CHECK_THROWS_WITH_AS(NetworkModel{tables}, "country LL is in two transit groups",
                         std::invalid_argument);
    tables = two_neighbours();
    tables.transit_groups[1].world_gates.clear();
    CHECK_THROWS_WITH_AS(NetworkModel{tables}, "transit group middle has no gates",
                         std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::geo
