// A plan that stands on a step profile: what it says of the band of its step times and
// of the licence of its cards is found when altered.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "place/plan_file/show.h"
#include "place/verify/verify.h"
#include "tests/verify/planned.h"

namespace isochrone::verify {
namespace {

constexpr const char* kQuestion = R"(
name: gaming-cards
seed: 5
headroom: 1.1
horizon: {order_date: 2026-12-01, start: 2027-11-01, months: 12}
regions: {centre: [FR, DE]}
workloads:
  - name: chat
    kind: llm
    model: llama-3.1-8b
    input_tokens: {constant: 300}
    output_tokens: {constant: 80}
    connection: warm
    data: [none]
    slo: {ttft_p95_ms: 900, tpot_p95_ms: 50}
demand:
  - {name: people, workload: chat, users: {DE: 90000, FR: 60000}, metros_max: 3,
     requests_per_user_day: 6, daily_profile: consumer,
     burstiness: {cv: 1.1, correlation_min: 10}}
sites:
  only: ["one/*", "two/*"]
  add:
    - {name: one/frankfurt, city: Frankfurt am Main, country: DE,
       offers: [{gpu: RTX4090-24GB, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 0.5, available_gpus: 90, lead_time_days: 10}]}
    - {name: two/paris, city: Paris, country: FR,
       offers: [{gpu: RTX4090-24GB, shape_gpus: 1, term: on_demand,
                 usd_per_gpu_hour: 0.6, available_gpus: 90, lead_time_days: 10}]}
terms: {allow: [on_demand]}
residency: {mode: off}
resilience: {survive: site, degraded: {ttft_p95_ms: 2000}}
simulate: {max_requests: 200000}
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

bool names(const plan::Plan& plan, const std::string& where) {
  for (const Fault& fault : verify(plan, question(), world()).faults) {
    if (fault.where.starts_with(where)) return true;
  }
  return false;
}

TEST_SUITE("place/engine_plan") {
  TEST_CASE("the plan has no fault, and slower engines need no fewer GPUs") {
    const plan::Plan& plan = planned();

    for (const Fault& fault : verify(plan, question(), world()).faults) {
      FAIL_CHECK(fault.where << ": " << fault.message);
    }
    REQUIRE(plan.step_times_size() == 2);
    CHECK(plan.step_times(0).gpus() <= plan.totals().gpus());
    CHECK(plan.step_times(1).gpus() > plan.step_times(0).gpus());
    CHECK(plan.step_times(1).bill_usd_micro() > plan.step_times(0).bill_usd_micro());
  }

  TEST_CASE("every altered number of the band is named") {
    for (int i = 0; i < 2; ++i) {
      const std::string where = fmt::format("step_times[{}]", i);
      CAPTURE(where);
      for (const int by : {-1, 1}) {
        plan::Plan more = planned();
        plan::StepTimeCase& row = *more.mutable_step_times(i);
        row.set_replicas(0, row.replicas(0) + by);
        CHECK(names(more, where + ".replicas[0]"));
      }
      plan::Plan sum = planned();
      plan::StepTimeCase& row = *sum.mutable_step_times(i);
      row.set_name(row.name() + "er");
      row.set_gpus(row.gpus() + 1);
      row.set_bill_usd_micro(row.bill_usd_micro() + 1);
      row.set_bill_low_usd_micro(row.bill_low_usd_micro() - 1);
      row.set_bill_high_usd_micro(row.bill_high_usd_micro() + 1);
      for (const char* field : {".name", ".gpus", ".bill_usd_micro",
                                ".bill_low_usd_micro", ".bill_high_usd_micro"}) {
        CHECK(names(sum, where + field));
      }
    }
    plan::Plan band = planned();
    band.mutable_pools(0)->set_step_error_pct(1);
    CHECK(names(band, "pools[0].step_error_pct"));
    plan::Plan silent = planned();
    silent.clear_step_times();
    CHECK(names(silent, "step_times"));
  }

  TEST_CASE("a card whose driver is not licensed for data centres is warned of") {
    CHECK(place::show_plan(planned()).find("not licensed for data centres") !=
          std::string::npos);
    plan::Plan silent = planned();
    silent.clear_warnings();
    CHECK(names(silent, "warnings"));
  }
}

}  // namespace
}  // namespace isochrone::verify
