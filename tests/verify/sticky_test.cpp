// Sessions that stay at their site: shares that are the same at all hours.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "place/verify/verify.h"
#include "tests/verify/planned.h"

namespace isochrone::verify {
namespace {

/// Two sites that both serve Europe and America, whose days are six hours apart.
scenarios::Scenario two_shores(const std::string& sticky) {
  return asked(R"(
name: two-shores
headroom: 1.0
horizon: {order_date: 2026-12-01, start: 2027-03-01, months: 12}
workloads:
  - {name: score, kind: service, service_ms: {lognormal: {mean: 20, p99: 90}},
     streams_per_gpu: 4, data: [none], slo: {e2e_p95_ms: 900},
     payload: {down_kb: 20}, session: {turns: 3, think_s: 20, sticky: )" +
               sticky + R"(}}
demand:
  - {name: people, workload: score, users: {DE: 900000, US: 900000}, metros_max: 8,
     requests_per_user_day: 125, daily_profile: office, access: none}
sites:
  only: ["one/*", "two/*"]
  add:
    - {name: one/frankfurt, city: Frankfurt am Main, country: DE,
       offers: [{gpu: L40S-48GB, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 1.5, available_gpus: 32, lead_time_days: 10}]}
    - {name: two/ashburn, city: Ashburn, country: US,
       offers: [{gpu: L40S-48GB, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 1.5, available_gpus: 32, lead_time_days: 10}]}
terms: {allow: [on_demand]}
residency: {mode: off}
simulate: {max_requests: 100000}
optimize: {work: quick}
)");
}

bool steady(const plan::Plan& plan) {
  return std::ranges::all_of(plan.assignments(), [](const plan::Assignment& one) {
    return std::ranges::adjacent_find(one.share_ppb(), std::ranges::not_equal_to{}) ==
           one.share_ppb().end();
  });
}

TEST_SUITE("place/sticky") {
  TEST_CASE("sessions that stay have the same shares at all hours, and no fault") {
    const scenarios::Scenario question = two_shores("site");
    const plan::Plan plan = planned_for(question);

    CHECK(plan.sites_size() == 2);  // neither has stock for all
    CHECK(steady(plan));
    for (const Fault& fault : verify(plan, question, world()).faults) {
      FAIL_CHECK(fault.where << ": " << fault.message);
    }
  }

  TEST_CASE("a plan whose shares follow the sun is no answer for sessions that stay") {
    const plan::Plan plan = planned_for(two_shores("none"));

    CHECK_FALSE(steady(plan));
    const auto faults = verify(plan, two_shores("site"), world()).faults;
    CHECK(std::ranges::any_of(faults, [](const Fault& fault) {
      return fault.message.find("sessions stay") != std::string::npos;
    }));
  }
}

}  // namespace
}  // namespace isochrone::verify
