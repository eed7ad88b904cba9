#include "datasets/catalog.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

std::size_t count_of(SiteClass value) {
  return static_cast<std::size_t>(
      std::ranges::count(world().sites, value, &Site::site_class));
}

TEST_SUITE("datasets/catalog") {
  // Counted when the tables were collected, before any of this code; of the 156 rules
  // of law then Colombia's has since become two.
  TEST_CASE("the catalog holds every row that was collected") {
    CHECK(world().countries.size() == 244);
    CHECK(world().metros.size() == 1701);
    CHECK(world().locations.size() == 393);
    CHECK(world().sites.size() == 735);
    CHECK(world().gpus.size() == 29);
    CHECK(world().models.size() == 13);
    CHECK(world().prices.size() == 514);
    CHECK(world().residency.size() == 157);
    CHECK(world().restrictions.size() == 10);
    CHECK(world().daily_profiles.size() == 5);
    CHECK(world().blocs.names().size() == 17);
  }

  TEST_CASE("sites fall into rentable, cloud region and colocation") {
    CHECK(count_of(SiteClass::kRentable) == 193);
    CHECK(count_of(SiteClass::kCloudRegion) == 208);
    CHECK(count_of(SiteClass::kColo) == 334);
  }

  TEST_CASE("rentable locations are 96 in 33 countries, all locations 393 in 130") {
    std::set<std::uint32_t> locations, rentable_locations;
    std::set<geo::CountryCode> countries, rentable_countries;
    for (const Site& site : world().sites) {
      locations.insert(site.location.value);
      countries.insert(site.country);
      if (site.site_class != SiteClass::kRentable) continue;
      rentable_locations.insert(site.location.value);
      rentable_countries.insert(site.country);
    }

    CHECK(locations.size() == 393);
    CHECK(countries.size() == 130);
    CHECK(rentable_locations.size() == 96);
    CHECK(rentable_countries.size() == 33);
  }

  TEST_CASE("everything is found by its name, and nothing by another") {
    CHECK(site("aws/us-east-1").provider == "aws");
    CHECK(site("aws/us-east-1").region_code == "us-east-1");
    CHECK(world().gpus[*world().gpu("L40S-48GB")].memory_gb == 48);
    CHECK(world().models[*world().model("llama-3.1-70b")].layers == 80);
    CHECK(world().metros[*world().metro("de-frankfurt-am-main")].time_zone ==
          "Europe/Berlin");
    CHECK(world().countries[*world().country(code("NO"))].name == "Norway");
    CHECK(world().daily_profile("office") != nullptr);
    CHECK_FALSE(world().site("aws/us-east-11").has_value());
    CHECK_FALSE(world().gpu("H100").has_value());
    CHECK_FALSE(world().country(code("ZZ")).has_value());
    CHECK(world().daily_profile("night") == nullptr);
  }

  TEST_CASE("the tail of mobile access keeps the country's ratios to p75") {
    // Andorra: p75 27.7, p90 45.5, p99 210.7; mobile p75 57.7.
    const Country& andorra = world().countries[*world().country(code("AD"))];

    CHECK(andorra.access.p90_ms == doctest::Approx(45.5));
    CHECK(andorra.access_mobile.p75_ms == doctest::Approx(57.7));
    CHECK(andorra.access_mobile.p90_ms == doctest::Approx(57.7 * 45.5 / 27.7));
    CHECK(andorra.access_mobile.p99_ms == doctest::Approx(57.7 * 210.7 / 27.7));
  }

  TEST_CASE("access is marked as estimated exactly where it is pooled") {
    for (const Country& country : world().countries) {
      CHECK(country.access.estimated == (country.access_basis == "pooled"));
      CHECK(country.access_mobile.estimated);
    }
  }

  TEST_CASE("a country with a metro has internet users, so no one divides by zero") {
    for (const Metro& metro : world().metros) {
      CHECK(world().countries[*world().country(metro.country)].internet_users > 0);
    }
  }

  TEST_CASE("daily weights have mean one and the week has mean one") {
    for (const DailyProfile& profile : world().daily_profiles) {
      const double mean =
          std::accumulate(profile.weekday.begin(), profile.weekday.end(), 0.0) / 24;
      const double week = (5 * profile.weekday_factor + 2 * profile.weekend_factor) / 7;

      CHECK(mean == doctest::Approx(1).epsilon(1e-3));
      CHECK(week == doctest::Approx(1).epsilon(5e-3));
    }
  }

  TEST_CASE("a certification that no row states is not held") {
    CHECK(world().certifications.at("ovh").contains("hds"));
    CHECK(world().certifications.at("aws").contains("iso27001"));
    CHECK_FALSE(world().certifications.at("hetzner").contains("soc2"));
    CHECK_FALSE(world().certifications.contains("verda"));
  }

  TEST_CASE("every step profile stands for a model and a GPU of the tables") {
    CHECK(world().profiles.size() >= 6);
    for (const StepProfile& profile : world().profiles) {
      CHECK(profile.model.index() < world().models.size());
      CHECK(profile.gpu.index() < world().gpus.size());
      CHECK(profile.kv_blocks > 0);
      CHECK_FALSE(profile.source.empty());
    }
  }

  TEST_CASE("the environment names the folder, else the source tree does") {
    ::setenv("ISOCHRONE_DATASETS", "/srv/tables", 1);
    const std::string named = default_folder();
    ::unsetenv("ISOCHRONE_DATASETS");

    CHECK(named == "/srv/tables");
    CHECK(default_folder() == kFolder);
  }

  TEST_CASE("loading takes less than 100 ms in a release build") {
    double best_ms = 1e9;
    for (int run = 0; run < 3; ++run) {
      const auto start = std::chrono::steady_clock::now();
      const Catalog loaded = Catalog::load(kFolder);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      best_ms = std::min(best_ms, took.count());
    }

    MESSAGE("catalog loaded in " << best_ms << " ms");
#ifdef NDEBUG
    CHECK(best_ms < 100);
#endif
  }
}

}  // namespace
}  // namespace isochrone::datasets
