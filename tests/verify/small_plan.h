#pragma once

#include "place/plan.pb.h"

namespace isochrone::place {

/// A plan of two sites and two metros, small enough to add up by hand.
///   Frankfurt: 5 replicas of tp 4 in groups of 8 -> 24 GPUs at $2 an hour
///              -> 24 x 2 x 730 = $35,040; Ashburn: 1 replica -> 8 GPUs -> $11,680.
///   With $2,000 fixed per site the bill is 35,040 + 11,680 + 4,000 = $50,720.
///   A(n)/n of the table: 3.2, 3.5, 3.9, 4.1 requests/s at n = 1, 2, 4, 8, so 5
///   replicas carry 5 x (3.9 + 0.2 x 1/4) = 19.75 and one carries 3.2. Use: Berlin's 10
///   of 19.75 = 0.50633, New York's 2 of 3.2 = 0.625.
inline plan::Plan small_plan() {
  constexpr std::int64_t kUsd = 1'000'000;
  plan::Plan plan;
  plan.set_format(1);
  plan.set_scenario("two-metros");
  plan.set_status("planned");
  plan.set_reproducible(true);
  plan.set_scenario_normalised("{}");
  // printf '{}' | sha256sum
  plan.mutable_provenance()->set_scenario_hash(
      "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  plan.mutable_provenance()->set_release("0.1.0");
  plan.mutable_provenance()->set_seed(42);
  const auto add_site = [&](const char* name, const char* city, const char* country,
                            double lat, double lon) {
    plan::Site* site = plan.add_sites();
    site->set_name(name);
    site->set_city(city);
    site->set_country(country);
    site->set_lat(lat);
    site->set_lon(lon);
    site->set_fixed_usd_micro(2000 * kUsd);
  };
  add_site("acme/frankfurt", "Frankfurt am Main", "DE", 50.11, 8.68);
  add_site("best/ashburn", "Ashburn, \"VA\"", "US", 39.04, -77.49);
  const auto add_pool = [&](unsigned site, std::int64_t replicas, std::int64_t gpus,
                            std::int64_t capacity, double use) {
    plan::Pool* pool = plan.add_pools();
    pool->set_site(site);
    pool->set_workload("chat");
    pool->set_profile("llama-3.1-70b/H100-80GB-SXM/tp4/fp8");
    pool->set_gpu("H100-80GB-SXM");
    pool->set_tensor_parallel(4);
    pool->set_precision("fp8");
    pool->set_shape_gpus(8);
    pool->set_term("on_demand");
    pool->set_price_basis("quote");
    pool->set_usd_micro_per_gpu_hour(2 * kUsd);
    pool->set_bill_usd_micro_per_gpu_month(1460 * kUsd);
    pool->set_replicas(replicas);
    pool->set_gpus(gpus);
    pool->set_max_num_seqs(48);
    pool->set_wait_budget_ms(20);
    pool->set_capacity(capacity);
    pool->set_available_gpus(-1);
    pool->set_degraded_capacity(capacity);
    pool->set_peak_utilisation(use);
  };
  add_pool(0, 5, 24, 19'750'000, 10 / 19.75);
  add_pool(1, 1, 8, 3'200'000, 2 / 3.2);
  plan::Table* table = plan.add_tables();
  table->set_workload("chat");
  table->set_profile("llama-3.1-70b/H100-80GB-SXM/tp4/fp8");
  table->set_max_num_seqs(48);
  table->set_wait_budget_ms(20);
  const std::int64_t support[][2] = {
      {1, 3'200'000}, {2, 7'000'000}, {4, 15'600'000}, {8, 32'800'000}};
  for (const auto& [replicas, capacity] : support) {
    table->add_replicas(replicas);
    table->add_capacity(capacity);
    table->add_degraded_capacity(capacity);
  }
  for (const char* country : {"DE", "US"}) {
    plan::Reach* reach = table->add_reach();
    reach->set_demand("consumers");
    reach->set_country(country);
    reach->set_rtt_us(120'000);
    reach->set_degraded_rtt_us(900'000);
  }
  const auto add_population = [&](const char* metro, const char* country, double users,
                                  double lat, double lon, std::int64_t load) {
    plan::Population* population = plan.add_populations();
    population->set_demand("consumers");
    population->set_workload("chat");
    population->set_metro(metro);
    population->set_country(country);
    population->set_lat(lat);
    population->set_lon(lon);
    population->set_users(users);
    for (int block = 0; block < 24; ++block) population->add_load(load);
  };
  add_population("de-berlin", "DE", 300000, 52.52, 13.405, 10 * kUsd);
  add_population("us-new-york", "US", 60000, 40.71, -74.01, 2 * kUsd);
  const auto assign = [&](const char* metro, const char* country, unsigned pool,
                          std::int64_t rtt_us) {
    plan::Assignment* assignment = plan.add_assignments();
    assignment->set_demand("consumers");
    assignment->set_metro(metro);
    assignment->set_country(country);
    assignment->set_pool(pool);
    assignment->set_rtt_us(rtt_us);
    assignment->set_rtt_basis("modelled");
    assignment->set_reach_us(120'000);
    assignment->set_degraded_reach_us(900'000);
    for (int block = 0; block < 24; ++block) assignment->add_share_ppb(1'000'000'000);
  };
  assign("de-berlin", "DE", 0, 9'000);
  assign("us-new-york", "US", 1, 7'500);
  const auto bill = [&](const char* kind, const char* site, std::int64_t usd) {
    plan::BillLine* line = plan.add_bill();
    line->set_kind(kind);
    line->set_site(site);
    line->set_usd_micro(usd * kUsd);
    line->set_in_bill(true);
  };
  bill("gpu", "acme/frankfurt", 35'040);
  bill("gpu", "best/ashburn", 11'680);
  bill("fixed", "acme/frankfurt", 2'000);
  bill("fixed", "best/ashburn", 2'000);
  plan.mutable_totals()->set_bill_usd_micro(50'720 * kUsd);
  plan.mutable_totals()->set_objective_usd_micro(50'720 * kUsd);
  plan.mutable_totals()->set_horizon_usd_micro(50'720 * kUsd * 12);
  plan.mutable_totals()->set_bill_low_usd_micro(50'720 * kUsd);
  plan.mutable_totals()->set_bill_high_usd_micro(50'720 * kUsd);
  plan.mutable_totals()->set_gpus(32);
  plan.mutable_totals()->set_replicas(6);
  plan.mutable_bound()->set_objective_usd_micro(50'000 * kUsd);
  plan.mutable_bound()->set_gap_ppm(14'195);
  plan.add_warnings("the whole spend rests on quotes");
  return plan;
}

}  // namespace isochrone::place
