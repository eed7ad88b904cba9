#include "geo/hub_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

namespace isochrone::geo {
namespace {

struct Cable {
  PathLength length;
  LinkId link;
};

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS,
                                    boost::no_property, Cable>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

/// Remembers the link by which each hub was reached best.
class ArrivalRecorder : public boost::dijkstra_visitor<> {
 public:
  explicit ArrivalRecorder(std::vector<Edge>* arrivals) : arrivals_(arrivals) {}
  void edge_relaxed(const Edge& edge, const Graph& graph) const {
    (*arrivals_)[boost::target(edge, graph)] = edge;
  }

 private:
  std::vector<Edge>* arrivals_;
};

PathLength measure(const Link& link) {
  return {std::llround(link.route_km * link.policy_weight * 1e3),
          std::llround(link.route_km * 1e3)};
}

template <class Visitor>
std::vector<PathLength> dijkstra(const Graph& graph, Vertex source, Visitor visitor) {
  std::vector<PathLength> lengths(boost::num_vertices(graph));
  boost::dijkstra_shortest_paths(
      graph, source,
      boost::weight_map(boost::get(&Cable::length, graph))
          .distance_map(boost::make_iterator_property_map(
              lengths.begin(), boost::get(boost::vertex_index, graph)))
          .distance_compare(std::less<PathLength>())
          .distance_combine(std::plus<PathLength>())
          .distance_inf(PathLength::unreachable())
          .distance_zero(PathLength{})
          .visitor(visitor));
  return lengths;
}

}  // namespace

struct HubGraph::Impl {
  Graph graph;
};

HubGraph::HubGraph(std::size_t hubs, const std::vector<Link>& links,
                   const std::vector<std::pair<HubId, HubId>>& ends,
                   const std::vector<bool>& standing)
    : impl_(std::make_unique<Impl>(Impl{Graph(hubs)})) {
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    if (!standing[i]) continue;
    boost::add_edge(ends[i].first.index(), ends[i].second.index(),
                    Cable{measure(links[i]), LinkId{i}}, impl_->graph);
  }
}

HubGraph::~HubGraph() = default;
HubGraph::HubGraph(HubGraph&&) noexcept = default;
HubGraph& HubGraph::operator=(HubGraph&&) noexcept = default;

std::size_t HubGraph::size() const { return boost::num_vertices(impl_->graph); }

std::vector<PathLength> HubGraph::lengths_from(HubId source) const {
  return dijkstra(impl_->graph, source.index(), boost::dijkstra_visitor<>());
}

std::optional<std::vector<LinkId>> HubGraph::best_path(HubId from, HubId to) const {
  const Graph& graph = impl_->graph;
  std::vector<Edge> arrivals(boost::num_vertices(graph));
  const auto lengths = dijkstra(graph, from.index(), ArrivalRecorder(&arrivals));
  if (!lengths[to.index()].reachable()) return std::nullopt;
  std::vector<LinkId> path;
  for (Vertex at = to.index(); at != from.index();) {
    const Edge& edge = arrivals[at];
    path.push_back(graph[edge].link);
    at = boost::source(edge, graph) == at ? boost::target(edge, graph)
                                          : boost::source(edge, graph);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace isochrone::geo
