// The plan at both ends of the bands of its step times, worked out by hand on a table
// in which every replica carries 10 requests a second, 12 during a loss.
#include <string>

#include <doctest/doctest.h>

#include "place/planner/assemble.h"
#include "place/planner/tables.h"
#include "scenarios/scenario.h"
#include "tests/place/world.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kRps = 1'000'000;

scenarios::Scenario scenario_surviving(const std::string& what) {
  return scenarios::parse_scenario(R"(name: bands
headroom: 1
horizon: {order_date: 2026-12-01, start: 2027-03-01, months: 12}
workloads: [{name: w, kind: service, service_ms: {constant: 10}, streams_per_gpu: 1,
             data: [none], slo: {e2e_p95_ms: 1000}}]
demand: [{name: d, workload: w, users: {US: 1000000}, metros_max: 1,
          requests_per_user_day: 1, daily_profile: flat, access: none}]
sites: {only: [aws/us-east-1]}
terms: {allow: [on_demand]}
residency: {mode: off}
resilience: {survive: )" + what + "}\n",
                                   "bands.yaml", ".", world());
}

/// Ten L40S that carry 100 requests a second, with a peak of 80 and a band of 25 %.
plan::Plan ten_replicas() {
  plan::Plan plan;
  plan.add_sites()->set_name("aws/us-east-1");
  plan::Table& table = *plan.add_tables();
  for (const std::int64_t n : kSupport) {
    table.add_replicas(n);
    table.add_capacity(10 * kRps * n);
    table.add_degraded_capacity(12 * kRps * n);
  }
  plan::Pool& pool = *plan.add_pools();
  pool.set_gpu("L40S-48GB");
  pool.set_shape_gpus(1);
  pool.set_tensor_parallel(1);
  pool.set_term("on_demand");
  pool.set_replicas(10);
  pool.set_gpus(10);
  pool.set_capacity(100 * kRps);
  pool.set_degraded_capacity(120 * kRps);
  pool.set_step_error_pct(25);
  // 1.861 $/h x 730 h, the price of an L40S alone at aws/us-east-1.
  pool.set_bill_usd_micro_per_gpu_month(1'358'530'000);
  plan::Population& users = *plan.add_populations();
  users.set_demand("d");
  users.set_metro("somewhere");
  plan::Assignment& all = *plan.add_assignments();
  all.set_demand("d");
  all.set_metro("somewhere");
  for (int block = 0; block < 24; ++block) {
    users.add_load(block == 9 ? 80 * kRps : 50 * kRps);
    all.add_share_ppb(1'000'000'000);
  }
  plan.mutable_totals()->set_gpus(10);
  plan.mutable_totals()->set_bill_usd_micro(13'585'300'000);
  plan.mutable_totals()->set_bill_low_usd_micro(13'585'300'000);
  plan.mutable_totals()->set_bill_high_usd_micro(13'585'300'000);
  return plan;
}

plan::Plan sized(plan::Plan plan, const std::string& survive) {
  const scenarios::Scenario scenario = scenario_surviving(survive);
  add_step_times(Question::ask(scenario, world()), plan);
  return plan;
}

TEST_SUITE("place/step_times") {
  TEST_CASE("without losses the peak alone decides the sizes") {
    const plan::Plan plan = sized(ten_replicas(), "none");

    REQUIRE(plan.step_times_size() == 2);
    // 80 x 0.75 = 60 and 80 x 1.25 = 100 requests a second at 10 each.
    CHECK(plan.step_times(0).replicas(0) == 6);
    CHECK(plan.step_times(0).gpus() == 6);
    CHECK(plan.step_times(0).bill_usd_micro() == 8'151'180'000);  // 6 x 1,358.53
    CHECK(plan.step_times(1).replicas(0) == 10);
    CHECK(plan.step_times(1).bill_usd_micro() == 13'585'300'000);
  }

  TEST_CASE("of degraded capacity the part that the tightest loss uses must remain") {
    plan::Plan plan = ten_replicas();
    for (const std::int64_t need : {50, 90, 70}) {
      plan::Cut& cut = *plan.add_drills()->mutable_tightest();
      cut.set_need(need);
      cut.set_left(100);
    }
    plan = sized(plan, "site");

    // 0.9 x 120 = 108 during a loss; 108 x 0.75 = 81 and 108 x 1.25 = 135 at 12 each.
    CHECK(plan.step_times(0).replicas(0) == 7);
    CHECK(plan.step_times(1).replicas(0) == 12);
    CHECK(plan.step_times(1).gpus() == 12);
    CHECK(plan.step_times(1).bill_usd_micro() == 16'302'360'000);
  }

  TEST_CASE("where losses are not drilled all of the degraded capacity must remain") {
    const plan::Plan plan = sized(ten_replicas(), "site");

    // 120 x 0.75 = 90 and 120 x 1.25 = 150 at 12 each.
    CHECK(plan.step_times(0).replicas(0) == 8);
    CHECK(plan.step_times(1).replicas(0) == 13);
  }

  TEST_CASE("a plan without step profiles has no bands to tell of") {
    plan::Plan plan = ten_replicas();
    plan.mutable_pools(0)->set_step_error_pct(0);

    CHECK(sized(plan, "none").step_times().empty());
  }
}

}  // namespace
}  // namespace isochrone::place
