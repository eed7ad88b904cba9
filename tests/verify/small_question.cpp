#include "tests/verify/honest_plan.h"

namespace isochrone::verify {
namespace {

constexpr const char* kQuestion = R"(
name: three-cities
seed: 7
headroom: 1.2
horizon: {order_date: 2026-12-01, start: 2027-03-01, months: 12}
regions: {west: [FR, DE]}
workloads:
  - name: chat
    kind: llm
    rate: {tokens_per_s: 50, streams_per_gpu: 24, prefill_tokens_per_s: 8000}
    input_tokens: {constant: 400}
    output_tokens: {constant: 100}
    connection: cold_quic
    payload: {up_kb: 4, down_bytes_per_token: 200, down_kb: 10}
    data: [general]
    requires: {memory_gb: 40}
    slo: {ttft_p95_ms: 700, tpot_p95_ms: 33, e2e_p90_ms: 3000}
  - name: train
    kind: batch
    batch: {gpu_hours_month: 2000, jobs_month: 4, reference_gpu: H100-80GB-SXM,
            gang_gpus: 16, deadline_hours: 72, data_from: [DE], data_tb: 1}
    data: [general]
demand:
  - {name: people, workload: chat, users: {DE: 60000, FR: 40000}, metros_max: 6,
     requests_per_user_day: 6, daily_profile: consumer,
     burstiness: {cv: 1.2, correlation_min: 10}, coverage: 0.97,
     unserved_usd_user_month: 3}
sites:
  only: ["acme/*", "best/*"]
  fixed_usd_site_month: 2000
  add:
    - {name: acme/frankfurt, city: Frankfurt am Main, country: DE,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 8, term: on_demand,
                 usd_per_gpu_hour: 2.5, available_gpus: 64, lead_time_days: 10}]}
    - {name: best/dublin, city: Dublin, country: IE,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 4, term: on_demand,
                 usd_per_gpu_hour: 2.1, available_gpus: 64, lead_time_days: 10}]}
    - {name: best/paris, city: Paris, country: FR,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 8, term: on_demand,
                 usd_per_gpu_hour: 2.4, available_gpus: 64, lead_time_days: 10}]}
  prefer: [{provider: best, premium_usd_month: 500}]
terms: {allow: [on_demand]}
residency: {mode: policy, rules: [{from: [DE, FR], data: [general], allow: [EEA]}],
            otherwise: deny}
resilience: {survive: site, degraded: {ttft_p95_ms: 1500}}
limits: {max_sites: 3, budget_usd_month: 900000}
)";

}  // namespace

scenarios::Scenario small_question() {
  return scenarios::parse_scenario(kQuestion, "three-cities.yaml", ".", world());
}

}  // namespace isochrone::verify
