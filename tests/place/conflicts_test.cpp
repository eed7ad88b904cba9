#include <string>

#include <doctest/doctest.h>

#include "place/planner/planner.h"
#include "scenarios/scenario.h"

namespace isochrone::place {
namespace {

TEST_SUITE("place/conflicts") {
  TEST_CASE("a job that no offer fits is told why, by the commonest reasons") {
    const auto catalog =
        datasets::Catalog::load(std::string(ISOCHRONE_ROOT) + "/datasets");
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
                                  "late.yaml", ".", catalog);

    const Planned planned = make_plan(scenario, catalog, {});

    REQUIRE(planned.ending == Ending::kInfeasible);
    REQUIRE(planned.plan.conflicts_size() > 0);
    CHECK(planned.plan.conflicts(0).text().find(
              "1 offers: a job takes 1000 h on 8 H100-80GB-SXM, the deadline is 1 h") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace isochrone::place
