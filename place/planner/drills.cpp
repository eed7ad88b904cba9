// Which block is the worst for a loss? Scale what the survivors carry by a factor: the
// smallest factor at which everybody finds a place says how tight the block is, and the
// users who hinder a smaller one are who it is tight for. It is the largest ratio of
// load to reachable capacity over all sets of users, found by Newton's method on max
// flows (Dinkelbach 1967): start from the ratio of all users; while capacities scaled
// by the ratio do not carry everybody, the minimum cut names users with a larger one.
#include "place/planner/drills.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <lemon/network_simplex.h>
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "place/planner/resolved.h"
#include "scenarios/network.h"
#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateSite;
using scenarios::kBlocks;
using scenarios::Population;
using Graph = lemon::SmartDigraph;
__extension__ using Wide = __int128;

/// Who must be carried in a drill, and by whom they may be.
struct Client {
  std::size_t row = 0;  ///< in the demand's populations
  const Population* population = nullptr;
  std::array<std::int64_t, kBlocks> load{};         ///< what the plan serves of it
  std::map<std::uint32_t, std::int64_t> reachable;  ///< pool -> rtt in us
  /// Pool -> shares when all is well, by block.
  std::map<std::uint32_t, std::array<std::uint32_t, kBlocks>> usual_ppb;
};

/// Users, their load, and the capacity left for them; 0 may be left.
struct Tightness {
  std::vector<std::size_t> clients;
  std::int64_t need = 0;
  std::int64_t left = 0;
};

bool tighter(const Tightness& a, const Tightness& b) {
  return Wide{a.need} * b.left > Wide{b.need} * a.left;
}

class Drills {
 public:
  Drills(const Question& question, const plan::Plan& plan)
      : question_(question), plan_(plan), resolved_(question, plan) {
    const spec::Simulate& wish = question.scenario.spec.simulate();
    if (wish.has_hours()) blocks_ = static_cast<std::size_t>(wish.hours());
    for (const plan::Pool& pool : plan_.pools()) element_.push_back(element(pool));
    gather_clients();
  }

  std::vector<LossDrill> all() const {
    std::vector<std::string> elements = element_;
    std::ranges::sort(elements);
    const auto repeated = std::ranges::unique(elements);
    elements.erase(repeated.begin(), repeated.end());
    std::erase(elements, "");
    return parallel_map(elements.size(),
                        [&](std::size_t i) { return drill(elements[i]); });
  }

 private:
  std::string element(const plan::Pool& pool) const {
    if (pool.profile() == "batch") return "";  // batch is outside survival
    return scenarios::loss_element(question_.scenario, resolved_.site(pool));
  }

  /// Reach in a loss: of the pool's table, for the population's entry and country.
  std::int64_t degraded_reach(const plan::Pool& pool, const Population& p) const {
    for (const plan::Reach& reach :
         plan_.tables(static_cast<int>(pool.table())).reach()) {
      if (reach.demand() == question_.entry(p.entry).name() &&
          reach.country() == p.endpoint.country.text()) {
        return reach.degraded_rtt_us();
      }
    }
    return -1;
  }

  void gather_clients() {
    std::map<const Population*,
             std::map<std::uint32_t, std::array<std::uint32_t, kBlocks>>>
        usual;
    for (const plan::Assignment& a : plan_.assignments()) {
      auto& shares = usual[&resolved_.population(a)][a.pool()];
      for (std::size_t b = 0; b < kBlocks; ++b) {
        shares[b] = a.share_ppb(static_cast<int>(b));
      }
    }
    std::size_t row = 0;
    for (const Population& p : question_.demand.populations) {
      const std::size_t d = row++;
      const auto it = usual.find(&p);
      if (it == usual.end()) continue;
      Client client{d, &p, {}, {}, it->second};
      for (const auto& [pool, ppb] : it->second) {
        for (std::size_t b = 0; b < kBlocks; ++b) {
          client.load[b] += share_of(p.load[b], ppb[b]).count();
        }
      }
      for (int pool = 0; pool < plan_.pools_size(); ++pool) admit(client, pool);
      clients_.push_back(std::move(client));
    }
  }

  void admit(Client& client, int index) const {
    const plan::Pool& pool = plan_.pools(index);
    const Population& p = *client.population;
    if (pool.workload() != question_.workload(p.workload).name()) return;
    if (pool.profile() == "batch") return;
    const CandidateSite& site = resolved_.site(pool);
    const auto& sites = question_.candidates.sites.items();
    const auto column = static_cast<std::size_t>(&site - sites.data());
    const std::int64_t rtt = question_.rtts.at(client.row, column).rtt.count();
    const bool best_effort =
        plan_.populations(static_cast<int>(client.row)).best_effort();
    if (!best_effort && rtt > degraded_reach(pool, p)) return;
    if (!question_.lawful(p, site)) return;
    client.reachable[static_cast<std::uint32_t>(index)] = rtt;
  }

  bool survives(std::uint32_t pool, const std::string& lost) const {
    return element_[pool] != lost;
  }

  LossDrill drill(const std::string& lost) const {
    LossDrill drill;
    Tightness worst;
    std::size_t worst_block = 0;
    for (std::size_t block = 0; block < blocks_; ++block) {
      Tightness found = tightest(lost, block);
      if (found.need == 0 || (worst.need > 0 && !tighter(found, worst))) continue;
      worst = std::move(found);
      worst_block = block;
    }
    drill.row = row_of(lost, worst_block, worst);
    drill.deployment = resolved_.empty_deployment(true);
    route(drill);
    return drill;
  }

  plan::Drill row_of(const std::string& lost, std::size_t block,
                     const Tightness& worst) const {
    plan::Drill row;
    row.set_element(lost);
    row.set_block(static_cast<std::uint32_t>(block));
    for (const Client& client : clients_) {
      row.set_load(row.load() + client.load[block]);
    }
    for (std::uint32_t p = 0; p < element_.size(); ++p) {
      if (!survives(p, lost)) continue;
      row.set_surviving_capacity(row.surviving_capacity() +
                                 plan_.pools(static_cast<int>(p)).degraded_capacity());
    }
    row.set_residency_kept(true);  // routes leave out every forbidden pool
    plan::Cut& tightest = *row.mutable_tightest();
    tightest.set_block(row.block());
    for (const std::size_t c : worst.clients) {
      tightest.add_populations(static_cast<std::uint32_t>(clients_[c].row));
    }
    tightest.set_need(worst.need);
    tightest.set_left(worst.left);
    return row;
  }

  Tightness measure(std::vector<std::size_t> clients, const std::string& lost,
                    std::size_t block) const {
    Tightness tightness{std::move(clients), 0, 0};
    std::vector<bool> reached(element_.size(), false);
    for (const std::size_t c : tightness.clients) {
      tightness.need += clients_[c].load[block];
      for (const auto& [pool, rtt] : clients_[c].reachable) reached[pool] = true;
    }
    for (std::uint32_t p = 0; p < element_.size(); ++p) {
      if (!reached[p] || !survives(p, lost)) continue;
      tightness.left += plan_.pools(static_cast<int>(p)).degraded_capacity();
    }
    return tightness;
  }

  Tightness tightest(const std::string& lost, std::size_t block) const {
    std::vector<std::size_t> everybody;
    for (std::size_t c = 0; c < clients_.size(); ++c) {
      if (clients_[c].load[block] > 0) everybody.push_back(c);
    }
    Tightness now = measure(std::move(everybody), lost, block);
    while (now.left > 0) {
      std::vector<std::size_t> hindering = hindered(now, lost, block);
      if (hindering.empty()) break;
      now = measure(std::move(hindering), lost, block);
    }
    return now;
  }

  /// Users who find no room where every survivor carries `ratio.need / ratio.left` of
  /// its capacity, rounded up; nobody if all do.
  std::vector<std::size_t> hindered(const Tightness& ratio, const std::string& lost,
                                    std::size_t block) const {
    Graph graph;
    std::vector<Graph::Node> from(clients_.size());
    for (Graph::Node& node : from) node = graph.addNode();
    std::vector<Graph::Node> to(element_.size());
    for (Graph::Node& node : to) node = graph.addNode();
    const Graph::Node source = graph.addNode();
    const Graph::Node sink = graph.addNode();
    Graph::ArcMap<std::int64_t> capacity(graph);
    std::int64_t total = 0;
    for (std::size_t c = 0; c < clients_.size(); ++c) {
      const std::int64_t load = clients_[c].load[block];
      if (load == 0) continue;
      total += load;
      capacity[graph.addArc(source, from[c])] = load;
      for (const auto& [pool, rtt] : clients_[c].reachable) {
        if (survives(pool, lost)) capacity[graph.addArc(from[c], to[pool])] = load;
      }
    }
    for (std::uint32_t p = 0; p < element_.size(); ++p) {
      const Wide part =
          Wide{plan_.pools(static_cast<int>(p)).degraded_capacity()} * ratio.need;
      capacity[graph.addArc(to[p], sink)] =
          static_cast<std::int64_t>((part + ratio.left - 1) / ratio.left);
    }
    lemon::Preflow<Graph, Graph::ArcMap<std::int64_t>> flow(graph, capacity, source,
                                                            sink);
    flow.runMinCut();
    if (flow.flowValue() == total) return {};
    std::vector<std::size_t> users;
    for (std::size_t c = 0; c < clients_.size(); ++c) {
      if (clients_[c].load[block] > 0 && flow.minCut(from[c])) users.push_back(c);
    }
    return users;
  }

  /// Least time on the network within capacity: a transport problem whose costs are the
  /// round trips of a request; what finds no place goes to an overflow node.
  void route(LossDrill& drill) const {
    Graph graph;
    std::vector<Graph::Node> from;
    for (std::size_t c = 0; c < clients_.size(); ++c) from.push_back(graph.addNode());
    std::vector<Graph::Node> to;
    for (std::size_t p = 0; p < element_.size(); ++p) to.push_back(graph.addNode());
    const Graph::Node overflow = graph.addNode();
    const Graph::Node sink = graph.addNode();
    Graph::ArcMap<std::int64_t> capacity(graph);
    Graph::ArcMap<std::int64_t> cost(graph);
    constexpr std::int64_t kOverflowCost = 100'000'000;  // above any RTT in us
    const auto arc = [&](Graph::Node a, Graph::Node b, std::int64_t most,
                         std::int64_t price) {
      const Graph::Arc added = graph.addArc(a, b);
      capacity[added] = most;
      cost[added] = price;
      return added;
    };
    struct Route {
      std::size_t client;
      std::uint32_t pool;
      Graph::Arc arc;
    };
    std::vector<Route> routes;
    Graph::NodeMap<std::int64_t> supply(graph, 0);
    for (std::size_t c = 0; c < clients_.size(); ++c) {
      const std::int64_t load = clients_[c].load[drill.row.block()];
      if (load == 0) continue;
      supply[from[c]] = load;
      for (const auto& [pool, rtt] : clients_[c].reachable) {
        if (!survives(pool, drill.row.element())) continue;
        const std::int64_t network = trips(clients_[c], pool, drill.row.block()) * rtt;
        routes.push_back({c, pool, arc(from[c], to[pool], load, network)});
      }
      arc(from[c], overflow, load, kOverflowCost);
    }
    for (std::size_t p = 0; p < element_.size(); ++p) {
      arc(to[p], sink, plan_.pools(static_cast<int>(p)).degraded_capacity(), 0);
    }
    const Graph::Arc lost_load = arc(overflow, sink, drill.row.load(), 0);
    supply[sink] = -drill.row.load();
    lemon::NetworkSimplex<Graph, std::int64_t> simplex(graph);
    simplex.upperMap(capacity).costMap(cost).supplyMap(supply);
    drill.routed =
        simplex.run() == decltype(simplex)::OPTIMAL && simplex.flow(lost_load) == 0;
    for (const Route& route : routes) {
      const std::int64_t flow = simplex.flow(route.arc);
      if (flow > 0) add_stream(clients_[route.client], route.pool, flow, drill);
    }
  }

  /// Whoever was not there before the loss must connect first.
  std::int64_t trips(const Client& client, std::uint32_t pool,
                     std::size_t block) const {
    const spec::Workload& workload = question_.workload(client.population->workload);
    const auto usual = client.usual_ppb.find(pool);
    return usual == client.usual_ppb.end() || usual->second[block] == 0
               ? scenarios::reconnection_trips(workload)
               : scenarios::connection_trips(workload);
  }

  void add_stream(const Client& client, std::uint32_t pool, std::int64_t flow,
                  LossDrill& drill) const {
    plan::Assignment assignment;
    assignment.set_pool(pool);
    assignment.set_rtt_us(client.reachable.at(pool));
    sim::Stream stream = resolved_.stream(assignment, *client.population);
    stream.connection_trips = trips(client, pool, drill.row.block());
    stream.load[drill.row.block()] = MicroRps::of(flow);
    drill.deployment.streams.push_back(stream);
    drill.populations.push_back(client.row);
  }

  const Question& question_;
  const plan::Plan& plan_;
  Resolved resolved_;
  std::size_t blocks_ = kBlocks;
  std::vector<std::string> element_;  // by pool; "" outside survival
  std::vector<Client> clients_;
};

}  // namespace

std::vector<LossDrill> loss_drills(const Question& question, const plan::Plan& plan) {
  const std::string& survive = question.scenario.spec.resilience().survive();
  if (survive.empty() || survive == "none") return {};
  return Drills(question, plan).all();
}

std::vector<LossDrill> lived_drills(const Question& question, const plan::Plan& plan) {
  if (plan.drills_size() == 0) return {};
  std::vector<LossDrill> drills = loss_drills(question, plan);
  INVARIANT(std::ranges::equal(
                drills, plan.drills(), {},
                [](const LossDrill& drill) { return drill.row.element(); },
                [](const plan::Drill& drill) { return drill.element(); }),
            "drills in another order");
  return drills;
}

}  // namespace isochrone::place
