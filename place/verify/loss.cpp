#include "place/verify/loss.h"

#include <algorithm>

#include "place/verify/max_flow.h"

namespace isochrone::verify {

using scenarios::CandidateSite;
using scenarios::Population;
using scenarios::PopulationId;

Losses::Losses(const Facts& facts) : facts_(facts) {
  for (const plan::Pool& pool : facts.plan.pools()) {
    const CandidateSite* site = facts.site_of(pool);
    element_of_pool_.push_back(site == nullptr || pool.profile() == "batch"
                                   ? ""
                                   : loss_element(facts.scenario, *site));
    if (!element_of_pool_.back().empty()) elements_.insert(element_of_pool_.back());
  }
  for (std::uint32_t i = 0; i < facts.demand.populations.size(); ++i) {
    pools_of_.push_back(pools_within_reach(PopulationId{i}));
  }
}

std::vector<std::size_t> Losses::pools_within_reach(PopulationId id) const {
  const Population& population = facts_.demand.populations[id];
  std::vector<std::size_t> within;
  for (int p = 0; p < facts_.plan.pools_size(); ++p) {
    const plan::Pool& pool = facts_.plan.pools(p);
    const CandidateSite* site = facts_.site_of(pool);
    const plan::Table* table = facts_.table(pool);
    if (site == nullptr || table == nullptr || pool.profile() == "batch" ||
        pool.workload() != facts_.workload(population).name() ||
        !facts_.lawful(population, *site)) {
      continue;
    }
    const std::int64_t rtt = facts_.rtt(id, *site).rtt.count();
    const bool near = facts_.best_effort_us(id) >= 0 ||
                      std::ranges::any_of(table->reach(), [&](const plan::Reach& r) {
                        return r.demand() == facts_.entry_name(population) &&
                               r.country() == population.endpoint.country.text() &&
                               rtt <= r.degraded_rtt_us();
                      });
    if (near) within.push_back(static_cast<std::size_t>(p));
  }
  return within;
}

std::int64_t Losses::surviving(const std::string& element) const {
  std::int64_t capacity = 0;
  for (std::size_t p = 0; p < element_of_pool_.size(); ++p) {
    if (!survives(p, element)) continue;
    capacity += facts_.plan.pools(static_cast<int>(p)).degraded_capacity();
  }
  return capacity;
}

std::vector<std::int64_t> Losses::capacities() const {
  std::vector<std::int64_t> capacity;
  for (const plan::Pool& pool : facts_.plan.pools()) {
    capacity.push_back(pool.degraded_capacity());
  }
  return capacity;
}

std::optional<Losses::Worth> Losses::measure(
    const std::string& element, const plan::Cut& cut, const ServedLoads& loads,
    const std::vector<std::int64_t>& capacity) const {
  Worth worth;
  std::set<std::size_t> pools;
  std::int64_t last = -1;
  for (const std::uint32_t row : cut.populations()) {
    if (row <= last ||
        row >= static_cast<std::uint32_t>(facts_.plan.populations_size())) {
      return std::nullopt;
    }
    last = row;
    const plan::Population& named = facts_.plan.populations(static_cast<int>(row));
    const auto id = facts_.population(named.demand(), named.metro());
    if (!id || cut.block() >= scenarios::kBlocks) return std::nullopt;
    worth.need += loads[id->index()][cut.block()];
    pools.insert(pools_of(*id).begin(), pools_of(*id).end());
  }
  for (const std::size_t p : pools) {
    if (survives(p, element)) worth.left += capacity[p];
  }
  return worth;
}

Losses::Shortfall Losses::flow(const std::string& element, std::size_t block,
                               const ServedLoads& loads,
                               const std::vector<std::int64_t>& capacity) const {
  const std::size_t pools = capacity.size();
  const std::size_t source = pools + loads.size();
  const std::size_t sink = source + 1;
  MaxFlow flow(sink + 1);
  Shortfall result;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const std::int64_t load = loads[i][block];
    if (load == 0) continue;
    result.total += load;
    flow.add_arc(source, pools + i, load);
    for (const std::size_t p : pools_of_[i]) {
      if (survives(p, element)) flow.add_arc(pools + i, p, load);
    }
  }
  for (std::size_t p = 0; p < pools; ++p) flow.add_arc(p, sink, capacity[p]);
  result.missing = result.total - flow.run(source, sink);
  for (std::uint32_t i = 0; i < loads.size() && result.missing > 0; ++i) {
    if (loads[i][block] > 0 && flow.on_source_side(pools + i)) {
      result.cut.push_back(PopulationId{i});
    }
  }
  return result;
}

bool Losses::carried(const std::string& element, std::size_t block,
                     const ServedLoads& loads, std::int64_t need,
                     std::int64_t left) const {
  std::vector<std::int64_t> capacity;
  for (const plan::Pool& pool : facts_.plan.pools()) {
    const Wide part = Wide{pool.degraded_capacity()} * need;
    capacity.push_back(static_cast<std::int64_t>((part + left - 1) / left));
  }
  return flow(element, block, loads, capacity).missing == 0;
}

Losses::Shortfall Losses::shortfall(const std::string& element, std::size_t block,
                                    const ServedLoads& loads) const {
  return flow(element, block, loads, capacities());
}

}  // namespace isochrone::verify
