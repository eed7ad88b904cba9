#include "place/core/settle.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include "base/parallel.h"
#include "place/core/money.h"
#include "place/core/routing.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

/// Integer price of a unit of load, the same scale for a whole block.
double unit_price_scale(const Model& model, const PlanState& state, int commodity,
                        int block) {
  double largest = 0;
  for (const Pick& pick : state.picks()) {
    if (pick.commodity != commodity) continue;
    for (const int d : model.demands_of(commodity)) {
      const double load = std::max(1.0, static_cast<double>(model.load(block, d)));
      const double cost = static_cast<double>(model.traffic_cost(pick.site, block, d));
      largest = std::max(largest, std::abs(cost) / load);
    }
  }
  return largest > 0 ? std::min(1e6, 1e8 / largest) : 0;
}

/// Least cost of traffic of one block, by a transportation problem on single demands.
std::optional<std::vector<Carried>> route_cheaply(const Model& model,
                                                  const PlanState& state,
                                                  const Service& service, int commodity,
                                                  int block) {
  const double scale = unit_price_scale(model, state, commodity, block);
  const std::int64_t limit = group_traffic_limit(model, service, commodity, block);
  lemon::SmartDigraph graph;
  lemon::SmartDigraph::ArcMap<std::int64_t> upper(graph);
  lemon::SmartDigraph::ArcMap<std::int64_t> price(graph);
  lemon::SmartDigraph::NodeMap<std::int64_t> supply(graph, 0);
  const auto join = [&](lemon::SmartDigraph::Node from, lemon::SmartDigraph::Node to,
                        std::int64_t most, std::int64_t cost) {
    const auto arc = graph.addArc(from, to);
    upper[arc] = most;
    price[arc] = cost;
    return arc;
  };
  const auto sink = graph.addNode();
  std::map<int, lemon::SmartDigraph::Node> group_nodes;
  std::vector<std::pair<int, lemon::SmartDigraph::Node>> pools;
  for (int i = 0; i < static_cast<int>(state.picks().size()); ++i) {
    const Pick& pick = state.picks()[at(i)];
    if (pick.commodity != commodity) continue;
    const auto node = graph.addNode();
    const int group = model.instance().sites[at(pick.site)].group;
    auto onward = sink;
    if (limit < std::numeric_limits<std::int64_t>::max()) {
      if (!group_nodes.contains(group)) {
        group_nodes[group] = graph.addNode();
        join(group_nodes[group], sink, limit, 0);
      }
      onward = group_nodes[group];
    }
    join(node, onward, model.usable(state.point(pick)), 0);
    pools.emplace_back(i, node);
  }
  std::vector<std::tuple<lemon::SmartDigraph::Arc, int, int>> arcs;
  for (const int d : model.demands_of(commodity)) {
    if (!service.served(d)) continue;
    const auto node = graph.addNode();
    const std::int64_t load = std::max<std::int64_t>(1, service.load(block, d));
    supply[node] = load;
    supply[sink] -= load;
    for (const auto& [i, pool] : pools) {
      const Pick& pick = state.picks()[at(i)];
      if (!has_bit(model.reach(pick.site, state.point(pick).reach), d)) continue;
      const double unit = static_cast<double>(model.traffic_cost(pick.site, block, d)) /
                          std::max(1.0, static_cast<double>(model.load(block, d)));
      arcs.emplace_back(join(node, pool, load, std::llround(unit * scale)), d, i);
    }
  }
  lemon::NetworkSimplex<lemon::SmartDigraph, std::int64_t> simplex(graph);
  simplex.upperMap(upper).costMap(price).supplyMap(supply);
  if (simplex.run() != simplex.OPTIMAL) return std::nullopt;
  std::vector<Carried> carried;
  for (const auto& [arc, demand, pick] : arcs) {
    const std::int64_t flow = simplex.flow(arc);
    if (flow > 0) carried.push_back({demand, pick, flow});
  }
  return carried;
}

/// Shares of one block and commodity in parts per 10^9: rounded down, and what is then
/// missing of a demand goes where room is left, to its own pools first.
class ShareRounding {
 public:
  ShareRounding(const Model& model, const PlanState& state, const Service& service,
                int commodity, int block)
      : model_(model), state_(state), service_(service), block_(block) {
    room_.assign(state.picks().size(), 0);
    for (std::size_t i = 0; i < room_.size(); ++i) {
      if (state.picks()[i].commodity != commodity) continue;
      room_[i] =
          static_cast<Wide>(state.point(state.picks()[i]).capacity) * kWholeShare;
    }
  }

  bool round(std::vector<Carried> carried) {
    std::ranges::sort(carried, {},
                      [](const Carried& c) { return std::pair(c.demand, c.pick); });
    for (std::size_t i = 0; i < carried.size();) {
      std::size_t end = i;
      while (end < carried.size() && carried[end].demand == carried[i].demand) ++end;
      place({carried.begin() + static_cast<std::ptrdiff_t>(i),
             carried.begin() + static_cast<std::ptrdiff_t>(end)});
      i = end;
    }
    return std::ranges::all_of(missing_, [&](const auto& m) { return complete(m); });
  }

  /// Share by (demand, pick).
  const std::map<std::pair<int, int>, std::int64_t>& shares() const { return shares_; }

 private:
  void place(const std::vector<Carried>& parts) {
    const int d = parts.front().demand;
    Wide carried = 0;
    for (const Carried& part : parts) carried += part.load;
    const std::int64_t whole = kWholeShare - service_.unserved()[at(d)];
    std::int64_t left = whole;
    for (const Carried& part : parts) {
      const auto share = static_cast<std::int64_t>(part.load * Wide{whole} / carried);
      shares_[{d, part.pick}] += share;
      room_[at(part.pick)] -= static_cast<Wide>(share) * model_.load(block_, d);
      left -= share;
    }
    if (left > 0) missing_.emplace_back(d, left);
  }

  bool complete(const std::pair<int, std::int64_t>& missing) {
    const auto& [d, share] = missing;
    const Wide load = static_cast<Wide>(share) * model_.load(block_, d);
    for (auto at_pool = shares_.lower_bound({d, 0});
         at_pool != shares_.end() && at_pool->first.first == d; ++at_pool) {
      const int pick = at_pool->first.second;
      if (room_[at(pick)] < load) continue;
      at_pool->second += share;
      room_[at(pick)] -= load;
      return true;
    }
    return false;
  }

  const Model& model_;
  const PlanState& state_;
  const Service& service_;
  int block_;
  std::vector<Wide> room_;
  std::map<std::pair<int, int>, std::int64_t> shares_;
  std::vector<std::pair<int, std::int64_t>> missing_;
};

using BlockShares = std::map<std::pair<int, int>, std::int64_t>;

std::optional<BlockShares> shares_of_whole(const Model& model, const PlanState& state,
                                           const Service& service, int commodity) {
  BlockShares shares;
  for (const int d : model.demands_of(commodity)) {
    if (!service.served(d)) continue;
    std::int64_t least = 0;
    int best = -1;
    for (int i = 0; i < static_cast<int>(state.picks().size()); ++i) {
      const Pick& pick = state.picks()[at(i)];
      if (pick.commodity != commodity) continue;
      if (!has_bit(model.reach(pick.site, state.point(pick).reach), d)) continue;
      std::int64_t cost = 0;
      for (int b = 0; b < model.blocks(); ++b)
        cost += model.traffic_cost(pick.site, b, d);
      if (best < 0 || cost < least) {
        best = i;
        least = cost;
      }
    }
    if (best < 0) return std::nullopt;
    shares[{d, best}] = kWholeShare - service.unserved()[at(d)];
  }
  return shares;
}

std::optional<BlockShares> shares_of_block(const Model& model, const PlanState& state,
                                           const Service& service, int commodity,
                                           int block) {
  if (model.whole(commodity)) return shares_of_whole(model, state, service, commodity);
  std::optional<std::vector<Carried>> carried;
  if (model.has_traffic_cost()) {
    carried = route_cheaply(model, state, service, commodity, block);
  } else {
    carried = Router(model).route(state, service, commodity, block);
  }
  if (!carried) return std::nullopt;
  ShareRounding rounding(model, state, service, commodity, block);
  if (!rounding.round(*std::move(carried))) return std::nullopt;
  return rounding.shares();
}

/// Whether the loads are the same in all blocks. Shares then are too, as those of
/// sessions that stay at their site have to be.
bool steady(const Model& model, int commodity) {
  return std::ranges::all_of(model.demands_of(commodity), [&](int d) {
    for (int b = 1; b < model.blocks(); ++b) {
      if (model.load(b, d) != model.load(0, d)) return false;
    }
    return true;
  });
}

}  // namespace

std::optional<Solution> settle(const Model& model, const PlanState& state,
                               const Service& service) {
  const std::size_t tasks = at(model.commodities()) * at(model.blocks());
  std::vector<std::size_t> first;  // task with the same shares
  for (int k = 0; k < model.commodities(); ++k) {
    const std::size_t start = first.size();
    const bool same = steady(model, k);
    for (std::size_t b = 0; b < at(model.blocks()); ++b) {
      first.push_back(same ? start : start + b);
    }
  }
  const auto parts = parallel_map(tasks, [&](std::size_t i) {
    if (first[i] != i) return std::optional<BlockShares>();
    return shares_of_block(model, state, service, static_cast<int>(i) / model.blocks(),
                           static_cast<int>(i) % model.blocks());
  });
  std::map<std::pair<int, int>, Flow> flows;
  for (std::size_t i = 0; i < tasks; ++i) {
    if (!parts[first[i]]) return std::nullopt;
    for (const auto& [key, share] : *parts[first[i]]) {
      if (share == 0) continue;
      Flow& flow = flows[key];
      flow.demand = key.first;
      flow.choice = key.second;
      flow.ppb.resize(at(model.blocks()), 0);
      flow.ppb[i % at(model.blocks())] = static_cast<std::int32_t>(share);
    }
  }
  Solution solution;
  solution.status = Status::kSolved;
  for (const Pick& pick : state.picks()) {
    const Point& point = state.point(pick);
    solution.choices.push_back({pick.site, point.option, point.replicas});
  }
  for (auto& [key, flow] : flows) solution.flows.push_back(std::move(flow));
  solution.unserved_ppb = service.unserved();
  solution.objective = objective_of(model.instance(), solution);
  return solution;
}

}  // namespace isochrone::place
