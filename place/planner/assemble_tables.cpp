#include <set>
#include <string>

#include "base/hash.h"
#include "place/planner/assembly.h"
#include "place/planner/seal.h"

namespace isochrone::place {
namespace {

void add_table(const Assembly& a, const Serving& serving, std::size_t l,
               plan::Table& table) {
  const LevelTable& level = serving.levels[l];
  const ServingOption& option = serving.options[level.option];
  table.set_workload(a.question.workload(serving.workload).name());
  table.set_profile(option.profile);
  table.set_gpu(a.question.catalog.gpus[option.gpu].id);
  table.set_max_num_seqs(level.max_num_seqs);
  table.set_wait_budget_ms(level.wait_budget_ms);
  table.set_degraded_wait_budget_ms(level.degraded_wait_budget_ms);
  table.set_wait_share(level.wait_share);
  table.set_front_end_ms(static_cast<double>(option.front_end.count()) / 1e6);
  for (std::size_t i = 0; i < level.capacity.size(); ++i) {
    table.add_replicas(kSupport[i]);
    table.add_capacity(level.capacity[i].count());
    table.add_degraded_capacity(level.degraded_capacity[i].count());
    table.add_correction(level.correction[i]);
    table.add_degraded_correction(level.degraded_correction[i]);
  }
  for (std::size_t i = 0; i < level.law.first_token.size(); ++i) {
    table.add_probability(sim::service_grid()[i]);
    table.add_first_token_ns(level.law.first_token[i].count());
    table.add_last_token_ns(level.law.last_token[i].count());
    if (i < level.law.tpot.size()) table.add_tpot_ns(level.law.tpot[i].count());
  }
  for (std::size_t i = 0; i < level.occupancy.size(); ++i) {
    table.add_occupancy(level.occupancy[i]);
    table.add_residence_s(level.residence_s[i]);
  }
  table.set_rests_on(option.rests_on);
  std::set<std::pair<std::size_t, geo::CountryCode>> users;
  for (const auto& [key, rtt] : serving.reach[l]) users.insert(key);
  for (const auto& [key, rtt] : serving.degraded_reach[l]) users.insert(key);
  for (const auto& key : users) {
    plan::Reach& reach = *table.add_reach();
    reach.set_demand(a.question.entry(key.first).name());
    reach.set_country(key.second.text());
    reach.set_rtt_us(reach_us(serving.reach[l], key));
    reach.set_degraded_rtt_us(reach_us(serving.degraded_reach[l], key));
    reach.set_reconnecting(serving.reconnecting.contains(key));
  }
}

}  // namespace

std::int64_t reach_us(const Serving::Reached& reach,
                      const std::pair<std::size_t, geo::CountryCode>& key) {
  const auto it = reach.find(key);
  return it == reach.end() ? -1 : it->second.count();
}

void add_tables(const Assembly& a, plan::Plan& plan) {
  std::string bytes;
  for (const Serving& serving : a.servings) {
    for (std::size_t l = 0; l < serving.levels.size(); ++l) {
      add_table(a, serving, l, *plan.add_tables());
      seal(*plan.mutable_tables(plan.tables_size() - 1));
      bytes += plan.tables(plan.tables_size() - 1).SerializeAsString();
    }
  }
  plan.mutable_provenance()->set_tables_hash(sha256(bytes));
}

}  // namespace isochrone::place
