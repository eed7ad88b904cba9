// The laws of the network on the tables that the program ships.

#include <algorithm>
#include <initializer_list>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/parallel.h"
#include "datasets/catalog.h"
#include "geo/evaluation.h"
#include "geo/network.h"
#include "geo/regime_fit.h"

namespace isochrone::geo {
namespace {

const datasets::Catalog& catalog() {
  static const datasets::Catalog kCatalog =
      datasets::Catalog::load(std::string(ISOCHRONE_ROOT) + "/datasets");
  return kCatalog;
}

const NetworkTables& tables() { return catalog().network; }

NetworkTables without_measurements() {
  NetworkTables network = tables();
  network.measured.clear();
  return network;
}

Endpoint hub(const char* name) {
  const auto found = std::ranges::find(tables().hubs, name, &Hub::name);
  REQUIRE(found != tables().hubs.end());
  return {found->name, found->country, found->at};
}

std::vector<Endpoint> hubs(std::initializer_list<const char*> names) {
  std::vector<Endpoint> ends;
  for (const char* name : names) ends.push_back(hub(name));
  return ends;
}

std::vector<Endpoint> hubs_of(std::initializer_list<std::string> continents) {
  std::vector<Endpoint> ends;
  for (const Hub& h : tables().hubs) {
    if (std::ranges::count(continents, catalog().continent_of(h.country)) == 0)
      continue;
    ends.push_back({h.name, h.country, h.at});
  }
  return ends;
}

double rtt_ms(const NetworkModel& model, Regime regime, const char* from,
              const char* to) {
  const Endpoint a = hub(from);
  const Endpoint b = hub(to);
  return to_ms(model.rtts(regime, std::span(&a, 1), std::span(&b, 1)).at(0, 0).rtt);
}

std::vector<Endpoint> some_hubs(std::size_t step) {
  std::vector<Endpoint> ends;
  for (std::size_t i = 0; i < tables().hubs.size(); i += step) {
    ends.push_back(
        {tables().hubs[i].name, tables().hubs[i].country, tables().hubs[i].at});
  }
  return ends;
}

/// The places of all measurements, each once, by name.
struct MeasuredPlaces {
  std::vector<Endpoint> ends;

  MeasuredPlaces() {
    for (const MeasuredRtt& row : tables().measured) {
      ends.push_back(row.from);
      ends.push_back(row.to);
    }
    std::ranges::sort(ends, {}, &Endpoint::name);
    const auto [first, last] = std::ranges::unique(ends, {}, &Endpoint::name);
    ends.erase(first, last);
  }
  std::size_t index(const Endpoint& end) const {
    return static_cast<std::size_t>(
        std::ranges::lower_bound(ends, end.name, {}, &Endpoint::name) - ends.begin());
  }
};

TEST_SUITE("geo/real_tables") {
  // Published estimates of the way round by land or the Cape: +8 to +50 ms. Left out
  // are Riyadh (more: its ways to Europe lie in the Red Sea), Jeddah and Addis Ababa
  // (less).
  TEST_CASE("cutting the Red Sea slows Europe to India, the Gulf and East Africa") {
    const NetworkTables network = without_measurements();
    const std::vector<std::string> cuts{"chokepoint/red_sea"};
    const NetworkModel intact(network);
    const NetworkModel cut(network, cuts);
    const std::vector<Endpoint> europe =
        hubs({"London", "Frankfurt", "Paris", "Amsterdam", "Madrid", "Milan",
              "Marseille", "Stockholm", "Warsaw", "Athens"});
    const std::vector<Endpoint> beyond =
        hubs({"Mumbai",  "Chennai",       "Delhi",   "Bangalore", "Hyderabad",
              "Karachi", "Colombo",       "Dubai",   "Abu Dhabi", "Doha",
              "Manama",  "Kuwait City",   "Muscat",  "Dammam",    "Nairobi",
              "Mombasa", "Dar es Salaam", "Kampala", "Kigali",    "Mogadishu"});

    for (const Regime regime : {Regime::kBackbone, Regime::kPublic}) {
      const RttMatrix before = intact.rtts(regime, europe, beyond);
      const RttMatrix after = cut.rtts(regime, europe, beyond);
      for (std::size_t i = 0; i < europe.size(); ++i) {
        for (std::size_t j = 0; j < beyond.size(); ++j) {
          const double rise = to_ms(after.at(i, j).rtt - before.at(i, j).rtt);
          CAPTURE(europe[i].name);
          CAPTURE(beyond[j].name);
          CHECK(rise >= 8);
          CHECK(rise <= 50);
        }
      }
    }
  }

  TEST_CASE("cutting the Red Sea moves nothing between Europe and the Americas") {
    const std::vector<std::string> cuts{"chokepoint/red_sea"};
    const NetworkModel intact(tables());
    const NetworkModel cut(tables(), cuts);
    const std::vector<Endpoint> europe = hubs_of({"EUROPE"});
    const std::vector<Endpoint> america = hubs_of({"NORTH_AMERICA", "SOUTH_AMERICA"});

    for (const Regime regime : {Regime::kBackbone, Regime::kPublic}) {
      const RttMatrix before = intact.rtts(regime, europe, america);
      const RttMatrix after = cut.rtts(regime, europe, america);
      std::size_t different = 0;
      for (std::size_t i = 0; i < europe.size(); ++i) {
        for (std::size_t j = 0; j < america.size(); ++j) {
          different += before.at(i, j).rtt != after.at(i, j).rtt;
          different += before.at(i, j).basis != after.at(i, j).basis;
        }
      }
      CHECK(different == 0);
    }
  }

  // In January 2020 and March 2024 the canyons off the Congo and Abidjan broke what
  // crosses them; Lagos kept the cables that pass Abidjan far out.
  TEST_CASE("a canyon off West Africa slows those behind it and few others") {
    const NetworkModel intact(without_measurements());
    const auto rise = [&](const std::string& canyon, const char* from, const char* to) {
      const NetworkModel cut(without_measurements(), std::span(&canyon, 1));
      return rtt_ms(cut, Regime::kPublic, from, to) -
             rtt_ms(intact, Regime::kPublic, from, to);
    };

    CHECK(rise("chokepoint/abidjan_canyon", "Abidjan", "London") > 1);
    CHECK(rise("chokepoint/abidjan_canyon", "Lagos", "London") < 5);
    CHECK(rise("chokepoint/abidjan_canyon", "Nairobi", "London") == 0);
    CHECK(rise("chokepoint/congo_canyon", "Luanda", "London") > 8);
    CHECK(rise("chokepoint/congo_canyon", "Lagos", "London") == 0);
    CHECK(rise("chokepoint/north_atlantic", "New York", "London") > 50);
    CHECK(rise("chokepoint/north_atlantic", "Frankfurt", "Mumbai") == 0);
  }

  TEST_CASE(
      "the Egyptian land bridge and the Florida Strait cannot be cut for nothing") {
    const NetworkTables network = without_measurements();
    const std::vector<std::string> egypt{"chokepoint/egypt_land_bridge"};
    const std::vector<std::string> florida{"chokepoint/florida_strait"};
    const NetworkModel intact(network);

    CHECK(rtt_ms(NetworkModel(network, egypt), Regime::kPublic, "London", "Mumbai") >
          8 + rtt_ms(intact, Regime::kPublic, "London", "Mumbai"));
    CHECK(rtt_ms(NetworkModel(network, florida), Regime::kPublic, "Miami", "Bogota") >
          rtt_ms(intact, Regime::kPublic, "Miami", "Bogota"));
  }

  TEST_CASE("cutting one of many parallel cables changes nothing") {
    const NetworkTables network = without_measurements();
    const std::vector<std::string> cuts{"cable/SEA-ME-WE 4"};

    CHECK(rtt_ms(NetworkModel(network, cuts), Regime::kPublic, "London", "Mumbai") ==
          rtt_ms(NetworkModel(network), Regime::kPublic, "London", "Mumbai"));
  }

  TEST_CASE("a Red Sea cut reaches measured pairs too") {
    const std::vector<std::string> cuts{"chokepoint/red_sea"};
    const NetworkModel intact(tables());
    const NetworkModel cut(tables(), cuts);

    CHECK(rtt_ms(cut, Regime::kBackbone, "London", "Mumbai") >=
          8 + rtt_ms(intact, Regime::kBackbone, "London", "Mumbai"));
  }

  TEST_CASE("what no cut touches is taken from the matrix before it, exactly") {
    const NetworkModel intact(tables());
    const std::vector<Endpoint> ends = some_hubs(7);

    for (const Regime regime : {Regime::kBackbone, Regime::kPublic}) {
      const RttMatrix before = intact.rtts(regime, ends, ends);
      for (const char* name : {"chokepoint/red_sea", "cable/MAREA", "country/EG"}) {
        const std::string cut_name = name;
        const NetworkModel cut(tables(), std::span(&cut_name, 1));
        const RttMatrix all = cut.rtts(regime, ends, ends);
        const RttMatrix rest = cut.rtts_from_intact(regime, ends, ends, before);
        std::size_t different = 0;
        for (std::size_t i = 0; i < ends.size(); ++i) {
          for (std::size_t j = 0; j < ends.size(); ++j) {
            different += all.at(i, j).rtt != rest.at(i, j).rtt ||
                         all.at(i, j).basis != rest.at(i, j).basis;
          }
        }
        CAPTURE(name);
        CHECK(different == 0);
      }
      CHECK_THROWS_AS(intact.rtts_from_intact(regime, ends, {}, before),
                      std::invalid_argument);
    }
  }

  // Links that lack and coordinates that are wrong show here first. The longest detour
  // that is true is that of the landing stations of Bangladesh, 197 km apart, whose
  // cables meet in Dhaka after 692 km.
  TEST_CASE("neighbours of one country are joined without a long detour") {
    NetworkTables network = without_measurements();
    for (Link& link : network.links) link.policy_weight = 1;
    network.backbone.stretch = 1;
    network.backbone.constant_ms = network.backbone.near_ms = 0;
    network.backbone.domestic_ms.reset();
    network.backbone.cap_until_km = 0;
    network.neighbours.clear();
    const NetworkModel model(network);
    const std::vector<Endpoint> ends = some_hubs(1);
    const RttMatrix light = model.rtts(Regime::kBackbone, ends, ends);

    for (std::size_t i = 0; i < ends.size(); ++i) {
      double nearest_km = 200;
      double path_km = 0;
      for (std::size_t j = 0; j < ends.size(); ++j) {
        const double km = great_circle_km(ends[i].at, ends[j].at);
        if (i == j || km >= nearest_km || ends[i].country != ends[j].country) continue;
        nearest_km = km;
        path_km = to_ms(light.at(i, j).rtt) * 204.19 / 2;
      }
      CAPTURE(ends[i].name);
      CHECK(path_km <= 3 * nearest_km + 110);
    }
  }

  TEST_CASE("modelled rtts are symmetric and never beat light in fibre") {
    const NetworkModel model(without_measurements());
    const std::vector<Endpoint> ends = some_hubs(5);

    for (const Regime regime : {Regime::kBackbone, Regime::kPublic}) {
      const RttMatrix rtts = model.rtts(regime, ends, ends);
      std::size_t asymmetric = 0;
      std::size_t faster = 0;
      for (std::size_t i = 0; i < ends.size(); ++i) {
        for (std::size_t j = 0; j < ends.size(); ++j) {
          const double light_ms =
              2e3 * great_circle_km(ends[i].at, ends[j].at) / 204190;
          asymmetric += rtts.at(i, j).rtt != rtts.at(j, i).rtt;
          faster += to_ms(rtts.at(i, j).rtt) < light_ms - 0.001;
        }
      }
      CHECK(asymmetric == 0);
      CHECK(faster == 0);
    }
  }

  TEST_CASE("every country reaches every other without a satellite, both ways") {
    const NetworkModel model(without_measurements());
    std::map<std::string, Endpoint> one_per_country;
    for (const Hub& h : tables().hubs) {
      one_per_country.emplace(h.country.text(), Endpoint{h.name, h.country, h.at});
    }
    std::vector<Endpoint> ends;
    for (const auto& [country, end] : one_per_country) ends.push_back(end);

    const RttMatrix rtts = model.rtts(Regime::kPublic, ends, ends);
    std::size_t by_satellite = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      for (std::size_t j = 0; j < ends.size(); ++j) {
        by_satellite += rtts.at(i, j).basis == RttBasis::kSatellite;
      }
    }
    CHECK(by_satellite == 0);
  }

  TEST_CASE("every measurement that ships is reproduced in its own direction") {
    const NetworkModel model(tables());
    const MeasuredPlaces places;

    const RttMatrix rtts = model.rtts(Regime::kBackbone, places.ends, places.ends);
    REQUIRE(tables().measured.size() > 2000);
    for (const MeasuredRtt& row : tables().measured) {
      const RttEntry& entry = rtts.at(places.index(row.from), places.index(row.to));
      CHECK(entry.basis == RttBasis::kMeasured);
      CHECK(entry.rtt == row.rtt);
    }
  }

  TEST_CASE("the number of threads changes no entry") {
    const NetworkModel model(tables());
    const std::vector<Endpoint> ends = some_hubs(9);

    set_thread_count(1);
    const RttMatrix alone = model.rtts(Regime::kBackbone, ends, ends);
    set_thread_count(2);
    const RttMatrix together = model.rtts(Regime::kBackbone, ends, ends);
    set_thread_count(0);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      for (std::size_t j = 0; j < ends.size(); ++j) {
        CHECK(alone.at(i, j).rtt == together.at(i, j).rtt);
        CHECK(alone.at(i, j).basis == together.at(i, j).basis);
      }
    }
  }

  TEST_CASE("the hops of real routes sum exactly to their totals") {
    const NetworkModel model(tables());
    const std::vector<Endpoint> ends = some_hubs(60);

    for (const Endpoint& a : ends) {
      for (const Endpoint& b : ends) {
        const Route route = model.route(Regime::kPublic, a, b);
        Micros sum{0};
        for (const Hop& hop : route.hops) sum += hop.rtt;
        CHECK(sum == route.total.rtt);
      }
    }
  }

  // What the committed coefficients claim, recomputed from the committed measurements:
  // the model alone, pairs of 100 km and more.
  TEST_CASE("the backbone coefficients are those of the measurements that ship") {
    NetworkTables network = without_measurements();
    const RegimeCoefficients committed = network.backbone;
    network.backbone.stretch = 1;
    network.backbone.constant_ms = network.backbone.near_ms = 0;
    network.backbone.domestic_ms.reset();
    network.neighbours.clear();
    const NetworkModel paths(network);

    const MeasuredPlaces places;
    const RttMatrix light = paths.rtts(Regime::kBackbone, places.ends, places.ends);
    std::vector<PathObservation> pairs;
    for (const MeasuredRtt& row : tables().measured) {
      if (great_circle_km(row.from.at, row.to.at) < 100) continue;
      const Micros rtt = light.at(places.index(row.from), places.index(row.to)).rtt;
      pairs.push_back({to_ms(rtt) * 204.19 / 2, to_ms(row.rtt), 0, 0,
                       row.from.country == row.to.country});
    }
    const RegimeCoefficients fitted = fit_regime(pairs, committed);

    CHECK(fitted.stretch == doctest::Approx(committed.stretch).epsilon(0.01));
    CHECK(fitted.constant_ms == doctest::Approx(committed.constant_ms).epsilon(0.1));
    CHECK(*fitted.domestic_ms == doctest::Approx(*committed.domestic_ms).epsilon(0.1));
    std::vector<JudgedPair> judged;
    for (const PathObservation& pair : pairs) {
      judged.push_back(
          {pair.rtt_ms, predicted_ms(committed, pair.path_km, pair.domestic), ""});
    }
    CHECK(summarise_errors(judged).median <= 0.065);
  }
}

}  // namespace
}  // namespace isochrone::geo
