#include "geo/place.h"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

namespace isochrone::geo {
namespace {

TEST_SUITE("geo/place") {
  TEST_CASE("a country code is two upper-case letters and nothing else") {
    CHECK(CountryCode::parse("NO")->text() == "NO");
    CHECK_FALSE(CountryCode::parse("no").has_value());
    CHECK_FALSE(CountryCode::parse("NOR").has_value());
    CHECK_FALSE(CountryCode::parse("N1").has_value());
    CHECK_FALSE(CountryCode::parse("").has_value());
  }

  // A quarter of a great circle is pi / 2 * 6371.0088 km = 10007.56 km; half of one,
  // between antipodes, twice that.
  TEST_CASE("a quarter and a half of the globe have the lengths of the circle") {
    const double quarter = std::numbers::pi / 2 * 6371.0088;

    CHECK(great_circle_km({0, 0}, {90, 0}) == doctest::Approx(quarter));
    CHECK(great_circle_km({0, -45}, {0, 45}) == doctest::Approx(quarter));
    CHECK(great_circle_km({0, 0}, {0, 180}) == doctest::Approx(2 * quarter));
  }

  TEST_CASE("the shorter way across the date line is taken") {
    CHECK(great_circle_km({0, 179}, {0, -179}) ==
          doctest::Approx(great_circle_km({0, -1}, {0, 1})));
  }

  TEST_CASE("a place is no distance from itself") {
    CHECK(great_circle_km({51.5, -0.1}, {51.5, -0.1}) == 0);
  }
}

}  // namespace
}  // namespace isochrone::geo
