#include "geo/network.h"

#include <cmath>
#include <stdexcept>

#include <doctest/doctest.h>

#include "geo/cuts.h"

namespace isochrone::geo {
namespace {

CountryCode code(const char* text) { return *CountryCode::parse(text); }

// Drawn on the equator, where one degree is 6371.0088 * pi / 180 = 111.195 km:
//
//   West(0)  --land 1500-->  Middle(10)  --cable Blue 1600 [strait]-->  East(20)
//   West     --cable Red 4000-->  East
//
// East-Far: Far(40) hangs on East by cable Green 3000. Weight of West-Middle is 1.
NetworkTables line_world() {
  NetworkTables tables;
  tables.hubs = {{"West", code("WW"), {0, 0}},
                 {"Middle", code("MM"), {0, 10}},
                 {"East", code("EE"), {0, 20}},
                 {"Far", code("FF"), {0, 40}}};
  tables.links = {{"land", "West", "Middle", 1500, false, {}, 1},
                  {"Blue", "Middle", "East", 1600, true, {"strait"}, 1},
                  {"Red", "West", "East", 4000, true, {}, 1},
                  {"Green", "East", "Far", 3000, true, {}, 1}};
  tables.backbone = {.stretch = 1, .constant_ms = 2};
  tables.public_internet = {.stretch = 1.1, .constant_ms = 5};
  return tables;
}

Endpoint at(const char* name, const char* country, double lon) {
  return {name, code(country), {0, lon}};
}

const Endpoint kWest = at("West", "WW", 0);
const Endpoint kMiddle = at("Middle", "MM", 10);
const Endpoint kEast = at("East", "EE", 20);
const Endpoint kFar = at("Far", "FF", 40);

RttEntry rtt(const NetworkModel& model, Regime regime, const Endpoint& a,
             const Endpoint& b) {
  return model.rtts(regime, std::span(&a, 1), std::span(&b, 1)).at(0, 0);
}

NetworkModel cut_world(std::vector<std::string> cuts) {
  return NetworkModel(line_world(), cuts);
}

TEST_SUITE("geo/network") {
  // West-Middle-East: 3100 km. 2 * 3100 / 204190 s = 30.3639 ms, + 2 ms on the
  // backbone;
  // * 1.1 + 5 ms on the public Internet.
  TEST_CASE("an rtt is twice the path at the speed of light in fibre, then fitted") {
    const NetworkModel model(line_world());

    CHECK(rtt(model, Regime::kBackbone, kWest, kEast).rtt == Micros{32364});
    CHECK(rtt(model, Regime::kPublic, kWest, kEast).rtt == Micros{38400});
    CHECK(rtt(model, Regime::kPublic, kWest, kEast).basis == RttBasis::kModelled);
  }

  // Weight 2 on the land link makes 2 * 1500 + 1600 = 4600 > 4000: traffic takes Red,
  // 2 * 4000 / 204190 s = 39.1792 ms + 2.
  TEST_CASE("a policy weight moves the path but not the time of a kilometre") {
    NetworkTables tables = line_world();
    tables.links[0].policy_weight = 2;
    const NetworkModel model(tables);

    CHECK(rtt(model, Regime::kBackbone, kWest, kEast).rtt == Micros{41179});
    // 1500 km remain 1500 km: 14.6922 ms + 2.
    CHECK(rtt(model, Regime::kBackbone, kWest, kMiddle).rtt == Micros{16692});
  }

  // 1 degree east of West, beyond its metro: tail 111.195 * 1.25 = 138.994 km, path
  // 138.994 + 1500 = 1638.994 km, 16.0536 ms + 2. Great circle to Middle is 1000.8 km:
  // no cap.
  TEST_CASE("an endpoint away from its hub pays 1.25 times the great circle") {
    const NetworkModel model(line_world());
    const Endpoint village = at("village", "WW", 1);

    CHECK(rtt(model, Regime::kBackbone, village, kMiddle).rtt == Micros{18054});
  }

  // 2 degrees apart, on either side of West: two tails of 138.994 km make 277.988 km;
  // the cap is 1.35 * 222.390 + 60 = 360.2 km and does not bind. Both 3 degrees out on
  // the same side and 0.1 degree (11.1195 km) apart, tails of 416.98 and 430.88 km, but
  // the cap is 1.35 * 11.1195 + 60 = 75.011 km: 0.7347 ms + 2.
  TEST_CASE("a short pair's path is capped by its great circle") {
    const NetworkModel model(line_world());

    CHECK(rtt(model, Regime::kBackbone, at("a", "WW", -1), at("b", "WW", 1)).rtt ==
          Micros{4723});
    CHECK(rtt(model, Regime::kBackbone, at("a", "WW", 3), at("b", "WW", 3.1)).rtt ==
          Micros{2735});
  }

  // Neighbours 556 km apart whose only way is 900 + 1700 = 2600 km long: over three
  // times the cap of 810.6 km, so all of it is believed. 2 * 2600 / 204190 s = 25.4665
  // ms, + 2.
  TEST_CASE("a long way round a closed border is not capped") {
    NetworkTables tables = line_world();
    tables.hubs.push_back({"Shut", code("SS"), {0, 5}});
    tables.hubs.push_back({"Away", code("AA"), {30, 0}});
    tables.links.push_back({"One", "West", "Away", 900, true, {}, 1});
    tables.links.push_back({"Two", "Away", "Shut", 1700, true, {}, 1});
    const NetworkModel model(tables);

    CHECK(rtt(model, Regime::kBackbone, kWest, at("Shut", "SS", 5)).rtt ==
          Micros{27466});
  }

  // Constant 8 ms from 1000 km on, 1 ms at 0 km. West-Middle, 1500 km: 14.6922 + 8. In
  // West's metro, 0.1 degree (11.1195 km) from the hub: tail 13.899 km, 0.1361 ms,
  // + 1 + 7 * .013899 = 1.0973.
  TEST_CASE("the constant grows with the path up to the length of the ramp") {
    NetworkTables tables = line_world();
    tables.backbone = {.stretch = 1, .constant_ms = 8, .near_ms = 1, .ramp_km = 1000};
    const NetworkModel model(tables);

    CHECK(rtt(model, Regime::kBackbone, kWest, kMiddle).rtt == Micros{22692});
    CHECK(rtt(model, Regime::kBackbone, kWest, at("near", "WW", 0.1)).rtt ==
          Micros{1233});
  }

  TEST_CASE("modelled rtts are symmetric and never beat light in fibre") {
    const NetworkModel model(line_world());
    const std::vector<Endpoint> ends{
        kWest, kMiddle, kEast, kFar, at("x", "WW", 1.7), at("y", "EE", 18.3)};

    const RttMatrix rtts = model.rtts(Regime::kPublic, ends, ends);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      for (std::size_t j = 0; j < ends.size(); ++j) {
        CHECK(rtts.at(i, j).rtt == rtts.at(j, i).rtt);
        CHECK(to_ms(rtts.at(i, j).rtt) >=
              2e3 * great_circle_km(ends[i].at, ends[j].at) / 204190);
      }
    }
  }

  TEST_CASE("the hops of a route sum exactly to the entry of the matrix") {
    NetworkTables tables = line_world();
    tables.public_internet = {.stretch = 1.2345, .constant_ms = 3.3333};
    tables.measured = {{kWest, kFar, Regime::kPublic, Micros{70001}}};
    const NetworkModel model(tables);
    const std::vector<Endpoint> ends{kWest,
                                     kFar,
                                     at("x", "WW", 1.7),
                                     at("y", "EE", 18.3),
                                     at("z", "EE", 18.4),
                                     at("sea", "FF", 60)};

    for (const Endpoint& a : ends) {
      for (const Endpoint& b : ends) {
        const Route route = model.route(Regime::kPublic, a, b);
        Micros sum{0};
        for (const Hop& hop : route.hops) sum += hop.rtt;
        CHECK(sum == route.total.rtt);
        CHECK(route.total.rtt == rtt(model, Regime::kPublic, a, b).rtt);
      }
    }
  }

  TEST_CASE("a route names its tails, its links in order and its constant") {
    const Route route = NetworkModel(line_world())
                            .route(Regime::kBackbone, at("village", "WW", 1), kEast);

    REQUIRE(route.hops.size() == 4);
    CHECK(route.hops[0].what == "tail");
    CHECK(route.hops[1].what == "land");
    CHECK(route.hops[1].from == "West");
    CHECK(route.hops[2].what == "Blue");
    CHECK(route.hops[2].to == "East");
    CHECK(route.hops[3].rtt == Micros{2000});
    CHECK(to_text(route).find("Middle - East") != std::string::npos);
  }

  TEST_CASE("a measurement is reproduced in its own direction only") {
    NetworkTables tables = line_world();
    tables.measured = {{kWest, kEast, Regime::kBackbone, Micros{35001}},
                       {kEast, kWest, Regime::kBackbone, Micros{36002}},
                       {kWest, kFar, Regime::kBackbone, Micros{70003}}};
    const NetworkModel model(tables);

    CHECK(rtt(model, Regime::kBackbone, kWest, kEast).rtt == Micros{35001});
    CHECK(rtt(model, Regime::kBackbone, kEast, kWest).rtt == Micros{36002});
    CHECK(rtt(model, Regime::kBackbone, kWest, kFar).basis == RttBasis::kMeasured);
    CHECK(rtt(model, Regime::kBackbone, kFar, kWest).basis == RttBasis::kModelled);
  }

  TEST_CASE("a measurement never leaks into the other regime") {
    NetworkTables tables = line_world();
    tables.measured = {{kWest, kEast, Regime::kBackbone, Micros{35001}}};
    const NetworkModel model(tables);

    CHECK(rtt(model, Regime::kPublic, kWest, kEast).rtt == Micros{38400});
    CHECK(rtt(model, Regime::kPublic, kWest, kEast).basis == RttBasis::kModelled);
  }

  // 0.3 degrees are 33 km, 0.4 degrees 44 km.
  TEST_CASE("a measurement stands for endpoints within 40 km of its places") {
    NetworkTables tables = line_world();
    tables.measured = {{kWest, kEast, Regime::kBackbone, Micros{35001}}};
    const NetworkModel model(tables);

    CHECK(rtt(model, Regime::kBackbone, at("a", "WW", 0.3), kEast).rtt ==
          Micros{35001});
    CHECK(rtt(model, Regime::kBackbone, at("b", "WW", 0.4), kEast).basis ==
          RttBasis::kModelled);
  }

  // 8 degrees east of Far are 890 km: satellite to Far, 600 ms, then Far-East 3000 km,
  // 29.3844 ms, + 2.
  TEST_CASE("an endpoint far from any hub goes by satellite") {
    const NetworkModel model(line_world());
    const Endpoint island = at("island", "FF", 48);

    CHECK_FALSE(model.reaches_hub(island));
    CHECK(model.reaches_hub(kFar));
    CHECK(rtt(model, Regime::kBackbone, island, kEast).rtt == Micros{631384});
    CHECK(rtt(model, Regime::kBackbone, island, kEast).basis == RttBasis::kSatellite);
  }

  TEST_CASE("cutting a chokepoint, a cable or a link sends traffic the other way") {
    const std::vector<std::string> cuts{"chokepoint/strait", "cable/Blue",
                                        "link/Middle-East", "link/East-Middle",
                                        "country/MM"};

    for (const std::string& cut : cuts) {
      CHECK(rtt(cut_world({cut}), Regime::kBackbone, kWest, kEast).rtt ==
            Micros{41179});
    }
  }

  TEST_CASE("a pair that a cut parts goes by satellite") {
    const NetworkModel model = cut_world({"cable/Green"});

    CHECK(rtt(model, Regime::kBackbone, kWest, kFar).rtt == Micros{602000});
    CHECK(rtt(model, Regime::kBackbone, kWest, kFar).basis == RttBasis::kSatellite);
    CHECK(rtt(model, Regime::kBackbone, kWest, kEast).rtt == Micros{32364});
  }

  // Strait cut: West-East grows by 2 * (4000 - 3100) / 204190 s = 8.8153 ms.
  TEST_CASE("a cut adds its modelled change to a measurement, and unmarks it") {
    NetworkTables tables = line_world();
    tables.measured = {{kWest, kEast, Regime::kBackbone, Micros{35000}},
                       {kWest, kMiddle, Regime::kBackbone, Micros{18000}}};
    const std::vector<std::string> cuts{"chokepoint/strait"};
    const NetworkModel model(tables, cuts);

    const RttEntry changed = rtt(model, Regime::kBackbone, kWest, kEast);
    CHECK(changed.basis == RttBasis::kModelled);
    CHECK(std::abs(changed.rtt.count() - 43815) <= 1);
    CHECK(rtt(model, Regime::kBackbone, kWest, kMiddle).basis == RttBasis::kMeasured);
  }

  // Near(5) is 556 km from West: cap 1.35 * 555.975 + 60 = 810.567 km binds on its 900
  // km link. With that link cut the path is 2000 km longer, and so is the capped one:
  // 2810.567 km, 27.5289 ms, + 2.
  TEST_CASE("a cut is felt through the cap of a short pair") {
    NetworkTables tables = line_world();
    tables.hubs.push_back({"Near", code("NN"), {0, 5}});
    tables.links.push_back({"Short", "West", "Near", 900, true, {}, 1});
    tables.links.push_back({"Long", "West", "Near", 2900, true, {}, 1});
    const Endpoint near = at("Near", "NN", 5);
    const std::vector<std::string> cuts{"cable/Short"};

    CHECK(rtt(NetworkModel(tables), Regime::kBackbone, kWest, near).rtt ==
          Micros{9939});
    CHECK(rtt(NetworkModel(tables, cuts), Regime::kBackbone, kWest, near).rtt ==
          Micros{29529});
  }

  TEST_CASE("unknown cuts are named, with the nearest known ones") {
    CHECK_THROWS_WITH_AS(
        cut_world({"chokepoint/strai", "cable/Bleu"}),
        "unknown cut \"cable/Bleu\"; did you mean \"cable/Blue\"?\n"
        "unknown cut \"chokepoint/strai\"; did you mean \"chokepoint/strait\"?",
        std::invalid_argument);
  }

  TEST_CASE("a cut is guessed from its bare name, another case or the other order") {
    const NetworkTables tables = line_world();

    CHECK(cut_hint(tables, "strait") == "did you mean \"chokepoint/strait\"?");
    CHECK(cut_hint(tables, "BLUE") == "did you mean \"cable/Blue\"?");
    CHECK(cut_hint(tables, "Chokepoint / Strait") ==
          "did you mean \"chokepoint/strait\"?");
    CHECK(cut_hint(tables, "blu") == "did you mean \"cable/Blue\"?");
    CHECK(cut_hint(tables, "nothing like it") == "");
  }

  TEST_CASE("every cut that is listed can be made") {
    const std::vector<std::string> names = NetworkModel(line_world()).cut_names();

    CHECK(names.size() == 12);  // 3 cables, 1 chokepoint, 4 countries, 4 links
    CHECK_NOTHROW(cut_world(names));
  }

  TEST_CASE("a table that is not whole is refused by name") {
    NetworkTables lost = line_world();
    lost.links[0].to = "Midle";
    NetworkTables lonely = line_world();
    lonely.hubs.push_back({"Rock", code("RR"), {5, 5}});
    NetworkTables twice = line_world();
    twice.hubs.push_back(twice.hubs[0]);
    NetworkTables backwards = line_world();
    backwards.links[1].route_km = -1;
    NetworkTables faster = line_world();
    faster.backbone.stretch = 0.9;

    CHECK_THROWS_WITH_AS(
        NetworkModel{lost},
        "link land West-Midle: unknown hub \"Midle\"; did you mean \"Middle\"?",
        std::invalid_argument);
    CHECK_THROWS_WITH_AS(NetworkModel{lonely}, "hub \"Rock\" has no link",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(NetworkModel{twice}, "hub \"West\" appears twice",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(
        NetworkModel{backwards},
        "link Blue Middle-East: length and policy weight must be positive",
        std::invalid_argument);
    CHECK_THROWS_WITH_AS(NetworkModel{faster},
                         "backbone coefficients let an RTT beat light in fibre",
                         std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::geo
