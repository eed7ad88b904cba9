#include "geo/corridors.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace isochrone::geo {
namespace {

using Names = std::vector<std::string>;

Link cable(const char* name, const char* from, const char* to, int capacity_class,
           std::vector<std::string> chokepoints) {
  Link link;
  link.name = name;
  link.from = from;
  link.to = to;
  link.route_km = 1000;
  link.submarine = true;
  link.chokepoints = std::move(chokepoints);
  link.capacity_class = capacity_class;
  return link;
}

/// A strait of three cables, of classes 4, 3 and 1: 150, 50 and 2.5 Tbit/s, 202.5 in
/// all. Green has two links in it.
NetworkTables strait() {
  const CountryCode land = *CountryCode::parse("AA");
  NetworkTables tables;
  tables.hubs = {
      {"West", land, {0, 0}}, {"Middle", land, {0, 5}}, {"East", land, {0, 9}}};
  tables.links = {cable("Blue", "West", "East", 4, {"strait"}),
                  cable("Green", "West", "Middle", 2, {"strait"}),
                  cable("Green", "Middle", "East", 3, {"strait"}),
                  cable("Grey", "West", "East", 1, {"strait"}),
                  cable("Far", "West", "East", 4, {})};
  return tables;
}

TEST_SUITE("geo/corridors") {
  TEST_CASE("a cable counts once in a strait, with its largest class there") {
    const auto losses = corridor_losses(strait(), Names{"cable/Green"});

    REQUIRE(losses.size() == 1);
    CHECK(losses[0].corridor == "chokepoint/strait");
    CHECK(losses[0].lost_share == doctest::Approx(50 / 202.5));
    CHECK(losses[0].left == 2);
  }

  TEST_CASE("a cable is lost with any of its links in the strait") {
    const auto losses = corridor_losses(strait(), Names{"link/Middle-West"});

    REQUIRE(losses.size() == 1);
    CHECK(losses[0].lost_share == doctest::Approx(50 / 202.5));
  }

  TEST_CASE("a strait that is cut whole or not at all has no share to tell") {
    CHECK(corridor_losses(strait(), Names{}).empty());
    CHECK(corridor_losses(strait(), Names{"cable/Far"}).empty());
    CHECK(corridor_losses(strait(), Names{"chokepoint/strait"}).empty());
    CHECK_THROWS_AS(corridor_losses(strait(), Names{"cable/Gren"}),
                    std::invalid_argument);
  }

  // Green and Grey are 52.5 of 202.5, or 26 %.
  TEST_CASE("a strait that loses more than its reserve counts as cut") {
    const Names cuts{"cable/Green", "cable/Grey"};

    CHECK(with_full_corridors(strait(), cuts, 27) == cuts);
    CHECK(with_full_corridors(strait(), cuts, 25) ==
          Names{"cable/Green", "cable/Grey", "chokepoint/strait"});
  }
}

}  // namespace
}  // namespace isochrone::geo
