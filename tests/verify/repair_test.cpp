// Users who all reach two sites, and whose two sites are short together after a loss:
// the plan must be made larger, say for whom, and live through the loss.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "place/plan_file/show.h"
#include "place/verify/verify.h"
#include "tests/verify/planned.h"

namespace isochrone::verify {
namespace {

/// Three cities in a triangle of quick round trips, one site in each. Warsaw is dear,
/// so days without a loss need little of it; but without Frankfurt or Paris the other
/// two must carry all three cities.
constexpr const char* kQuestion = R"(
name: triangle
seed: 3
headroom: 1.1
horizon: {order_date: 2026-12-01, start: 2027-11-01, months: 12}
regions: {centre: [FR, DE, PL]}
workloads:
  - name: chat
    kind: llm
    rate: {tokens_per_s: 50, streams_per_gpu: 8, prefill_tokens_per_s: 8000}
    input_tokens: {constant: 400}
    output_tokens: {constant: 100}
    connection: warm
    data: [none]
    slo: {ttft_p95_ms: 600}
demand:
  - {name: people, workload: chat, users: {DE: 160000, FR: 120000, PL: 90000},
     metros_max: 6, requests_per_user_day: 8, daily_profile: consumer,
     burstiness: {cv: 1.1, correlation_min: 10}}
sites:
  only: ["one/*", "two/*", "three/*"]
  fixed_usd_site_month: 1000
  add:
    - {name: one/frankfurt, city: Frankfurt am Main, country: DE,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 2.0, available_gpus: 200, lead_time_days: 10}]}
    - {name: two/paris, city: Paris, country: FR,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 2.1, available_gpus: 200, lead_time_days: 10}]}
    - {name: three/warsaw, city: Warsaw, country: PL,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 2.9, available_gpus: 200, lead_time_days: 10}]}
terms: {allow: [on_demand]}
residency: {mode: off}
resilience: {survive: site, degraded: {ttft_p95_ms: 1200}}
simulate: {max_requests: 2000000}
optimize: {work: quick}
)";

const scenarios::Scenario& question() {
  static const scenarios::Scenario kScenario = asked(kQuestion);
  return kScenario;
}

const plan::Plan& planned() {
  static const plan::Plan kPlan = planned_for(question());
  return kPlan;
}

TEST_SUITE("place/repair") {
  TEST_CASE("everybody reaches two sites of the plan and the plan has no fault") {
    const plan::Plan& plan = planned();

    for (const Fault& fault : verify(plan, question(), world()).faults) {
      FAIL_CHECK(fault.where << ": " << fault.message);
    }
    CHECK(plan.sites_size() >= 2);
    for (const plan::Assignment& assigned : plan.assignments()) {
      std::set<std::uint32_t> sites;
      for (const plan::Pool& pool : plan.pools()) {
        for (const plan::Reach& reach :
             plan.tables(static_cast<int>(pool.table())).reach()) {
          // No two cities of the triangle are farther apart than 60 ms.
          if (reach.country() == assigned.country() && reach.rtt_us() > 60'000) {
            sites.insert(pool.site());
          }
        }
      }
      CHECK(sites.size() >= 2);
    }
  }

  TEST_CASE("the cut that a loss violates is named with need, shortage and remedy") {
    const plan::Plan& plan = planned();

    REQUIRE(plan.repairs().cuts_size() >= 1);
    for (const plan::Repair& repair : plan.repairs().cuts()) {
      CAPTURE(repair.ShortDebugString());
      CHECK(repair.cut().populations_size() > 0);
      CHECK(repair.had() < repair.cut().need());
      CHECK(repair.cut().need() <= repair.cut().left());
    }
  }

  TEST_CASE("the summary tells it in a sentence") {
    const plan::Plan& plan = planned();
    REQUIRE(plan.repairs().cuts_size() >= 1);
    const std::string summary = place::show_plan(plan);

    INFO(summary);
    CHECK(summary.find("made larger to survive a loss") != std::string::npos);
    CHECK(summary.find("without " + plan.repairs().cuts(0).element()) !=
          std::string::npos);
  }

  TEST_CASE("the loss of a repaired element is drilled and met") {
    const plan::Plan& plan = planned();

    for (const plan::Repair& repair : plan.repairs().cuts()) {
      CAPTURE(repair.element());
      const auto drill =
          std::ranges::find(plan.drills(), repair.element(), &plan::Drill::element);
      REQUIRE(drill != plan.drills().end());
      REQUIRE(drill->cells_size() > 0);
      for (const plan::Cell& cell : drill->cells()) CHECK(cell.verdict() == "met");
    }
  }

  TEST_CASE("without the loss to survive the same question costs less") {
    std::string carefree = kQuestion;
    const std::string from = "survive: site";
    carefree.replace(carefree.find(from), from.size(), "survive: none");
    const plan::Plan plan = planned_for(asked(carefree));

    CHECK(plan.totals().objective_usd_micro() <
          planned().totals().objective_usd_micro());
    CHECK(plan.repairs().cuts().empty());
  }
}

}  // namespace
}  // namespace isochrone::verify
