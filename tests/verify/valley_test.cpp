// Batch jobs in the valleys of a pool that is paid at all hours.
//
// By hand. Reykjavik keeps UTC all year, and its desk works from 8 to 20 h: the pool is
// idle for 12 h a day, of which a gang works 11 h 50 min = 710 minutes (ten to go on),
// 710 / 1440 * 730 = 359.9 h a month. 20 jobs of 16 h on 4 GPUs (1,280 GPU-hours) are
// 320 h: one gang does. A job of 960 minutes that starts just before the valley closes
// waits 730 minutes then and once more a day later: 960 + 2 * 730 = 2,420
// minutes, 40.33 h.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "place/plan_file/show.h"
#include "place/verify/verify.h"
#include "tests/verify/planned.h"

namespace isochrone::verify {
namespace {

scenarios::Scenario desk(int gpu_hours, int deadline_hours) {
  return asked(fmt::format(R"(
name: desk-by-day
headroom: 1.0
horizon: {{order_date: 2026-12-01, start: 2027-03-01, months: 12}}
workloads:
  - {{name: score, kind: service, service_ms: {{lognormal: {{mean: 20, p99: 90}}}},
     streams_per_gpu: 4, data: [none], slo: {{e2e_p95_ms: 900}}}}
  - {{name: train, kind: batch, data: [none],
     batch: {{gpu_hours_month: {}, jobs_month: 20, reference_gpu: L40S-48GB,
             gang_gpus: 4, deadline_hours: {}, data_from: [IS]}}}}
demand:
  - {{name: desk, workload: score, at: {{city: Reykjavík, country: IS}}, rps_peak: 1800,
     daily_profile: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0],
     access: none}}
sites:
  only: ["one/*"]
  add:
    - {{name: one/reykjavik, city: Reykjavík, country: IS,
       offers: [{{gpu: L40S-48GB, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 1.5, available_gpus: 64, lead_time_days: 10}}]}}
terms: {{allow: [on_demand]}}
residency: {{mode: off}}
simulate: {{max_requests: 100000}}
optimize: {{work: quick}}
)",
                           gpu_hours, deadline_hours));
}

void check_faultless(const plan::Plan& plan, const scenarios::Scenario& question) {
  for (const Fault& fault : verify(plan, question, world()).faults) {
    FAIL_CHECK(fault.where << ": " << fault.message);
  }
}

TEST_SUITE("place/valleys") {
  TEST_CASE("jobs run at night on GPUs that the day pays, in time and for nothing") {
    const scenarios::Scenario question = desk(1280, 41);
    const plan::Plan plan = planned_for(question);

    check_faultless(plan, question);
    REQUIRE(plan.valleys_size() == 1);
    const plan::Valley& valley = plan.valleys(0);
    CHECK(plan.pools_size() == 1);
    CHECK(valley.gangs(20) == static_cast<std::uint32_t>(plan.pools(0).gpus() / 4));
    CHECK(valley.gangs(19) < valley.gangs(20));
    CHECK(valley.gangs_used() == 1);
    CHECK(valley.hours_month() == doctest::Approx(359.93).epsilon(1e-4));
    CHECK(valley.longest_hours() == doctest::Approx(2420.0 / 60));
    // 1,280 GPU-hours at $1.5.
    CHECK(valley.rented_usd_micro() == 1'920'000'000);
    CHECK(plan.totals().bill_usd_micro() ==
          plan.pools(0).gpus() * plan.pools(0).bill_usd_micro_per_gpu_month());
    CHECK(plan.bound().objective_usd_micro() <= plan.totals().objective_usd_micro());
    CHECK(place::show_plan(plan).find("train runs in the valleys of score at "
                                      "one/reykjavik: 4 of its ") != std::string::npos);
  }

  // 20 jobs of 20 h are 400 h, more than one gang's 359.9: two gangs, 719.9 h.
  TEST_CASE("as many gangs are used as the jobs need") {
    const scenarios::Scenario question = desk(1600, 100);
    const plan::Plan plan = planned_for(question);

    check_faultless(plan, question);
    REQUIRE(plan.valleys_size() == 1);
    CHECK(plan.valleys(0).gangs_used() == 2);
    CHECK(plan.valleys(0).hours_month() == doctest::Approx(719.86).epsilon(1e-4));
  }

  TEST_CASE("jobs whose pauses would miss the deadline rent GPUs of their own") {
    const scenarios::Scenario question = desk(1280, 40);
    const plan::Plan plan = planned_for(question);

    check_faultless(plan, question);
    CHECK(plan.valleys_size() == 0);
    CHECK(plan.pools_size() == 2);
  }

  TEST_CASE("every altered number of a valley is named") {
    const scenarios::Scenario question = desk(1280, 41);
    const plan::Plan plan = planned_for(question);
    REQUIRE(plan.valleys_size() == 1);
    const auto found = [&](auto change) {
      plan::Plan altered = plan;
      change(*altered.mutable_valleys(0));
      const auto faults = verify(altered, question, world()).faults;
      return std::ranges::any_of(faults, [](const Fault& fault) {
        return fault.where.starts_with("valleys[0]") || fault.where == "pools.workload";
      });
    };

    CHECK(found([](plan::Valley& v) { v.set_workload("score"); }));
    CHECK(found([](plan::Valley& v) { v.set_pool(7); }));
    CHECK(found([](plan::Valley& v) { v.set_gang_gpus(3); }));
    CHECK(found([](plan::Valley& v) { v.set_hours_per_job(15); }));
    CHECK(found([](plan::Valley& v) { v.set_gangs(12, v.gangs(12) + 1); }));
    CHECK(found([](plan::Valley& v) { v.set_gangs_used(2); }));
    CHECK(found([](plan::Valley& v) { v.set_gangs_used(0); }));
    CHECK(found([](plan::Valley& v) { v.set_hours_month(400); }));
    CHECK(found([](plan::Valley& v) { v.set_longest_hours(16); }));
    CHECK(found([](plan::Valley& v) { v.set_rented_usd_micro(1); }));
  }

  TEST_CASE("jobs that are neither rented for nor in a valley are missed") {
    const scenarios::Scenario question = desk(1280, 41);
    plan::Plan plan = planned_for(question);
    plan.clear_valleys();

    const auto faults = verify(plan, question, world()).faults;
    CHECK(std::ranges::any_of(
        faults, [](const Fault& fault) { return fault.where == "pools.workload"; }));
  }
}

}  // namespace
}  // namespace isochrone::verify
