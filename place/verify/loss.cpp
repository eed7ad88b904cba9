#include "place/verify/loss.h"

#include <algorithm>
#include <map>

#include "place/verify/max_flow.h"

namespace isochrone::verify {

using scenarios::CandidateSite;
using scenarios::kBlocks;
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
    std::vector<std::size_t>& pools = pools_of_.emplace_back();
    for (int p = 0; p < facts.plan.pools_size(); ++p) {
      if (facts.may_serve(facts.plan.pools(p), PopulationId{i}).degraded) {
        pools.push_back(static_cast<std::size_t>(p));
      }
    }
  }
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
    if (!id || cut.block() >= kBlocks) return std::nullopt;
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

ServedLoads loads_to_survive(const Facts& facts) {
  std::map<PopulationId, std::int64_t> unserved;
  for (const plan::Unserved& left : facts.plan.unserved()) {
    const auto id = facts.population(left.demand(), left.metro());
    if (id) unserved[*id] += left.share_ppb();
  }
  ServedLoads loads(facts.demand.populations.size());
  for (std::uint32_t i = 0; i < loads.size(); ++i) {
    const Population& population = facts.demand.populations[PopulationId{i}];
    const std::int64_t share = kWholeShare - unserved[PopulationId{i}];
    for (std::size_t b = 0; b < kBlocks; ++b) {
      loads[i][b] = static_cast<std::int64_t>(Wide{population.load[b].count()} * share /
                                              kWholeShare);
    }
  }
  return loads;
}

}  // namespace isochrone::verify
