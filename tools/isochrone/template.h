#pragma once

#include <string_view>

namespace isochrone::tools {

/// What `isochrone init` writes: a small scenario that validates and plans.
inline constexpr std::string_view kScenarioTemplate =
    R"(# A chat assistant for two countries. Every field: `isochrone help FIELD`.
name: my-service
seed: 42
headroom: 1.15            # capacity above the 10-minute peak

horizon: {order_date: 2026-12-01, start: 2027-04-01, months: 12}

workloads:
  - name: chat
    kind: llm
    model: llama-3.1-8b
    input_tokens:  {lognormal: {mean: 600, p99: 4000}}
    output_tokens: {lognormal: {mean: 250, p99: 1200}}
    connection: warm
    payload: {up_kb: 4, down_bytes_per_token: 200}
    data: [general]
    slo: {ttft_p95_ms: 800, tpot_p95_ms: 33}

demand:
  - name: users
    workload: chat
    users: {DE: 200000, FR: 150000}
    requests_per_user_day: 6
    daily_profile: consumer
    access: country

sites:
  class: [rentable]
  prices: allow_estimates
  default_available_gpus: 256
  fixed_usd_site_month: 2000

terms:
  allow: [on_demand, reserved_1y]
  discount: {reserved_1y: {low: 0.25, mid: 0.35, high: 0.45}}

residency:
  mode: law
  law: {mechanisms: [adequacy], unknown: deny}

resilience: {survive: site, degraded: {ttft_p95_ms: 1500, tpot_p95_ms: 50}}
limits: {max_sites: 6}
)";

}  // namespace isochrone::tools
