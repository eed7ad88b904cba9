#include "scenarios/bills.h"

#include <doctest/doctest.h>

#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {
namespace {

const std::string kBuild = R"(sites { build {
  amortise_months: 36 resale_share: 0.4 pue: 1.4
  colo_usd_kw_month { low: 120 mid: 180 high: 300 }
  ops_usd_gpu_month: 150 lead_time_weeks: 44
  gpus { gpu: "H100-80GB-SXM" shape_gpus: 8 kw: 1.3
         capex_usd { low: 36000 mid: 45000 high: 55000 } } } } )";

Offer built(int months) {
  const Scenario scenario =
      small_scenario(kBuild + "horizon { months: " + std::to_string(months) + " }");
  return built_offer(scenario.spec.sites().build().gpus(0), datasets::GpuId{0},
                     scenario);
}

TEST_SUITE("scenarios/bills") {
  TEST_CASE("on demand is price times 730 hours") {
    CHECK(rental_month(usd_per_hour(6.88), "on_demand", 5) == usd(5022.4));
  }

  TEST_CASE("a commitment that ends with the horizon costs its price") {
    CHECK(rental_month(usd_per_hour(2), "reserved_1y", 12) == usd(1460));
    CHECK(rental_month(usd_per_hour(2), "reserved_1y", 24) == usd(1460));
  }

  TEST_CASE("a commitment is paid to its end past the horizon") {
    // 18 months need two years: 2 $ x 730 h x 24 / 18 = 1946.666667 $ (rounded up).
    CHECK(rental_month(usd_per_hour(2), "reserved_1y", 18) ==
          MicroUsd::of(1'946'666'667));
    // One month needs a whole year.
    CHECK(rental_month(usd_per_hour(2), "reserved_1y", 1) == usd(12 * 1460));
  }

  TEST_CASE(
      "an assumed discount makes a range whose low end has the largest discount") {
    spec::LowMidHigh discount;
    discount.set_low(0.25);
    discount.set_mid(0.35);
    discount.set_high(0.45);

    const PriceRange price = discounted(usd_per_hour(6.88), discount);

    CHECK(price.low == usd_per_hour(3.784));  // 6.88 x 0.55
    CHECK(price.mid == usd_per_hour(4.472));  // 6.88 x 0.65
    CHECK(price.high == usd_per_hour(5.16));  // 6.88 x 0.75
  }

  TEST_CASE("a purchase costs amortisation, rent and operations, as on paper") {
    const Offer offer = built(24);

    // 45000 / 36 = 1250; 1.3 kW x 1.4 x 180 = 327.6; 150: 1727.6 $ a month.
    CHECK(offer.bill_gpu_month == usd(1727.6));
    // 36000 / 36 = 1000; 1.3 x 1.4 x 120 = 218.4; 150.
    CHECK(offer.bill_low_gpu_month == usd(1368.4));
    // 55000 / 36 = 1527.7778; 1.3 x 1.4 x 300 = 546; 150.
    CHECK(offer.bill_high_gpu_month == usd(55000.0 / 36 + 696));
    // 12 of 36 months are left: 15000 $ x (1 - 0.4) / 24 months.
    CHECK(offer.extra_gpu_month == usd(375));
    CHECK(offer.lead_time_days == 308);
    CHECK(offer.basis == PriceBasis::kBuilt);
    // 1727.6 $ / 730 h.
    CHECK(offer.price == MicroUsdPerHour::of(2'366'575));
  }

  TEST_CASE("a purchase is not paid twice when the horizon outlives it") {
    const Offer offer = built(48);

    // 1250 x 36 / 48 = 937.5; 477.6 beside it; nothing is left to write off.
    CHECK(offer.bill_gpu_month == usd(1415.1));
    CHECK(offer.extra_gpu_month == usd(0));
  }

  TEST_CASE("notice on demand is months of the bill spread over the horizon") {
    // 3 x 1460 $ / 12.
    CHECK(notice_month(usd_per_hour(2), "on_demand", 12, 3) == usd(365));
  }

  TEST_CASE("notice of a commitment counts only beyond what is already paid") {
    // 10 months: 2 of the year remain, 1 month of notice is left: 1460 $ / 10.
    CHECK(notice_month(usd_per_hour(2), "reserved_1y", 10, 3) == usd(146));
    CHECK(notice_month(usd_per_hour(2), "reserved_1y", 6, 3) == usd(0));
  }

  TEST_CASE("spot capacity has no notice") {
    CHECK(notice_month(usd_per_hour(2), "spot", 12, 3) == usd(0));
  }

  TEST_CASE("exit cost is in the objective only where it is assumed") {
    Offer reported, assumed;
    reported.term = assumed.term = "on_demand";
    const PriceRange price{usd_per_hour(2), usd_per_hour(2), usd_per_hour(2)};

    fill_rental(reported, price, small_scenario("terms { exit { notice_months: 3 } }"));
    fill_rental(
        assumed, price,
        small_scenario(R"(terms { exit { count: "assumed" notice_months: 3 } })"));

    CHECK(reported.extra_gpu_month == usd(0));
    CHECK(assumed.extra_gpu_month == usd(365));
    CHECK(assumed.bill_gpu_month == reported.bill_gpu_month);
  }
}

}  // namespace
}  // namespace isochrone::scenarios
