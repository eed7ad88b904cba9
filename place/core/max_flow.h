#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::place {

/// Maximum flow in small integer networks that are solved many times with other
/// capacities (Dinic, 1970). Keeps its memory between uses; not shared by threads.
class MaxFlow {
 public:
  /// Forgets all edges.
  void reset(std::size_t nodes);
  /// Number of the edge, counted from 0 in order of addition.
  std::size_t add_edge(std::size_t from, std::size_t to, std::int64_t capacity);
  /// Also takes back all flow on the edge.
  void set_capacity(std::size_t edge, std::int64_t capacity);

  std::int64_t run(std::size_t source, std::size_t sink);
  std::int64_t flow(std::size_t edge) const { return arcs_[2 * edge + 1].left; }
  /// After run(): whether the node is on the source's side of the minimum cut.
  bool on_source_side(std::size_t node) const { return level_[node] >= 0; }

 private:
  struct Arc {
    std::size_t to = 0;
    std::int64_t left = 0;
  };

  bool label_levels(std::size_t source, std::size_t sink);
  std::int64_t push(std::size_t node, std::size_t sink, std::int64_t limit);

  std::vector<Arc> arcs_;  // 2e forward, 2e + 1 backward
  std::vector<std::vector<std::size_t>> leaving_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
  std::vector<std::size_t> queue_;
};

}  // namespace isochrone::place
