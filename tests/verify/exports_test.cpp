#include "place/plan_file/exports.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "place/plan_file/diff.h"
#include "place/plan_file/show.h"
#include "place/plan_file/table.h"
#include "tests/verify/small_plan.h"

namespace isochrone::place {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_SUITE("place/csv_export") {
  TEST_CASE("a row of sites quotes what CSV must quote") {
    CHECK(to_csv(small_plan(), "sites") ==
          "name,provider,site_class,location,city,country,lat,lon,fixed_usd_micro\n"
          "acme/frankfurt,,,,Frankfurt am Main,DE,50.11,8.68,2000000000\n"
          "best/ashburn,,,,\"Ashburn, \"\"VA\"\"\",US,39.04,-77.49,2000000000\n");
  }

  TEST_CASE("pools and assignments name what their indices point at") {
    const std::string pools = to_csv(small_plan(), "pools");
    const std::string assignments = to_csv(small_plan(), "assignments");

    CHECK(pools.starts_with("site_name,site,workload,"));
    CHECK(contains(pools, "\nbest/ashburn,1,chat,"));
    CHECK(contains(assignments,
                   "\nacme/frankfurt,chat,llama-3.1-70b/H100-80GB-SXM/tp4/"
                   "fp8,consumers,de-berlin,DE,0,9000,modelled,120000,900000,"
                   "1000000000|1000000000|"));
  }

  TEST_CASE("every table that is offered can be exported") {
    for (const std::string_view table : csv_tables()) {
      CAPTURE(table);
      CHECK(to_csv(small_plan(), table).ends_with("\n"));
    }
  }

  TEST_CASE("an unknown table is refused with the nearest name") {
    CHECK_THROWS_WITH_AS(to_csv(small_plan(), "pols"),
                         doctest::Contains("did you mean \"pools\"?"),
                         std::invalid_argument);
  }
}

TEST_SUITE("place/geojson") {
  TEST_CASE("the collection is JSON with two sites, two populations and two lines") {
    google::protobuf::Struct collection;
    const std::string text = to_geojson(small_plan());

    REQUIRE(google::protobuf::util::JsonStringToMessage(text, &collection).ok());
    const auto& features = collection.fields().at("features").list_value().values();
    CHECK(features.size() == 6);
    // Longitude first (RFC 7946).
    CHECK(contains(text, "\"coordinates\": [8.68, 50.11]"));
    CHECK(contains(text, "\"coordinates\": [[13.405, 52.52], [8.68, 50.11]]"));
    // 24 GPUs x $1,460 + $2,000 fixed.
    CHECK(contains(text, "\"gpus\": 24, \"usd_month\": 37040.00"));
  }
}

TEST_SUITE("place/show") {
  TEST_CASE("the table shows money, gap, pools and bill") {
    const std::string text = show_plan(small_plan());

    CHECK(contains(text, "two-metros: planned\n"));
    CHECK(contains(text, "$50,720 a month"));
    CHECK(contains(text, "gap 1.42 %"));
    CHECK(contains(text, "24 H100-80GB-SXM"));
    CHECK(contains(text, "  - the whole spend rests on quotes\n"));
  }

  TEST_CASE("an infeasible question shows its conflicts and no table") {
    plan::Plan plan;
    plan.set_scenario("x");
    plan.set_status("infeasible");
    plan::Conflict* conflict = plan.add_conflicts();
    conflict->set_kind("no_arc");
    conflict->set_text("no site is near enough");
    conflict->add_lines("x.yaml:3: regions: [KE]");

    CHECK(
        show_plan(plan) ==
        "x: infeasible\n\nno_arc: no site is near enough\n  x.yaml:3: regions: [KE]\n");
  }

  TEST_CASE("columns keep straight whatever the letters") {
    TextTable table({"city", ">n"});
    table.add({"São Paulo", "7"});
    table.add({"Rome", "12"});

    CHECK(table.text() == "city        n\nSão Paulo   7\nRome       12\n");
  }
}

TEST_SUITE("place/diff") {
  TEST_CASE("a plan does not differ from itself") {
    CHECK(diff_plans(small_plan(), small_plan()).same);
  }

  TEST_CASE("a change inside both gaps is called noise") {
    plan::Plan after = small_plan();
    after.mutable_totals()->set_objective_usd_micro(50'500'000'000);

    const PlanDifference difference = diff_plans(small_plan(), after);

    // Both optima lie in [50,000, objective]: -720 to +500.
    CHECK(difference.optimum_low_usd_micro == -720'000'000);
    CHECK(difference.optimum_high_usd_micro == 500'000'000);
    CHECK(difference.noise);
  }

  TEST_CASE("a change that exceeds the gaps is not noise") {
    plan::Plan after = small_plan();
    after.mutable_totals()->set_objective_usd_micro(60'000'000'000);
    after.mutable_bound()->set_objective_usd_micro(59'000'000'000);

    const PlanDifference difference = diff_plans(small_plan(), after);

    // 59,000 - 50,720 = 8,280 and 60,000 - 50,000 = 10,000.
    CHECK(difference.optimum_low_usd_micro == 8'280'000'000);
    CHECK(difference.optimum_high_usd_micro == 10'000'000'000);
    CHECK_FALSE(difference.noise);
  }

  TEST_CASE("traffic that changes its site is counted by its load") {
    plan::Plan after = small_plan();
    after.mutable_assignments(1)->set_pool(0);

    const PlanDifference difference = diff_plans(small_plan(), after);

    // New York carries 2 of 12 requests per second.
    CHECK(difference.moved_share == doctest::Approx(2.0 / 12));
  }

  TEST_CASE("a pool that is billed by the hour changes by its bill line") {
    // The same GPUs, half of the hours: 11,680 -> 5,840.
    plan::Plan after = small_plan();
    after.mutable_bill(1)->set_usd_micro(5'840'000'000);

    const PlanDifference difference = diff_plans(small_plan(), after);

    CHECK(difference.pools_changed == 1);
    CHECK(contains(difference.text, "-$5,840"));
  }

  TEST_CASE("a pool that grows and a site that closes are named") {
    plan::Plan after = small_plan();
    after.mutable_pools(0)->set_replicas(6);
    after.mutable_pools()->RemoveLast();
    after.mutable_sites()->RemoveLast();

    const PlanDifference difference = diff_plans(small_plan(), after);

    CHECK(difference.sites_closed == 1);
    CHECK(difference.pools_changed == 2);
    CHECK(contains(difference.text, "6 x H100-80GB-SXM tp4 fp8 B48 on_demand"));
  }
}

}  // namespace
}  // namespace isochrone::place
