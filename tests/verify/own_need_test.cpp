// Bounds with several priced rows of survival, of sets of users of different size:
// spare capacity counts in each row to that row's need, in search and verifier alike.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "place/verify/verify.h"
#include "tests/verify/planned.h"

namespace isochrone::verify {
namespace {

/// Four countries, whose reach after a loss is hardly wider than by day.
scenarios::Scenario four_countries(int by_day_ms, int after_a_loss_ms) {
  return asked(fmt::format(R"(
name: four-countries
headroom: 1.1
horizon: {{order_date: 2026-12-01, start: 2027-04-01, months: 12}}
workloads:
  - {{name: score, kind: service, service_ms: {{lognormal: {{mean: 20, p99: 60}}}},
     streams_per_gpu: 4, data: [none], slo: {{e2e_p95_ms: {}}}}}
demand:
  - {{name: people, workload: score, users: 2000000, regions: [DE, FR, GB, ES],
     metros_max: 4, requests_per_user_day: 100, daily_profile: consumer}}
sites: {{class: [rentable], only: ["aws/eu*", "aws/us-east*"],
  default_available_gpus: 64, fixed_usd_site_month: 1000}}
terms: {{allow: [on_demand]}}
residency: {{mode: off}}
resilience: {{survive: site, degraded: {{e2e_p95_ms: {}}}}}
simulate: {{max_requests: 100000}}
optimize: {{work: quick}}
)",
                           by_day_ms, after_a_loss_ms));
}

TEST_SUITE("place/own_need") {
  TEST_CASE("the certificate proves the bound where rows have needs of their own") {
    for (const auto& [by_day_ms, after_a_loss_ms] : {std::pair(300, 320), {350, 370}}) {
      CAPTURE(by_day_ms);
      const scenarios::Scenario question = four_countries(by_day_ms, after_a_loss_ms);
      const plan::Plan plan = planned_for(question);

      CHECK(plan.certificate().rows_size() > 1);
      for (const Fault& fault : verify(plan, question, world()).faults) {
        FAIL_CHECK(fault.where << ": " << fault.message);
      }
    }
  }
}

}  // namespace
}  // namespace isochrone::verify
