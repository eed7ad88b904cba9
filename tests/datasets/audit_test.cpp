#include "datasets/audit.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

const CountryOutlines& outlines() {
  static const CountryOutlines kOutlines = CountryOutlines::load(kFolder);
  return kOutlines;
}

/// All breaches, one after the other.
std::vector<std::string> breaches(const Catalog& catalog) {
  std::vector<std::string> all;
  for (const AuditedPromise& one : audit(catalog, outlines())) {
    all.insert(all.end(), one.breaches.begin(), one.breaches.end());
  }
  return all;
}

/// The only breach after `spoil` has spoilt a copy of the tables.
template <class F>
std::string breach_after(F spoil) {
  Catalog spoilt = world();
  spoil(spoilt);
  const std::vector<std::string> all = breaches(spoilt);
  CAPTURE(all);
  CHECK(all.size() == 1);
  return all.empty() ? "" : all.front();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Metro& metro(Catalog& catalog, const char* id) {
  return catalog.metros[*catalog.metro(id)];
}

TEST_SUITE("datasets/audit") {
  TEST_CASE("the tables keep every promise, and each was tried on something") {
    const std::vector<AuditedPromise> promises = audit(world(), outlines());

    CHECK(promises.size() == 8);
    for (const AuditedPromise& one : promises) {
      CAPTURE(one.promise);
      CHECK(one.looked_at > 0);
      CHECK(one.breaches == std::vector<std::string>{});
    }
  }

  TEST_CASE("at least sixty cities are known by their zone") {
    const auto promises = audit(world(), outlines());
    const auto zones = std::ranges::find_if(
        promises, [](const auto& one) { return has(one.promise, "time zone"); });

    REQUIRE(zones != promises.end());
    CHECK(zones->looked_at >= 60);
  }

  // Strasbourg's cathedral stands 3 km from the Rhine, which is the border; Bonn is
  // 90 km from the nearest point of Belgium. Both by map.
  TEST_CASE("distance outside a country is zero inside and kilometres beyond") {
    const geo::Coordinates strasbourg{48.5818, 7.7510};
    const geo::Coordinates bonn{50.7344, 7.0955};

    CHECK(outlines().km_outside(code("FR"), strasbourg) == 0);
    CHECK(outlines().km_outside(code("DE"), strasbourg) < 8);
    CHECK(outlines().km_outside(code("BE"), bonn) > 55);
    CHECK(outlines().km_outside(code("BE"), bonn) < 100);
    CHECK(std::isinf(outlines().km_outside(geo::CountryCode{}, bonn)));
  }

  TEST_CASE("a place with swapped coordinates is found") {
    const std::string breach = breach_after([](Catalog& catalog) {
      geo::Coordinates& at = metro(catalog, "ke-nairobi").at;
      std::swap(at.lat, at.lon);
    });

    CHECK(has(breach, "metro ke-nairobi lies"));
    CHECK(has(breach, "outside KE"));
  }

  TEST_CASE("a site in the wrong country is found") {
    CHECK(has(breach_after([](Catalog& catalog) {
                catalog.sites[*catalog.site("aws/eu-central-1")].country = code("PL");
              }),
              "site aws/eu-central-1 lies"));
  }

  TEST_CASE("a wrong time zone is found") {
    CHECK(breach_after([](Catalog& catalog) {
            metro(catalog, "us-phoenix").time_zone = "America/Denver";
          }) == "us-phoenix keeps America/Phoenix, not America/Denver");
  }

  TEST_CASE("a New York of the wrong size is found") {
    CHECK(has(breach_after([](Catalog& catalog) {
                metro(catalog, "us-new-york-city").weight_population *= 2;
              }),
              "us-new-york-city weighs"));
  }

  TEST_CASE("metros heavier than their country are found") {
    CHECK(has(breach_after([](Catalog& catalog) {
                metro(catalog, "ke-mombasa").weight_population = 9e7;
              }),
              "metros of KE weigh"));
  }

  TEST_CASE("a rentable site without price or reason is found") {
    CHECK(breach_after([](Catalog& catalog) {
            Site& site = catalog.sites[*catalog.site("aws/us-east-1")];
            site.gpus.clear();
          }) == "aws/us-east-1 has neither price nor reason");
  }

  TEST_CASE("a price without a date is found") {
    CHECK_FALSE(breach_after([](Catalog& catalog) {
                  catalog.prices.front().as_of = "";
                }).empty());
    CHECK(has(breach_after([](Catalog& catalog) {
                const auto row = std::ranges::find_if(
                    catalog.egress_rows, [](const auto& one) { return one.known; });
                row->as_of = "";
              }),
              "egress of"));
  }

  TEST_CASE("a profile without a band, or beyond its memory, is found") {
    CHECK(has(
        breach_after([](Catalog& catalog) { catalog.profiles.front().error_pct = 0; }),
        "lacks basis, source or error band"));
    CHECK(has(breach_after(
                  [](Catalog& catalog) { catalog.profiles.front().kv_blocks *= 10; }),
              "exceed"));
  }

  TEST_CASE("a rule that contradicts its outcome is found") {
    CHECK(has(breach_after([](Catalog& catalog) {
                const auto row = std::ranges::find(catalog.residency, "conditional",
                                                   &ResidencyRow::outcome);
                row->needs.clear();
              }),
              "states no condition"));
  }

  TEST_CASE("the absence of a rule that is read as freedom is found") {
    CHECK(has(breach_after([](Catalog& catalog) {
                const auto row = std::ranges::find_if(
                    catalog.residency, [](const ResidencyRow& one) {
                      return one.countries.contains(code("KH"));
                    });
                row->note_only = false;
              }),
              "the absence of a rule is no rule"));
  }
}

}  // namespace
}  // namespace isochrone::datasets
