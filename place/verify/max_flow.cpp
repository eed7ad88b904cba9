#include "place/verify/max_flow.h"

#include <algorithm>
#include <limits>

namespace isochrone::verify {

void MaxFlow::add_arc(std::size_t from, std::size_t to, std::int64_t capacity) {
  arcs_.push_back({to, first_[from], capacity});
  first_[from] = arcs_.size() - 1;
  arcs_.push_back({from, first_[to], 0});
  first_[to] = arcs_.size() - 1;
}

bool MaxFlow::find_levels(std::size_t source, std::size_t sink) {
  level_.assign(first_.size(), -1);
  level_[source] = 0;
  std::vector<std::size_t> queue{source};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::size_t node = queue[head];
    for (std::size_t a = first_[node]; a != kNone; a = arcs_[a].next) {
      if (arcs_[a].left > 0 && level_[arcs_[a].to] < 0) {
        level_[arcs_[a].to] = level_[node] + 1;
        queue.push_back(arcs_[a].to);
      }
    }
  }
  return level_[sink] >= 0;
}

std::int64_t MaxFlow::push(std::size_t node, std::size_t sink, std::int64_t most) {
  if (node == sink || most == 0) return most;
  std::int64_t pushed = 0;
  for (std::size_t& a = tried_[node]; a != kNone; a = arcs_[a].next) {
    Arc& arc = arcs_[a];
    if (arc.left <= 0 || level_[arc.to] != level_[node] + 1) continue;
    const std::int64_t got = push(arc.to, sink, std::min(most - pushed, arc.left));
    arc.left -= got;
    arcs_[a ^ 1].left += got;
    pushed += got;
    if (pushed == most) break;
  }
  return pushed;
}

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink) {
  std::int64_t flow = 0;
  while (find_levels(source, sink)) {
    tried_ = first_;
    flow += push(source, sink, std::numeric_limits<std::int64_t>::max());
  }
  return flow;
}

}  // namespace isochrone::verify
