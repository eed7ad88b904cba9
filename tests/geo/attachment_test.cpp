// Where the places of the catalog reach the network.

#include "geo/attachment.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "datasets/catalog.h"

namespace isochrone::geo {
namespace {

const datasets::Catalog& catalog() {
  static const datasets::Catalog kCatalog =
      datasets::Catalog::load(std::string(ISOCHRONE_ROOT) + "/datasets");
  return kCatalog;
}

const std::vector<Hub>& hubs() { return catalog().network.hubs; }
const Hub& hub_of(const Tail& tail) { return hubs()[tail.hub.index()]; }

std::vector<Endpoint> sites() {
  std::vector<Endpoint> ends;
  for (const datasets::Site& site : catalog().sites) {
    ends.push_back({site.id, site.country, site.at});
  }
  return ends;
}

std::vector<Endpoint> sites_and_metros() {
  std::vector<Endpoint> ends = sites();
  for (const datasets::Metro& metro : catalog().metros) {
    ends.push_back({metro.name, metro.country, metro.at});
  }
  return ends;
}

double nearest_km(const Endpoint& end, bool at_home) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Hub& hub : hubs()) {
    if ((hub.country == end.country) != at_home) continue;
    nearest = std::min(nearest, great_circle_km(hub.at, end.at));
  }
  return nearest;
}

Hub hub(const char* name, const char* country, double lon) {
  return {name, *CountryCode::parse(country), {0, lon}};
}

TEST_SUITE("geo/attachment") {
  // Islands that no cable of the tables reaches.
  TEST_CASE("every site and metro reaches a hub by land or sea but fourteen islands") {
    std::set<std::string> by_satellite;
    for (const Endpoint& end : sites_and_metros()) {
      if (attach(end, hubs()).satellite) by_satellite.insert(end.country.text());
    }

    CHECK(by_satellite == std::set<std::string>{"CC", "CX", "FK", "FM", "KI", "NF",
                                                "NR", "PN", "SH", "SJ", "TK", "TL",
                                                "TV", "WF"});
  }

  TEST_CASE("no site is farther from its hub than 400 km") {
    for (const Endpoint& end : sites()) {
      const Attachment near = attach(end, hubs());
      CAPTURE(end.name);
      CHECK_FALSE(near.satellite);
      CHECK(near.tails.front().metres <= 500'000);  // 1.25 times 400 km
    }
  }

  TEST_CASE("who has a hub at home within 1,000 km hangs on no foreign one") {
    for (const Endpoint& end : sites_and_metros()) {
      if (nearest_km(end, true) > 1000) continue;
      if (nearest_km(end, true) > 400 && nearest_km(end, false) <= 25) continue;
      for (const Tail& tail : attach(end, hubs()).tails) {
        CAPTURE(end.name);
        CHECK(hub_of(tail).country == end.country);
      }
    }
  }

  // India and Pakistan, Cuba and the United States, the two Koreas, Armenia and
  // Azerbaijan, Israel and its neighbours exchange no traffic at the border.
  TEST_CASE("nobody hangs on a hub across a closed border") {
    const std::set<std::string> closed{"INPK", "PKIN", "CUUS", "KPKR", "AMAZ", "AZAM",
                                       "LBIL", "SYIL", "ILLB", "DZMA", "IRIQ", "SAYE"};
    for (const Endpoint& end : sites_and_metros()) {
      for (const Tail& tail : attach(end, hubs()).tails) {
        CAPTURE(end.name);
        CHECK_FALSE(closed.contains(end.country.text() + hub_of(tail).country.text()));
      }
    }
  }

  // On the equator a degree is 111.195 km.
  TEST_CASE("home comes first within 1,000 km, but for a metro across the border") {
    const Endpoint town{"Town", *CountryCode::parse("AA"), {0, 0}};
    const Hub home_near = hub("Near", "AA", 3.5);   // 389 km
    const Hub home_far = hub("Far", "AA", 8.9);     // 990 km
    const Hub home_gone = hub("Gone", "AA", 9.1);   // 1012 km
    const Hub abroad = hub("Abroad", "BB", 1);      // 111 km
    const Hub beside = hub("Beside", "BB", 0.2);    // 22 km
    const Hub too_far = hub("Too far", "BB", 3.7);  // 411 km
    const auto first = [&](const std::vector<Hub>& some) {
      const Attachment near = attach(town, some);
      return near.satellite ? "satellite" : some[near.tails.front().hub.index()].name;
    };

    CHECK(first({home_near, abroad}) == "Near");
    CHECK(first({home_near, beside}) == "Near");
    CHECK(first({home_far, abroad}) == "Far");
    CHECK(first({home_far, beside}) == "Beside");
    CHECK(first({home_gone, abroad}) == "Abroad");
    CHECK(first({home_gone, too_far}) == "satellite");
    CHECK(first({home_far, too_far}) == "satellite");
    CHECK(attach(town, {home_near, home_far}).tails.size() == 1);
  }
}

}  // namespace
}  // namespace isochrone::geo
