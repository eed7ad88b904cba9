#include "place/planner/deploy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include "place/planner/assemble.h"
#include "place/planner/best_effort.h"
#include "scenarios/network.h"
#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateSite;
using scenarios::Population;

constexpr std::int64_t kWhole = 1'000'000'000;  // parts of a share
constexpr std::int64_t kColdTrips = 3;          // TCP + TLS 1.3

/// The plan's words resolved against the question.
class Resolved {
 public:
  Resolved(const Question& question, const plan::Plan& plan)
      : question_(question), plan_(plan) {
    for (const CandidateSite& site : question.candidates.sites) site_[site.id] = &site;
    for (const Population& p : question.demand.populations) {
      population_[{question.entry(p.entry).name(), p.metro}] = &p;
    }
    const int workloads = question.scenario.spec.workloads_size();
    for (int w = 0; w < workloads; ++w) {
      options_.push_back(serving_options(question, static_cast<std::size_t>(w)));
    }
  }

  const Population& population(const plan::Assignment& a) const {
    const auto it = population_.find({a.demand(), a.metro()});
    if (it == population_.end()) {
      throw std::invalid_argument(
          fmt::format("the plan assigns {} of {}, whom the scenario does not know",
                      a.metro(), a.demand()));
    }
    return *it->second;
  }

  const CandidateSite& site(const plan::Pool& pool) const {
    const std::string& name = plan_.sites(static_cast<int>(pool.site())).name();
    const auto it = site_.find(name);
    if (it == site_.end()) {
      throw std::invalid_argument(
          fmt::format("site {} is no candidate of the scenario", name));
    }
    return *it->second;
  }

  sim::Pool pool(const plan::Pool& p) const {
    const auto& workloads = question_.scenario.spec.workloads();
    const auto named =
        std::ranges::find(workloads, p.workload(), &spec::Workload::name);
    if (named == workloads.end()) {
      throw std::invalid_argument("the plan serves unknown workload " + p.workload());
    }
    for (const ServingOption& option :
         options_[static_cast<std::size_t>(named - workloads.begin())]) {
      if (option.profile != p.profile() ||
          question_.catalog.gpus[option.gpu].id != p.gpu()) {
        continue;
      }
      sim::Pool pool{fmt::format("{} {}", site(p).id, p.workload()), option.kind,
                     p.replicas(), option.front_end};
      pool.kind.max_num_seqs = p.max_num_seqs();
      return pool;
    }
    throw std::invalid_argument(
        fmt::format("{} cannot run on {} as {}", p.workload(), p.gpu(), p.profile()));
  }

  sim::Stream stream(const plan::Assignment& a, const Population& p) const {
    const spec::Workload& workload = question_.workload(p.workload);
    sim::Stream stream;
    stream.entry = p.entry;
    stream.region = p.region;
    stream.workload = p.workload;
    stream.pool = sim::PoolId{a.pool()};
    stream.rtt = Micros{a.rtt_us()};
    stream.connection_trips = scenarios::connection_trips(workload);
    stream.transfer = Nanos{
        std::llround(scenarios::transfer_ms(workload, p.access.download_mbps) * 1e6)};
    stream.access = p.access;
    return stream;
  }

  sim::Deployment empty_deployment(bool degraded) const {
    sim::Deployment deployment;
    for (const plan::Pool& p : plan_.pools()) {
      // Batch pools keep their place in the order but never get a stream.
      deployment.pools.push_back(p.profile() == "batch"
                                     ? sim::Pool{"batch", idle_kind(), 1, Nanos{0}}
                                     : pool(p));
    }
    deployment.modulation = question_.demand.modulation;
    for (const spec::Demand& entry : question_.scenario.spec.demand()) {
      deployment.objectives.push_back(
          objectives_of(degraded ? degraded_objectives(question_.scenario)
                                 : objectives(question_.scenario, entry)));
    }
    return deployment;
  }

 private:
  static sim::PoolKind idle_kind() {
    sim::PoolKind kind;
    kind.slots = sim::SlotEngine{};
    return kind;
  }

  const Question& question_;
  const plan::Plan& plan_;
  std::map<std::string, const CandidateSite*> site_;
  std::map<std::pair<std::string, std::string>, const Population*> population_;
  std::vector<std::vector<ServingOption>> options_;
};

MicroRps share_of(MicroRps load, std::uint32_t ppb) {
  __extension__ using Wide = __int128;
  return MicroRps::of(
      static_cast<std::int64_t>(static_cast<Wide>(load.count()) * ppb / kWhole));
}

/// Who must be carried in the drill, and by whom they may be.
struct Client {
  const Population* population = nullptr;
  std::int64_t load = 0;
  std::map<std::uint32_t, std::int64_t> reachable;   ///< pool -> rtt in us
  std::map<std::uint32_t, std::uint32_t> usual_ppb;  ///< pool -> share when all is well
};

std::size_t fullest_block(const Question& question) {
  std::size_t fullest = 0;
  std::int64_t most = -1;
  for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
    std::int64_t load = 0;
    for (const Population& p : question.demand.populations)
      load += p.load[block].count();
    if (load > most) {
      most = load;
      fullest = block;
    }
  }
  return fullest;
}

class Drills {
 public:
  Drills(const Question& question, const plan::Plan& plan)
      : question_(question),
        plan_(plan),
        resolved_(question, plan),
        block_(fullest_block(question)) {
    gather_clients();
  }

  std::vector<LossDrill> all() const {
    std::vector<std::string> elements;
    for (const plan::Pool& pool : plan_.pools()) elements.push_back(element(pool));
    std::ranges::sort(elements);
    const auto repeated = std::ranges::unique(elements);
    elements.erase(repeated.begin(), repeated.end());
    std::erase(elements, "");
    std::vector<LossDrill> drills;
    for (const std::string& lost : elements) drills.push_back(drill(lost));
    return drills;
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

  bool best_effort(std::size_t d) const {
    return plan_.populations(static_cast<int>(d)).best_effort();
  }

  void gather_clients() {
    std::map<const Population*, std::map<std::uint32_t, std::uint32_t>> usual;
    for (const plan::Assignment& a : plan_.assignments()) {
      usual[&resolved_.population(a)][a.pool()] = a.share_ppb(static_cast<int>(block_));
    }
    std::size_t row = 0;
    for (const Population& p : question_.demand.populations) {
      const std::size_t d = row++;
      const auto it = usual.find(&p);
      if (it == usual.end()) continue;
      Client client{&p, 0, {}, it->second};
      for (const auto& [pool, ppb] : it->second) {
        client.load += share_of(p.load[block_], ppb).count();
      }
      if (client.load == 0) continue;
      for (int pool = 0; pool < plan_.pools_size(); ++pool) admit(client, d, pool);
      clients_.push_back(std::move(client));
    }
  }

  void admit(Client& client, std::size_t d, int index) const {
    const plan::Pool& pool = plan_.pools(index);
    const Population& p = *client.population;
    if (pool.workload() != question_.workload(p.workload).name()) return;
    if (pool.profile() == "batch") return;
    const CandidateSite& site = resolved_.site(pool);
    const auto& sites = question_.candidates.sites.items();
    const auto column = static_cast<std::size_t>(&site - sites.data());
    const std::int64_t rtt = question_.rtts.at(d, column).rtt.count();
    if (!best_effort(d) && rtt > degraded_reach(pool, p)) return;
    if (!question_.residency
             .verdict(p.endpoint.country, p.workload, site.endpoint.country)
             .allowed) {
      return;
    }
    client.reachable[static_cast<std::uint32_t>(index)] = rtt;
  }

  LossDrill drill(const std::string& lost) const {
    LossDrill drill;
    drill.element = lost;
    drill.block = block_;
    drill.deployment = resolved_.empty_deployment(true);
    for (const plan::Pool& pool : plan_.pools()) {
      if (element(pool) != lost) drill.surviving_capacity += pool.degraded_capacity();
    }
    for (const Client& client : clients_) drill.load += client.load;
    route(lost, drill);
    return drill;
  }

  /// Nearest first within capacity: a transport problem with the RTT as its cost; what
  /// finds no place goes to an overflow node.
  void route(const std::string& lost, LossDrill& drill) const {
    using Graph = lemon::SmartDigraph;
    Graph graph;
    std::vector<Graph::Node> from;
    for (std::size_t c = 0; c < clients_.size(); ++c) from.push_back(graph.addNode());
    std::vector<Graph::Node> to;
    for (int p = 0; p < plan_.pools_size(); ++p) to.push_back(graph.addNode());
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
    for (std::size_t c = 0; c < clients_.size(); ++c) {
      for (const auto& [pool, rtt] : clients_[c].reachable) {
        if (element(plan_.pools(static_cast<int>(pool))) == lost) continue;
        routes.push_back({c, pool, arc(from[c], to[pool], clients_[c].load, rtt)});
      }
      arc(from[c], overflow, clients_[c].load, kOverflowCost);
    }
    for (int p = 0; p < plan_.pools_size(); ++p) {
      arc(to[static_cast<std::size_t>(p)], sink, plan_.pools(p).degraded_capacity(), 0);
    }
    const Graph::Arc lost_load = arc(overflow, sink, drill.load, 0);
    Graph::NodeMap<std::int64_t> supply(graph, 0);
    for (std::size_t c = 0; c < clients_.size(); ++c)
      supply[from[c]] = clients_[c].load;
    supply[sink] = -drill.load;
    lemon::NetworkSimplex<Graph, std::int64_t> simplex(graph);
    simplex.upperMap(capacity).costMap(cost).supplyMap(supply);
    drill.routed =
        simplex.run() == decltype(simplex)::OPTIMAL && simplex.flow(lost_load) == 0;
    for (const Route& route : routes) {
      const std::int64_t flow = simplex.flow(route.arc);
      if (flow > 0) add_stream(clients_[route.client], route.pool, flow, drill);
    }
  }

  void add_stream(const Client& client, std::uint32_t pool, std::int64_t flow,
                  LossDrill& drill) const {
    plan::Assignment assignment;
    assignment.set_pool(pool);
    assignment.set_rtt_us(client.reachable.at(pool));
    sim::Stream stream = resolved_.stream(assignment, *client.population);
    // Whoever was not there before the loss must connect first.
    const auto usual = client.usual_ppb.find(pool);
    if (usual == client.usual_ppb.end() || usual->second == 0) {
      stream.connection_trips = kColdTrips;
    }
    stream.load[drill.block] = MicroRps::of(flow);
    drill.deployment.streams.push_back(stream);
  }

  const Question& question_;
  const plan::Plan& plan_;
  Resolved resolved_;
  std::size_t block_;
  std::vector<Client> clients_;
};

void write_cells(const Question& question, const sim::SimulationResult& result,
                 google::protobuf::RepeatedPtrField<plan::Cell>& into) {
  const auto add = [](plan::Cell& row, const char* name, Nanos time) {
    plan::Cell::Part& part = *row.add_parts();
    part.set_name(name);
    part.set_ns(time.count());
  };
  for (const sim::Cell& cell : result.cells) {
    plan::Cell& row = *into.Add();
    row.set_workload(question.workload(cell.workload).name());
    row.set_region(question.demand.regions[cell.region].name);
    row.set_hours(cell.hours);
    row.set_objective(objective_name(cell.objective));
    row.set_limit_ms(static_cast<double>(cell.objective.limit.count()) / 1e6);
    row.set_requests(cell.requests);
    row.set_unfinished(cell.unfinished);
    row.set_attained(cell.attained);
    row.set_low(cell.low);
    row.set_high(cell.high);
    row.set_verdict(sim::to_text(cell.verdict));
    row.set_at_percentile_ms(static_cast<double>(cell.at_percentile.count()) / 1e6);
    add(row, "connection", cell.mean.connection);
    add(row, "last mile", cell.mean.last_mile);
    add(row, "wan", cell.mean.wan);
    add(row, "transfer", cell.mean.transfer);
    add(row, "front end", cell.mean.front_end);
    add(row, "queue", cell.mean.queue);
    add(row, "prefill", cell.mean.prefill);
    add(row, "decode", cell.mean.decode);
  }
}

}  // namespace

sim::Deployment deploy(const Question& question, const plan::Plan& plan) {
  const Resolved resolved(question, plan);
  sim::Deployment deployment = resolved.empty_deployment(false);
  for (const plan::Assignment& a : plan.assignments()) {
    const Population& p = resolved.population(a);
    sim::Stream stream = resolved.stream(a, p);
    for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
      stream.load[block] =
          share_of(p.load[block], a.share_ppb(static_cast<int>(block)));
    }
    deployment.streams.push_back(std::move(stream));
  }
  return deployment;
}

std::vector<LossDrill> loss_drills(const Question& question, const plan::Plan& plan) {
  const std::string& survive = question.scenario.spec.resilience().survive();
  if (survive.empty() || survive == "none") return {};
  return Drills(question, plan).all();
}

void live_through(const Question& question, plan::Plan& plan) {
  const spec::Simulate& wish = question.scenario.spec.simulate();
  sim::SimulationSettings settings;
  settings.seed = scenarios::seed(question.scenario);
  settings.blocks = wish.has_hours() ? wish.hours() : settings.blocks;
  const std::int64_t limit =
      wish.has_max_requests() ? wish.max_requests() : scenarios::kDefaultMaxRequests;
  const bool drills = !wish.has_drills() || wish.drills();
  const auto losses = drills ? loss_drills(question, plan) : std::vector<LossDrill>{};
  // A drill may use a quarter of the requests of the day; cells that are shown use
  // less.
  settings.max_requests = limit;
  plan.clear_cells();
  plan.clear_drills();
  const sim::SimulationResult day = simulate(deploy(question, plan), settings);
  write_cells(question, day, *plan.mutable_cells());
  std::uint64_t simulated = day.simulated_requests;
  for (const LossDrill& loss : losses) {
    plan::Drill& row = *plan.add_drills();
    row.set_element(loss.element);
    row.set_block(static_cast<std::uint32_t>(loss.block));
    row.set_load(loss.load);
    row.set_surviving_capacity(loss.surviving_capacity);
    row.set_residency_kept(true);  // routes leave out every forbidden pool
    settings.max_requests = std::max<std::int64_t>(1000, limit / 4);
    settings.stream_name = "drill " + loss.element;
    const sim::SimulationResult lived = simulate(loss.deployment, settings);
    write_cells(question, lived, *row.mutable_cells());
    simulated += lived.simulated_requests;
    if (!loss.routed) {
      plan.add_warnings(
          fmt::format("after the loss of {} some users find no place", loss.element));
    }
  }
  plan.set_simulated_requests(simulated);
}

}  // namespace isochrone::place
