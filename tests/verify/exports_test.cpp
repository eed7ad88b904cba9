#include "place/plan_file/exports.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

  TEST_CASE("the summary says how full the pools run, by day and after a loss") {
    plan::Plan plan = small_plan();
    plan::Drill& drill = *plan.add_drills();
    drill.set_element("best/ashburn");
    drill.set_block(14);
    drill.mutable_tightest()->add_populations(0);
    drill.mutable_tightest()->set_need(19);
    drill.mutable_tightest()->set_left(20);
    const std::string text = show_plan(plan);

    // Berlin's 10 of 19.75 and New York's 2 of 3.2.
    CHECK(contains(text, "51 to 62 % of what a pool carries"));
    CHECK(contains(text, "95 % of what is left"));
    CHECK(contains(text, "after the loss of best/ashburn at 14 UTC"));
  }

  TEST_CASE("the summary says what other step times would do to GPUs and bill") {
    plan::Plan plan = small_plan();
    plan.mutable_pools(0)->set_step_error_pct(25);
    plan.mutable_pools(1)->set_step_error_pct(15);
    plan.mutable_pools(1)->set_available_gpus(12);
    plan::StepTimeCase& slow = *plan.add_step_times();
    slow.set_name("slow");
    slow.add_replicas(7);
    slow.add_replicas(3);  // of 4 GPUs each in groups of 8, and there are 12
    slow.set_gpus(44);
    slow.set_bill_usd_micro(60'000'000'000);
    slow.set_bill_low_usd_micro(55'000'000'000);
    slow.set_bill_high_usd_micro(65'000'000'000);
    const std::string text = show_plan(plan);

    CHECK(contains(text, "+-15 to 25 %"));
    CHECK(contains(text,
                   "slow  44 GPUs, 10 replicas, $60,000 a month ($55,000 to $65,000), "
                   "more than the "
                   "stock of one pool"));
  }

  plan::Plan spending(const std::vector<std::pair<const char*, std::int64_t>>& usd) {
    plan::Plan plan = small_plan();
    for (const auto& [basis, amount] : usd) {
      plan::SpendShare& share = *plan.add_spend();
      share.set_basis(basis);
      share.set_usd_micro(amount * 1'000'000);
    }
    return plan;
  }

  TEST_CASE("prices of the scenario's own are no part of what may be estimated") {
    // Of 11,000 + 9,000 that were looked up 55 % are estimated; of all only a quarter.
    const std::string warned = show_plan(spending(
        {{"built", 11'000}, {"quote", 20'000}, {"scenario", 5'000}, {"site", 9'000}}));
    const std::string fine = show_plan(spending({{"built", 9'000}, {"site", 11'000}}));

    CHECK(contains(warned, "is estimated: 55 % of $20,000"));
    CHECK_FALSE(contains(fine, "is estimated"));
    CHECK_FALSE(contains(show_plan(spending({{"quote", 9'000}})), "is estimated"));
  }

  TEST_CASE("every line of the bill shows where and when its price was seen") {
    plan::Plan plan = small_plan();
    plan.mutable_bill(0)->set_as_of("2026-01-21");
    plan.mutable_bill(0)->set_source("page of prices");
    plan.mutable_bill(1)->set_basis("quote");
    plan.mutable_bill(3)->set_as_of("2025");
    plan.add_spend()->set_basis("site");
    const std::string text = show_plan(plan);

    CHECK(contains(text, "2026-01-21  page of prices"));
    CHECK(contains(text, "yours"));
    CHECK(contains(text, "prices were seen from 2025 to 2026-01-21\n"));
    CHECK(contains(to_csv(plan, "bill"), ",page of prices,2026-01-21"));
  }

  /// Berlin is served by Frankfurt and a quarter by Ashburn, which the law admits.
  plan::Plan served_plan() {
    plan::Plan plan = small_plan();
    for (plan::Population& p : *plan.mutable_populations()) {
      p.set_region(p.country() == "DE" ? "europe" : "america");
      for (int block = 0; block < 24; ++block) p.add_requests_month(100);
    }
    plan::Assignment& far = *plan.add_assignments();
    far.CopyFrom(plan.assignments(0));
    far.set_pool(1);
    far.set_rtt_us(95'000);
    for (int block = 0; block < 24; ++block) {
      plan.mutable_assignments(0)->set_share_ppb(block, 750'000'000);
      far.set_share_ppb(block, 250'000'000);
    }
    plan::LawNote& note = *plan.add_law();
    note.set_demand("consumers");
    note.set_country("DE");
    for (const char* country : {"DE", "IE", "US"}) note.add_may_be_in(country);
    for (const char* how : {"own country", "EEA", "adequacy"}) note.add_mechanisms(how);
    return plan;
  }

  TEST_CASE("whose data goes where is told with share, round trip and law") {
    const std::string text = show_plan(served_plan());

    CHECK(contains(text, "europe    DE              75.0 %  acme/frankfurt"));
    CHECK(contains(text, "9.0       9.0  own country\n"));
    CHECK(contains(text, "europe    US              25.0 %  best/ashburn"));
    CHECK(contains(text, "95.0      95.0  adequacy\n"));
    CHECK(
        contains(text, "europe    IE                 0 %  may be, e.g. after a loss"));
    CHECK(contains(show_plan(served_plan(), true), "europe, DE "));
  }

  TEST_CASE("pools that stand at one level say what the other levels would do") {
    plan::Plan plan = small_plan();
    for (const std::int64_t batch : {24, 64, 96}) {
      plan::Table& other = *plan.add_tables();
      other.CopyFrom(plan.tables(0));
      other.set_max_num_seqs(batch);
      for (int i = 0; i < other.capacity_size(); ++i) {
        other.set_capacity(i, other.capacity(i) * batch / 48);
      }
      // Berlin is 9 ms and New York 7.5 ms away.
      for (plan::Reach& reach : *other.mutable_reach()) {
        if (batch == 96) reach.set_rtt_us(7'000);
      }
    }

    const std::string text = show_plan(plan);

    CHECK(
        contains(text, "all 2 pools of chat stand at batch 48 and a wait of 20 ms: "));
    CHECK(contains(text, "of 3 other levels of their profiles 1 carry less in each"));
    CHECK(contains(text,
                   "1 carry more but do not reach all whom these pools serve, up "
                   "to 9 ms away"));
    CHECK(contains(text, "1 carry as much and reach them"));
  }

  TEST_CASE("what coverage costs is told, also where nobody is left out") {
    plan::Plan plan = small_plan();
    plan::Coverage& row = *plan.add_coverage();
    row.set_demand("india");
    row.set_least(0.9);
    row.set_users(200'000);
    row.set_usd_micro_per_user_left_out(2'000'000);
    row.set_serving_usd_micro(50'000'000'000);
    const std::string text = show_plan(plan);

    CHECK(
        contains(text, "coverage of india: 0 of 200000 users left out, 90 % must be"));
    CHECK(contains(text, "counts $2.0000 a month, serving one costs about $0.2500"));
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
