#include "place/core/max_flow.h"

#include <algorithm>
#include <limits>

namespace isochrone::place {

void MaxFlow::reset(std::size_t nodes) {
  arcs_.clear();
  leaving_.resize(std::max(nodes, leaving_.size()));
  for (std::vector<std::size_t>& arcs : leaving_) arcs.clear();
  level_.assign(nodes, -1);
  next_.assign(nodes, 0);
}

std::size_t MaxFlow::add_edge(std::size_t from, std::size_t to, std::int64_t capacity) {
  const std::size_t edge = arcs_.size() / 2;
  leaving_[from].push_back(arcs_.size());
  arcs_.push_back({to, capacity});
  leaving_[to].push_back(arcs_.size());
  arcs_.push_back({from, 0});
  return edge;
}

void MaxFlow::set_capacity(std::size_t edge, std::int64_t capacity) {
  arcs_[2 * edge].left = capacity;
  arcs_[2 * edge + 1].left = 0;
}

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink) {
  std::int64_t total = 0;
  while (label_levels(source, sink)) {
    std::ranges::fill(next_, 0U);
    total += push(source, sink, std::numeric_limits<std::int64_t>::max());
  }
  return total;
}

bool MaxFlow::label_levels(std::size_t source, std::size_t sink) {
  std::ranges::fill(level_, -1);
  queue_.clear();
  queue_.push_back(source);
  level_[source] = 0;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const std::size_t node = queue_[i];
    for (const std::size_t a : leaving_[node]) {
      if (arcs_[a].left <= 0 || level_[arcs_[a].to] >= 0) continue;
      level_[arcs_[a].to] = level_[node] + 1;
      queue_.push_back(arcs_[a].to);
    }
  }
  return level_[sink] >= 0;
}

std::int64_t MaxFlow::push(std::size_t node, std::size_t sink, std::int64_t limit) {
  if (node == sink) return limit;
  std::int64_t pushed = 0;
  for (std::size_t& i = next_[node]; i < leaving_[node].size(); ++i) {
    const std::size_t a = leaving_[node][i];
    Arc& arc = arcs_[a];
    if (arc.left <= 0 || level_[arc.to] != level_[node] + 1) continue;
    const std::int64_t amount = push(arc.to, sink, std::min(limit - pushed, arc.left));
    arc.left -= amount;
    arcs_[a ^ 1].left += amount;
    pushed += amount;
    if (pushed == limit) return pushed;
  }
  return pushed;
}

}  // namespace isochrone::place
