#include <algorithm>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

/// Price of the next byte when `gb` have gone out this month.
double rate(const EgressPrice& price, double gb) {
  for (const EgressTier& tier : price.tiers) {
    if (gb >= tier.from_gb && (!tier.to_gb || gb < *tier.to_gb)) {
      return tier.usd_per_gb;
    }
  }
  return -1;
}

TEST_SUITE("datasets/egress") {
  // 20,000 GB out of us-east-1: 100 free, 10,140 at 0.09 and 9,760 at 0.085 make
  // 912.60 + 829.60 = 1,742.20 dollars.
  TEST_CASE("a published price list is read tier by tier") {
    const EgressPrice price = world().egress(site("aws/us-east-1"));
    double dollars = 0;
    for (const EgressTier& tier : price.tiers) {
      const double top = std::min(20000.0, tier.to_gb.value_or(20000));
      dollars += std::max(0.0, top - tier.from_gb) * tier.usd_per_gb;
    }

    CHECK(dollars == doctest::Approx(1742.20));
    CHECK(rate(price, 1e6) == doctest::Approx(0.05));
    CHECK_FALSE(price.assumed_dearest);
  }

  // The free 10 TB hold everywhere, the paid tiers by continent. Dubai lies in ASIA (50
  // countries, 0.025) and in MIDDLE_EAST (16 countries, 0.05).
  TEST_CASE("where two blocs hold a site, the one with fewer countries decides") {
    const EgressPrice frankfurt = world().egress(site("oci/eu-frankfurt-1"));
    const EgressPrice dubai = world().egress(site("oci/me-dubai-1"));

    CHECK(rate(frankfurt, 5000) == 0);
    CHECK(rate(frankfurt, 20000) == doctest::Approx(0.0085));
    CHECK(rate(dubai, 5000) == 0);
    CHECK(rate(dubai, 20000) == doctest::Approx(0.05));
  }

  TEST_CASE("above the last known tier its price goes on") {
    const EgressPrice tokyo = world().egress(site("aws/ap-northeast-1"));

    CHECK(rate(tokyo, 50) == 0);
    CHECK(rate(tokyo, 500) == doctest::Approx(0.114));
    CHECK(rate(tokyo, 1e6) == doctest::Approx(0.114));
  }

  // The dearest AWS tier to the Internet is Cape Town's 0.154.
  TEST_CASE("an unknown region pays its provider's dearest tier and is flagged") {
    const EgressPrice osaka = world().egress(site("aws/ap-northeast-3"));

    CHECK(osaka.assumed_dearest);
    CHECK(rate(osaka, 0) == doctest::Approx(0.154));
  }

  // Nothing is known of Nebius, and of OVH in Mumbai only that traffic elsewhere is
  // free. The dearest tier of anyone is Azure's 0.181 in South America.
  TEST_CASE("an unknown price is never zero") {
    const EgressPrice nebius = world().egress(site("nebius/eu-north1"));
    const EgressPrice mumbai = world().egress(site("ovh/bom"));

    CHECK(nebius.assumed_dearest);
    CHECK(rate(nebius, 0) == doctest::Approx(0.181));
    CHECK(mumbai.assumed_dearest);
    CHECK(rate(mumbai, 0) == doctest::Approx(0.181));
  }

  TEST_CASE("Google's traffic is priced by the tier that every region has") {
    const EgressPrice price = world().egress(site("gcp/australia-southeast1"));

    CHECK(rate(price, 0) == doctest::Approx(0.12));
    CHECK(rate(price, 2000) == doctest::Approx(0.11));
    CHECK(rate(price, 20000) == doctest::Approx(0.08));
  }

  TEST_CASE("the tiers of every site cover each volume once, without end") {
    for (const Site& at : world().sites) {
      const EgressPrice price = world().egress(at);
      REQUIRE_FALSE(price.tiers.empty());
      CHECK(price.tiers.front().from_gb == 0);
      CHECK_FALSE(price.tiers.back().to_gb.has_value());
      for (std::size_t i = 1; i < price.tiers.size(); ++i) {
        CHECK(price.tiers[i - 1].to_gb == price.tiers[i].from_gb);
      }
      if (price.assumed_dearest) CHECK(rate(price, 0) > 0);
    }
  }
}

}  // namespace
}  // namespace isochrone::datasets
