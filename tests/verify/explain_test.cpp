#include "place/plan_file/explain.h"

#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "tests/verify/small_plan.h"

namespace isochrone::place {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// Berlin sends a quarter of its requests to Ashburn, whose loss is drilled.
plan::Plan explained_plan() {
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
  plan::Drill& drill = *plan.add_drills();
  drill.set_element("best/ashburn");
  drill.set_block(14);
  drill.set_load(12'000'000);
  drill.set_surviving_capacity(19'750'000);
  drill.mutable_tightest()->add_populations(0);
  drill.mutable_tightest()->set_need(12);
  drill.mutable_tightest()->set_left(16);
  plan::Cell& cell = *drill.add_cells();
  cell.set_region("america");
  cell.set_workload("chat");
  cell.set_objective("ttft_p95_ms");
  cell.set_limit_ms(900);
  cell.set_attained(0.97);
  cell.set_verdict("met");
  plan::Cell::Part& wan = *cell.add_parts();
  wan.set_name("wan");
  wan.set_ns(90'500'000);
  return plan;
}

TEST_SUITE("place/explain") {
  TEST_CASE("a site shows its pools, bill, users and what happens without it") {
    const std::string text = explain_site(explained_plan(), "best/ashburn");

    CHECK(contains(text, "best/ashburn: Ashburn, \"VA\", US"));
    CHECK(contains(text, "8 H100-80GB-SXM"));
    CHECK(contains(text, "$11,680"));
    CHECK_FALSE(contains(text, "$35,040"));  // Frankfurt's rent
    // A quarter of Berlin, 95 ms away, and all of New York, 7.5 ms away.
    CHECK(contains(text, "25.0 %         95.0      95.0"));
    CHECK(contains(text, "100.0 %          7.5       7.5"));
    CHECK(contains(text, "without best/ashburn, at 14 UTC: 12.0 rps asked, 19.8"));
    CHECK(contains(text, "75 % of what they have left; 1 of 1 objectives"));
  }

  TEST_CASE("a region shows where its data go and its objectives, with their parts") {
    const std::string europe = explain_region(explained_plan(), "europe");
    const std::string america = explain_region(explained_plan(), "america");

    CHECK(contains(europe, "europe: 300000 users in 1 metros"));
    CHECK(contains(europe, "acme/frankfurt"));
    CHECK_FALSE(contains(europe, "America"));
    CHECK(contains(america, "without best/ashburn"));
    CHECK(contains(america, "97.00 %"));
    CHECK(contains(america, "wan 90.5"));
  }

  TEST_CASE("a name that the plan lacks is refused with the nearest") {
    CHECK_THROWS_WITH_AS(explain_site(small_plan(), "acme/frankfort"),
                         doctest::Contains("did you mean \"acme/frankfurt\"?"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(explain_region(explained_plan(), "eurpe"),
                         doctest::Contains("did you mean \"europe\"?"),
                         std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::place
