#include "scenarios/candidates.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include <doctest/doctest.h>

#include "tests/scenarios/candidates_of.h"

namespace isochrone::scenarios {
namespace {

TEST_SUITE("scenarios/candidates") {
  TEST_CASE("the price belongs to the shape") {
    const Candidates all = candidates_of("");

    // AWS us-east-1, rows of the table: 1.861 / 2.6232 / 3.7664 for 1 / 4 / 8 L40S.
    const auto price = [&](int shape) {
      return offer(all, "aws/us-east-1", "L40S-48GB", shape, "on_demand")->price;
    };
    CHECK(price(1) == usd_per_hour(1.861));
    CHECK(price(4) == usd_per_hour(2.6232));
    CHECK(price(8) == usd_per_hour(3.7664));
  }

  TEST_CASE("a known commitment price comes before an assumed discount") {
    const Candidates all = candidates_of(kBothTerms);

    const Offer* known = offer(all, "aws/us-east-1", "L40S-48GB", 8, "reserved_1y");
    REQUIRE(known);
    CHECK(known->basis == PriceBasis::kSite);
    CHECK(known->price == usd_per_hour(2.3728));
    CHECK(known->bill_low_gpu_month == known->bill_high_gpu_month);
    const Offer* assumed =
        offer(all, "aws/us-east-1", "H100-80GB-SXM", 8, "reserved_1y");
    REQUIRE(assumed);
    CHECK(assumed->basis == PriceBasis::kDiscounted);
    CHECK(assumed->price == usd_per_hour(4.472));  // 6.88 x 0.65
    CHECK(assumed->bill_gpu_month == usd(4.472 * 730));
    CHECK(assumed->bill_low_gpu_month == usd(3.784 * 730));
    CHECK(assumed->bill_high_gpu_month == usd(5.16 * 730));
    CHECK(assumed->arithmetic.find("6.88 $/h x (1 - 0.35)") != std::string::npos);
  }

  TEST_CASE("a term without a price and without a discount has no offer") {
    const Candidates all =
        candidates_of(R"(terms { allow: ["on_demand", "reserved_1y"] })");

    CHECK(offer(all, "aws/us-east-1", "L40S-48GB", 8, "reserved_1y"));
    CHECK_FALSE(offer(all, "aws/us-east-1", "H100-80GB-SXM", 8, "reserved_1y"));
  }

  TEST_CASE("a discount is taken off a term that may itself not be used") {
    const Candidates all =
        candidates_of(R"(terms { allow: "reserved_1y" )" + kDiscount + " }");

    CHECK(offer(all, "aws/us-east-1", "H100-80GB-SXM", 8, "reserved_1y"));
    CHECK_FALSE(offer(all, "aws/us-east-1", "H100-80GB-SXM", 8, "on_demand"));
  }

  TEST_CASE("an area price reaches only its area") {
    const Candidates all = candidates_of("");

    for (const CandidateSite& one : all.sites) {
      for (const Offer& offer : one.offers) {
        if (offer.basis != PriceBasis::kProviderArea) continue;
        CAPTURE(one.id);
        CHECK(one.provider == "coreweave");
        CHECK(world().blocs.find("NORTH_AMERICA")->contains(one.endpoint.country));
      }
    }
    CHECK(all.fell_away.at("no price: provider price covers NORTH_AMERICA only") == 2);
  }

  TEST_CASE("a list price holds only where the GPU was seen") {
    const Candidates all =
        candidates_of(R"(sites { class: ["rentable", "cloud_region"] })");

    for (const CandidateSite& one : all.sites) {
      const datasets::Site& known = world().sites[world().site(one.id).value()];
      for (const Offer& offer : one.offers) {
        if (offer.basis != PriceBasis::kProviderList) continue;
        CAPTURE(one.id);
        CHECK(known.gpu_status == "seen");
        CHECK(std::ranges::find(known.gpus, offer.gpu) != known.gpus.end());
      }
    }
  }

  TEST_CASE("no offer is free") {
    const Candidates all = candidates_of(
        R"(sites { class: ["rentable", "cloud_region", "colo"] )" + kBuild +
        R"( } terms { allow: ["on_demand", "reserved_1y", "spot"] )" + kDiscount +
        " }");

    for (const CandidateSite& one : all.sites) {
      CHECK_FALSE(one.offers.empty());
      for (const Offer& offer : one.offers) {
        CHECK(offer.price.count() > 0);
        CHECK(offer.bill_gpu_month.count() > 0);
        CHECK(offer.bill_low_gpu_month <= offer.bill_gpu_month);
        CHECK(offer.bill_gpu_month <= offer.bill_high_gpu_month);
      }
    }
  }

  TEST_CASE("a site is unique, and so is each of its (GPU, shape, term)") {
    const Candidates all = candidates_of(kBothTerms);

    for (std::size_t i = 1; i < all.sites.size(); ++i) {
      CHECK(all.sites.items()[i - 1].id < all.sites.items()[i].id);
    }
    for (const CandidateSite& one : all.sites) {
      const auto key = [](const Offer& offer) {
        return std::tuple(offer.gpu, offer.shape_gpus, offer.term);
      };
      CHECK(std::ranges::adjacent_find(one.offers, std::greater_equal{}, key) ==
            one.offers.end());
    }
  }

  TEST_CASE("one builds at colocation sites only, each of which is its own provider") {
    const Candidates all = candidates_of(
        R"(sites { class: ["rentable", "cloud_region", "colo"] )" + kBuild + " }");

    for (const CandidateSite& one : all.sites) {
      const bool colo = one.id.starts_with("colo/");
      for (const Offer& offer : one.offers) CHECK((offer.term == "built") == colo);
      if (colo) CHECK(one.provider == one.id);
    }
    CHECK(site(all, "colo/nbo"));
  }

  TEST_CASE("what cannot be ready in time is no offer") {
    // 44 weeks = 308 days; 56 days for a commitment.
    const auto with_days = [](const char* start, const char* order) {
      return candidates_of(R"(sites { class: ["rentable", "colo"] )" + kBuild + " } " +
                           kBothTerms + "horizon { order_date: \"" + order +
                           "\" start: \"" + start + "\" }");
    };

    const Candidates late = with_days("2027-02-25", "2027-01-01");  // 55 days
    CHECK_FALSE(site(late, "colo/nbo"));
    CHECK(offer(late, "aws/us-east-1", "L40S-48GB", 8, "on_demand"));
    CHECK_FALSE(offer(late, "aws/us-east-1", "L40S-48GB", 8, "reserved_1y"));
    CHECK(late.fell_away.at("lead time exceeds the days until everything must serve") >
          200);
    const Candidates reserved = with_days("2027-02-26", "2027-01-01");  // 56 days
    CHECK(offer(reserved, "aws/us-east-1", "L40S-48GB", 8, "reserved_1y"));
    CHECK(site(with_days("2027-11-05", "2027-01-01"), "colo/nbo"));        // 308 days
    CHECK_FALSE(site(with_days("2027-11-04", "2027-01-01"), "colo/nbo"));  // 307 days
  }

  TEST_CASE("ready_by comes before the first day of service") {
    const Candidates all =
        candidates_of(kBothTerms + R"(limits { ready_by: "2026-01-31" })");

    // 30 days after the order.
    CHECK_FALSE(offer(all, "aws/us-east-1", "L40S-48GB", 8, "reserved_1y"));
  }

  TEST_CASE("seen prices only means no discount and no building") {
    const Candidates all =
        candidates_of(R"(sites { class: ["rentable", "colo"] prices: "seen_only" )" +
                      kBuild + " } " + kBothTerms);

    CHECK_FALSE(all.sites.empty());
    for (const CandidateSite& one : all.sites) {
      for (const Offer& offer : one.offers) {
        CHECK(offer.basis < PriceBasis::kDiscounted);
        CHECK_FALSE(offer.recalled);
      }
    }
    CHECK_FALSE(site(all, "colo/nbo"));
  }
}

}  // namespace
}  // namespace isochrone::scenarios
