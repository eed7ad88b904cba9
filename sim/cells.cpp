#include "sim/cells.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace isochrone::sim {
namespace {

using Place = std::pair<std::size_t, scenarios::RegionId>;  // workload, region

double load_rps(const Stream& stream, std::size_t block) {
  return to_rps(stream.load[block]);
}

/// Utilisation by pool and block.
IdVector<PoolId, std::vector<double>> utilisations(
    const Deployment& deployment, std::size_t blocks,
    const IdVector<PoolId, WindowPool>& pools) {
  IdVector<PoolId, std::vector<double>> busy(pools.size(), std::vector<double>(blocks));
  for (const Stream& stream : deployment.streams) {
    for (std::size_t b = 0; b < blocks; ++b) {
      busy[stream.pool][b] += load_rps(stream, b) / pools[stream.pool].capacity_rps;
    }
  }
  return busy;
}

std::map<Place, std::vector<std::size_t>> find_worst_blocks(
    const Deployment& deployment, std::size_t blocks,
    const IdVector<PoolId, WindowPool>& pools) {
  const auto busy = utilisations(deployment, blocks, pools);
  std::map<Place, std::vector<double>> peaks;
  for (const Stream& stream : deployment.streams) {
    auto& peak =
        peaks.try_emplace({stream.workload, stream.region}, blocks, 0.0).first->second;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (load_rps(stream, b) > 0) peak[b] = std::max(peak[b], busy[stream.pool][b]);
    }
  }
  std::map<Place, std::vector<std::size_t>> worst;
  for (const auto& [place, peak] : peaks) {
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (peak[b] > 0) order.push_back(b);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&peak](auto a, auto b) { return peak[a] > peak[b]; });
    if (order.size() > kWorstBlocks) order.resize(kWorstBlocks);
    worst[place] = order;
  }
  return worst;
}

class Planner {
 public:
  Planner(const Deployment& deployment, std::size_t blocks,
          const IdVector<PoolId, WindowPool>& pools)
      : deployment_(deployment),
        blocks_(blocks),
        worst_(find_worst_blocks(deployment, blocks, pools)) {}

  CellPlan plan() {
    plan_.keys_of_pool =
        IdVector<PoolId, std::vector<std::size_t>>(deployment_.pools.size(), {});
    plan_.streams_of_pool = plan_.keys_of_pool;
    for (std::size_t s = 0; s < deployment_.streams.size(); ++s) add_stream(s);
    for (PoolId pool{0}; pool.index() < deployment_.pools.size(); ++pool.value) {
      add_units(pool);
    }
    plan_.contributions.assign(
        plan_.keys.size(), std::vector<std::vector<Contribution>>(kWorstBlocks + 1));
    for (std::size_t unit = 0; unit < plan_.units.size(); ++unit) contribute(unit);
    return std::move(plan_);
  }

 private:
  std::size_t key_of(const Stream& stream, const Objective& objective) {
    const auto id =
        std::tuple(stream.workload, stream.region, static_cast<int>(objective.metric),
                   objective.percentile, objective.limit.count());
    const auto [found, added] = ids_.try_emplace(id, plan_.keys.size());
    if (added) {
      plan_.keys.push_back({stream.workload, stream.region, objective});
      plan_.worst_blocks.push_back(worst_.at({stream.workload, stream.region}));
    }
    return found->second;
  }

  void add_stream(std::size_t index) {
    const Stream& stream = deployment_.streams[index];
    plan_.streams_of_pool[stream.pool].push_back(index);
    auto& keys = plan_.keys_of_pool[stream.pool];
    std::vector<std::size_t> locals;
    for (const Objective& objective : deployment_.objectives[stream.entry]) {
      const std::size_t key = key_of(stream, objective);
      const auto found = std::find(keys.begin(), keys.end(), key);
      locals.push_back(static_cast<std::size_t>(found - keys.begin()));
      if (found == keys.end()) keys.push_back(key);
    }
    plan_.locals_of_stream.push_back(locals);
  }

  void add_units(PoolId pool) {
    if (plan_.keys_of_pool[pool].empty()) return;
    std::vector<bool> busy(blocks_);
    for (const std::size_t s : plan_.streams_of_pool[pool]) {
      for (std::size_t b = 0; b < blocks_; ++b) {
        if (deployment_.streams[s].load[b].count() > 0) busy[b] = true;
      }
    }
    std::set<std::size_t> alone;
    for (const std::size_t key : plan_.keys_of_pool[pool]) {
      alone.insert(plan_.worst_blocks[key].begin(), plan_.worst_blocks[key].end());
    }
    Unit rest{pool, {}};
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (!busy[b]) continue;
      if (alone.contains(b)) {
        plan_.units.push_back({pool, {b}});
      } else {
        rest.blocks.push_back(b);
      }
    }
    if (!rest.blocks.empty()) plan_.units.push_back(rest);
  }

  void contribute(std::size_t index) {
    const Unit& unit = plan_.units[index];
    const auto& keys = plan_.keys_of_pool[unit.pool];
    std::vector<bool> loaded(keys.size());
    for (const std::size_t s : plan_.streams_of_pool[unit.pool]) {
      const auto& load = deployment_.streams[s].load;
      if (std::any_of(unit.blocks.begin(), unit.blocks.end(),
                      [&load](std::size_t b) { return load[b].count() > 0; })) {
        for (const std::size_t local : plan_.locals_of_stream[s]) loaded[local] = true;
      }
    }
    for (std::size_t local = 0; local < keys.size(); ++local) {
      if (!loaded[local]) continue;
      const auto& worst = plan_.worst_blocks[keys[local]];
      const auto found = std::find(worst.begin(), worst.end(), unit.blocks.front());
      const auto hours = found == worst.end()
                             ? kWorstBlocks
                             : static_cast<std::size_t>(found - worst.begin());
      plan_.contributions[keys[local]][hours].push_back({index, local});
    }
  }

  const Deployment& deployment_;
  std::size_t blocks_;
  std::map<Place, std::vector<std::size_t>> worst_;
  std::map<std::tuple<std::size_t, scenarios::RegionId, int, double, std::int64_t>,
           std::size_t>
      ids_;
  CellPlan plan_;
};

}  // namespace

CellPlan plan_cells(const Deployment& deployment, std::size_t blocks,
                    const IdVector<PoolId, WindowPool>& pools) {
  return Planner(deployment, blocks, pools).plan();
}

std::string hour_name(std::size_t block) {
  return (block < 10 ? "0" : "") + std::to_string(block) + " UTC";
}

}  // namespace isochrone::sim
