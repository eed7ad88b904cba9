// Dijkstra over a few hundred hubs and a thousand links, from every hub that somebody
// asks for.
//
// After a cut most of a tree of best paths stands as it stood: only hubs whose path
// took a cut link, and those behind them, need another. They are given up, each is
// offered the way by every neighbour that kept its length, and Dijkstra goes on from
// there. A length that kept its path is still the least, since a cut adds no link.

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

/// Writes down the step by which each hub was reached best.
class ArrivalRecorder : public boost::dijkstra_visitor<> {
 public:
  explicit ArrivalRecorder(std::vector<PathTree::Arrival>* arrivals)
      : arrivals_(arrivals) {}
  void edge_relaxed(const Edge& edge, const Graph& graph) const {
    const HubId from{static_cast<std::uint32_t>(boost::source(edge, graph))};
    (*arrivals_)[boost::target(edge, graph)] = {from, graph[edge].link};
  }

 private:
  std::vector<PathTree::Arrival>* arrivals_;
};

PathLength measure(const Link& link) {
  return {std::llround(link.route_km * link.policy_weight * 1e3),
          std::llround(link.route_km * 1e3)};
}

/// Goes on from the hubs of `edge`, whose lengths are known, to all that are not
/// `settled`.
void grow(const Graph& graph, PathTree& tree, const std::vector<Vertex>& edge,
          const std::vector<bool>& settled) {
  const auto index = boost::get(boost::vertex_index, graph);
  std::vector<boost::default_color_type> colours;
  colours.reserve(settled.size());
  for (const bool done : settled) {
    colours.push_back(done ? boost::black_color : boost::white_color);
  }
  boost::dijkstra_shortest_paths_no_init(
      graph, edge.begin(), edge.end(), boost::dummy_property_map(),
      boost::make_iterator_property_map(tree.lengths.begin(), index),
      boost::get(&Cable::length, graph), index, std::less<PathLength>(),
      std::plus<PathLength>(), PathLength{}, ArrivalRecorder(&tree.arrivals),
      boost::make_iterator_property_map(colours.begin(), index));
}

}  // namespace

struct HubGraph::Impl {
  Graph graph;
  std::vector<bool> standing;  // by link

  std::vector<bool> lost_hubs(const PathTree& tree) const;
  void offer_ways(PathTree& tree, Vertex hub, const std::vector<bool>& lost) const;
};

/// Hubs whose path has lost a link.
std::vector<bool> HubGraph::Impl::lost_hubs(const PathTree& tree) const {
  std::vector<std::size_t> by_length;
  for (std::size_t hub = 0; hub < tree.arrivals.size(); ++hub) {
    if (tree.arrivals[hub].by) by_length.push_back(hub);
  }
  // Links have a length, so the hub before comes before.
  std::ranges::sort(by_length, {}, [&](std::size_t hub) { return tree.lengths[hub]; });
  std::vector<bool> lost(tree.arrivals.size());
  for (const std::size_t hub : by_length) {
    const PathTree::Arrival& arrival = tree.arrivals[hub];
    lost[hub] = !standing[arrival.by->index()] || lost[arrival.from.index()];
  }
  return lost;
}

/// Reaches a lost hub from its neighbours that are not lost.
void HubGraph::Impl::offer_ways(PathTree& tree, Vertex hub,
                                const std::vector<bool>& lost) const {
  tree.lengths[hub] = PathLength::unreachable();
  tree.arrivals[hub] = {};
  for (const Edge& way : boost::make_iterator_range(boost::out_edges(hub, graph))) {
    const Vertex neighbour = boost::target(way, graph);
    if (lost[neighbour]) continue;
    const PathLength length = tree.lengths[neighbour] + graph[way].length;
    if (length >= tree.lengths[hub]) continue;
    tree.lengths[hub] = length;
    tree.arrivals[hub] = {HubId{static_cast<std::uint32_t>(neighbour)},
                          graph[way].link};
  }
}

HubGraph::HubGraph(std::size_t hubs, const std::vector<Link>& links,
                   const std::vector<std::pair<HubId, HubId>>& ends,
                   const std::vector<bool>& standing)
    : impl_(std::make_unique<Impl>(Impl{Graph(hubs), standing})) {
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

PathTree HubGraph::tree_from(HubId source) const {
  PathTree tree{source, std::vector(size(), PathLength::unreachable()),
                std::vector<PathTree::Arrival>(size())};
  tree.lengths[source.index()] = PathLength{};
  grow(impl_->graph, tree, {source.index()}, std::vector<bool>(size()));
  return tree;
}

PathTree HubGraph::tree_after_cuts(PathTree tree) const {
  std::vector<bool> lost = impl_->lost_hubs(tree);
  std::vector<Vertex> edge;
  for (Vertex hub = 0; hub < lost.size(); ++hub) {
    if (!lost[hub]) continue;
    impl_->offer_ways(tree, hub, lost);
    if (tree.lengths[hub].reachable()) edge.push_back(hub);
  }
  lost.flip();
  grow(impl_->graph, tree, edge, lost);
  return tree;
}

std::optional<std::vector<LinkId>> HubGraph::best_path(HubId from, HubId to) const {
  const PathTree tree = tree_from(from);
  if (!tree.lengths[to.index()].reachable()) return std::nullopt;
  std::vector<LinkId> path;
  for (HubId at = to; at != from; at = tree.arrivals[at.index()].from) {
    path.push_back(*tree.arrivals[at.index()].by);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace isochrone::geo
