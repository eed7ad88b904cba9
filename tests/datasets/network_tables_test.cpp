#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

const geo::NetworkTables& network() { return world().network; }

TEST_SUITE("datasets/network_tables") {
  TEST_CASE("links that are planned or retired carry nothing") {
    const auto has = [](const char* a, const char* b) {
      return std::ranges::any_of(network().links, [&](const geo::Link& link) {
        return (link.from == a && link.to == b) || (link.from == b && link.to == a);
      });
    };

    CHECK(has("Kharkiv", "Kyiv"));
    CHECK_FALSE(has("Kharkiv", "Moscow"));  // cut since 2022
    CHECK_FALSE(has("Aktau", "Sumgait"));   // planned
  }

  TEST_CASE("every link is at least as long as the great circle") {
    std::map<std::string, geo::Coordinates> at;
    for (const geo::Hub& hub : network().hubs) at[hub.name] = hub.at;

    CHECK(network().links.size() > 1200);
    for (const geo::Link& link : network().links) {
      CHECK(link.route_km >= geo::great_circle_km(at.at(link.from), at.at(link.to)));
      CHECK(link.policy_weight > 0);
    }
  }

  // Published tables of two providers: 2,350 and 342 directed pairs.
  TEST_CASE("measured round trips are kept per direction") {
    std::map<std::pair<std::string, std::string>, Micros> rtts;
    for (const geo::MeasuredRtt& pair : network().measured) {
      rtts[{pair.from.name, pair.to.name}] = pair.rtt;
    }
    int asymmetric = 0;
    for (const auto& [pair, rtt] : rtts) {
      const auto back = rtts.find({pair.second, pair.first});
      if (pair.first.starts_with("azure/") && pair.first < pair.second) {
        asymmetric += back != rtts.end() && back->second != rtt;
      }
    }

    CHECK(network().measured.size() == 2350 + 342);
    CHECK(asymmetric == 597);
  }

  TEST_CASE("what was measured is backbone, so user paths stay modelled") {
    CHECK(std::ranges::all_of(network().measured, [](const geo::MeasuredRtt& pair) {
      return pair.regime == geo::Regime::kBackbone;
    }));
  }

  TEST_CASE("no measurement beats light in fibre by more than city centres explain") {
    for (const geo::MeasuredRtt& pair : network().measured) {
      const double floor_ms =
          2 * geo::great_circle_km(pair.from.at, pair.to.at) / 204.190;
      CHECK(to_ms(pair.rtt) > floor_ms - 3);
    }
  }

  TEST_CASE("both regimes have coefficients, the public one the slower") {
    CHECK(network().backbone.stretch >= 1);
    CHECK(network().public_internet.stretch > network().backbone.stretch);
    CHECK(network().backbone.cap_factor > 1);
  }
}

}  // namespace
}  // namespace isochrone::datasets
