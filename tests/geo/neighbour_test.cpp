#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "geo/neighbour_field.h"
#include "geo/neighbour_fit.h"

namespace isochrone::geo {
namespace {

CountryCode code(const char* text) { return *CountryCode::parse(text); }

// East and West lie 5003.78 km apart on the equator (45 degrees).
const std::vector<Hub> kHubs{{"West", code("WW"), {0, 0}},
                             {"East", code("EE"), {0, 45}}};

TEST_SUITE("geo/neighbours") {
  // One observation far from every other: covariance v (1 + exp(-2 d / reach)) with v =
  // 0.03, d = 5003.78 and reach 1000 km is 0.0300014; noise (0.1 + 0.3
  // exp(-5000/1500))^2 = 0.0122550. A log ratio of 0.2 shrinks to 0.2 * 0.0300014 /
  // 0.0422564 = 0.141997.
  TEST_CASE("one measured pair is believed by its signal to noise") {
    const std::vector<NeighbourObservation> one{{kHubs[0].at, kHubs[1].at, 0.2, 5000}};

    const auto weights = fit_neighbours(one, 1000);
    CHECK(neighbour_log_ratio(one, weights, 1000, kHubs[0].at, kHubs[1].at) ==
          doctest::Approx(0.141997).epsilon(1e-4));
    CHECK(neighbour_log_ratio(one, weights, 1000, kHubs[1].at, kHubs[0].at) ==
          doctest::Approx(0.141997).epsilon(1e-4));
  }

  // Weight 0.1 at West-East, asked 1000 km (8.99322 degrees) off at either end: kernel
  // exp(-1) exp(-1), and exp(-(4003.78 + 6003.78) / 1000) the other way round: nothing.
  TEST_CASE("the field falls with the distance of both ends and is symmetric") {
    const std::vector<NeighbourWeight> weights{{"East", "West", 0.1}};
    const NeighbourField field(weights, kHubs, 1000);
    const auto a = field.view({0, 8.99322});
    const auto b = field.view({8.99322, 45});

    CHECK(NeighbourField::correction(a, b) ==
          doctest::Approx(0.1 * std::exp(-2)).epsilon(1e-3));
    CHECK(NeighbourField::correction(a, b) == NeighbourField::correction(b, a));
  }

  TEST_CASE("no correction leaves its limit") {
    const std::vector<NeighbourWeight> weights{{"East", "West", 9}};
    const NeighbourField field(weights, kHubs, 1000);

    CHECK(
        NeighbourField::correction(field.view(kHubs[0].at), field.view(kHubs[1].at)) ==
        NeighbourField::kLargest);
  }
}

}  // namespace
}  // namespace isochrone::geo
