#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "place/planner/planner.h"
#include "scenarios/scenario.h"
#include "tests/place/world.h"

namespace isochrone::place {
namespace {

TEST_SUITE("place/conflicts") {
  TEST_CASE("a job that no offer fits is told why, by the commonest reasons") {
    // 8,000 GPU-hours in one job on 8 GPUs last 1,000 h.
    const scenarios::Scenario scenario =
        scenarios::parse_scenario(R"(name: late
horizon: {order_date: 2026-12-01, start: 2027-03-01, months: 12}
workloads:
  - {name: job, kind: batch, data: [none],
     batch: {gpu_hours_month: 8000, jobs_month: 1, reference_gpu: H100-80GB-SXM,
             gang_gpus: 8, deadline_hours: 1, data_from: [US], data_tb: 1}}
sites:
  only: ["one/*"]
  add:
    - {name: one/ashburn, city: Ashburn, country: US,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 8, term: on_demand,
                 usd_per_gpu_hour: 2.0, available_gpus: 64, lead_time_days: 10}]}
terms: {allow: [on_demand]}
residency: {mode: off}
)",
                                  "late.yaml", ".", world());

    const Planned planned = make_plan(scenario, world(), {});

    REQUIRE(planned.ending == Ending::kInfeasible);
    REQUIRE(planned.plan.conflicts_size() > 0);
    CHECK(planned.plan.conflicts(0).text().find(
              "1 offers: a job takes 1000 h on 8 H100-80GB-SXM, the deadline is 1 h") !=
          std::string::npos);
  }

  TEST_CASE("users whom the law keeps from every site are told by country") {
    const std::string yaml = R"(name: over-the-ocean
horizon: {order_date: 2026-12-01, start: 2027-03-01, months: 12}
workloads:
  - {name: score, kind: service, service_ms: {lognormal: {mean: 20, p99: 90}},
     streams_per_gpu: 4, data: [general], slo: {e2e_p95_ms: 800}}
demand:
  - {name: people, workload: score, users: 300000, regions: [DE, FR], metros_max: 12,
     requests_per_user_day: 10, daily_profile: office,
     burstiness: {cv: 1.1, correlation_min: 5}}
sites:
  only: ["far/*"]
  add: [)" + l40s_site("far/ashburn", "Ashburn", "US", 1) +
                             R"(]
terms: {allow: [on_demand]}
residency: {mode: law, law: {mechanisms: [adequacy], unknown: deny}}
)";
    const auto ocean = [&](const std::vector<scenarios::Setting>& settings) {
      return scenarios::parse_scenario(yaml, "ocean.yaml", ".", world(), settings);
    };

    const Planned planned = make_plan(ocean({}), world(), {});

    REQUIRE(planned.ending == Ending::kInfeasible);
    REQUIRE(planned.plan.conflicts_size() == 1);
    const std::string& text = planned.plan.conflicts(0).text();
    CHECK(text.find("DE (score, ") != std::string::npos);
    CHECK(text.find("FR (score, ") != std::string::npos);
    // GDPR art. 46(2)(c) and 47, and the adequacy decision for the DPF (EU 2023/1795).
    CHECK(text.find("far/ashburn in US: no basis in the law of DE (general) admits US; "
                    "dpf (1 site) or scc (1 site) or bcr (1 site) in "
                    "residency.law.mechanisms would") != std::string::npos);
    // And with one of them it can be planned.
    CHECK(decide(ocean({{"residency.law.mechanisms", "[scc]"}}), world(), {}).ending ==
          Ending::kPlanned);
  }

  // German health data may not go to the United States without a mechanism, so Virginia
  // is no refuge.
  TEST_CASE("whom the law leaves nowhere after a loss is told so, not of stock") {
    const scenarios::Scenario scenario = scenarios::parse_scenario(
        R"(name: ward
horizon: {order_date: 2026-12-01, start: 2027-03-01, months: 12}
workloads:
  - {name: read, kind: service, service_ms: {constant: 20}, streams_per_gpu: 4,
     data: [health], slo: {e2e_p95_ms: 900}}
demand:
  - {name: desk, workload: read, at: {city: Frankfurt am Main, country: DE},
     rps_peak: 9, access: none}
sites:
  only: ["one/*", "two/*"]
  add: [)" + l40s_site("one/frankfurt", "Frankfurt am Main", "DE", 1.5) +
            ", " + l40s_site("two/ashburn", "Ashburn", "US", 1.5) + R"(]
terms: {allow: [on_demand]}
residency: {mode: law, law: {mechanisms: [], unknown: deny}}
resilience: {survive: site, degraded: {e2e_p95_ms: 900}}
optimize: {work: quick}
)",
        "ward.yaml", ".", world());

    const Planned planned = make_plan(scenario, world(), {});

    REQUIRE(planned.ending == Ending::kInfeasible);
    REQUIRE(planned.plan.conflicts_size() > 0);
    const plan::Conflict& conflict = planned.plan.conflicts(0);
    CHECK(conflict.text() ==
          "after the loss of one/frankfurt no candidate site is left where their data "
          "may go; `explain --residency DE health` says why");
    CHECK(conflict.lines_size() ==
          3);  // resilience, residency, no class but [rentable]
  }
}

}  // namespace
}  // namespace isochrone::place
