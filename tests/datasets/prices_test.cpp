#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

MicroUsdPerHour price(const char* site_id, const char* gpu_id, int shape, Term term) {
  const GpuId gpu = *world().gpu(gpu_id);
  for (const PriceRow* row : world().prices_at(*world().site(site_id))) {
    if (row->gpu == gpu && row->shape_gpus == shape && row->term == term) {
      return row->usd_per_gpu_hour;
    }
  }
  return MicroUsdPerHour::of(0);
}

TEST_SUITE("datasets/prices") {
  // Published for g6e.xlarge, .12xlarge and .48xlarge, per GPU-hour: 1.8610, 2.6232,
  // 3.7664 dollars.
  TEST_CASE("a price belongs to its shape") {
    CHECK(price("aws/us-east-1", "L40S-48GB", 1, Term::kOnDemand) ==
          MicroUsdPerHour::of(1'861'000));
    CHECK(price("aws/us-east-1", "L40S-48GB", 4, Term::kOnDemand) ==
          MicroUsdPerHour::of(2'623'200));
    CHECK(price("aws/us-east-1", "L40S-48GB", 8, Term::kOnDemand) ==
          MicroUsdPerHour::of(3'766'400));
  }

  TEST_CASE("no price is zero") {
    for (const PriceRow& row : world().prices) {
      CHECK(row.usd_per_gpu_hour > MicroUsdPerHour::of(0));
    }
  }

  // Counted when the tables were collected: 136 of 193 rentable sites have a usable
  // price, 75 by site, 19 by area, 42 by list; in 79 locations and 30 countries.
  TEST_CASE("136 sites have a price, most of them their own") {
    int by_site = 0, by_area = 0, by_list = 0;
    std::set<std::uint32_t> locations;
    std::set<geo::CountryCode> countries;
    for (std::uint32_t i = 0; i < world().sites.size(); ++i) {
      const auto rows = world().prices_at(SiteId{i});
      if (rows.empty()) continue;
      PriceScope best = PriceScope::kProviderList;
      for (const PriceRow* row : rows) best = std::min(best, row->scope);
      by_site += best == PriceScope::kSite;
      by_area += best == PriceScope::kProviderArea;
      by_list += best == PriceScope::kProviderList;
      locations.insert(world().sites[SiteId{i}].location.value);
      countries.insert(world().sites[SiteId{i}].country);
    }

    CHECK(by_site == 75);
    CHECK(by_area == 19);
    CHECK(by_list == 42);
    CHECK(locations.size() == 79);
    CHECK(countries.size() == 30);
  }

  TEST_CASE("three Google regions have spot prices only") {
    for (const char* id : {"gcp/northamerica-northeast2", "gcp/asia-northeast1",
                           "gcp/australia-southeast1"}) {
      const auto rows = world().prices_at(*world().site(id));

      CHECK_FALSE(rows.empty());
      CHECK(std::ranges::all_of(
          rows, [](const PriceRow* row) { return row->term == Term::kSpot; }));
    }
  }

  TEST_CASE("a site sells only GPUs that were seen there") {
    for (std::uint32_t i = 0; i < world().sites.size(); ++i) {
      const Site& at = world().sites[SiteId{i}];
      for (const PriceRow* row : world().prices_at(SiteId{i})) {
        CHECK(at.gpu_status == "seen");
        CHECK(std::ranges::find(at.gpus, row->gpu) != at.gpus.end());
        CHECK(row->tier == at.tier);
      }
    }
  }

  // "A100" at RunPod does not say which: the price rows know SXM and PCIe. AWS names no
  // GB200 anywhere, and T4 has no specification and so no candidate.
  TEST_CASE("a short GPU name covers each form that a price row may mean") {
    const auto sells = [](const char* id, const char* gpu) {
      const auto& gpus = site(id).gpus;
      return std::ranges::find(gpus, *world().gpu(gpu)) != gpus.end();
    };

    CHECK(sells("runpod/ap-in-1", "A100-80GB-SXM"));
    CHECK(sells("runpod/ap-in-1", "A100-80GB-PCIe"));
    CHECK(sells("gcp/europe-west3", "L4-24GB"));
    CHECK_FALSE(sells("aws/us-east-1", "GB200-186GB"));
  }

  TEST_CASE("marketplace hosts are in the list of prices but at no site") {
    const auto marketplace =
        std::ranges::count(world().prices, Tier::kMarketplace, &PriceRow::tier);

    CHECK(marketplace == 26);
    CHECK(std::ranges::count(world().sites, Tier::kMarketplace, &Site::tier) == 0);
    for (const PriceRow* row : world().prices_at(*world().site("runpod/eu-cz-1"))) {
      CHECK(row->tier == Tier::kNeocloud);
    }
  }

  // No list states a one-year price for H100, H200 or B200; Hyperstack's "reserved
  // from" does not say for how long and stays a term of its own.
  TEST_CASE("a reservation of unknown length is not a year") {
    int reserved_from = 0;
    for (const PriceRow& row : world().prices) {
      reserved_from += row.term == Term::kReservedFrom;
      if (row.term == Term::kReservedFrom) CHECK(row.provider == "hyperstack");
      if (row.term != Term::kReserved1y) continue;
      const std::string& gpu = world().gpus[row.gpu].id;
      CHECK_FALSE(gpu.starts_with("H"));
      CHECK_FALSE(gpu.starts_with("B"));
    }

    CHECK(reserved_from == 10);
  }

  TEST_CASE("a seen site without a price says why") {
    int without = 0;
    for (std::uint32_t i = 0; i < world().sites.size(); ++i) {
      const Site& at = world().sites[SiteId{i}];
      if (at.gpu_status != "seen" || !world().prices_at(SiteId{i}).empty()) continue;
      ++without;
      CHECK_FALSE(at.price_gap.empty());
    }

    CHECK(without == 57);
  }
}

}  // namespace
}  // namespace isochrone::datasets
