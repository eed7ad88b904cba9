#pragma once

#include <cstdint>
#include <vector>

namespace isochrone::verify {

/// Largest flow from a source to a sink over arcs with integer capacities: Dinic's
/// algorithm (Soviet Math. Dokl. 11, 1970), O(V^2 E), plain because it is run to check
/// and not to search.
class MaxFlow {
 public:
  explicit MaxFlow(std::size_t nodes) : first_(nodes, kNone) {}

  void add_arc(std::size_t from, std::size_t to, std::int64_t capacity);

  /// Uses the capacities up: call once.
  std::int64_t run(std::size_t source, std::size_t sink);

  /// After run(): whether a node is on the source's side of the smallest cut.
  bool on_source_side(std::size_t node) const { return level_[node] >= 0; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Arc {
    std::size_t to = 0;
    std::size_t next = kNone;
    std::int64_t left = 0;
  };
  bool find_levels(std::size_t source, std::size_t sink);
  std::int64_t push(std::size_t node, std::size_t sink, std::int64_t most);

  std::vector<std::size_t> first_;
  std::vector<Arc> arcs_;  // an arc and its reverse stand together
  std::vector<int> level_;
  std::vector<std::size_t> tried_;
};

}  // namespace isochrone::verify
