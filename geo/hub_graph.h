#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/id.h"
#include "geo/network.h"

namespace isochrone::geo {

using HubId = Id<struct HubTag>;
using LinkId = Id<struct LinkTag>;

/// Length of a path. Paths are compared by weighted length, then by real length. Whole
/// metres, so that a sum does not depend on its order and a path is as long from one
/// end as from the other.
struct PathLength {
  std::int64_t weighted_m = 0;
  std::int64_t real_m = 0;

  static constexpr PathLength unreachable() {
    return {std::numeric_limits<std::int64_t>::max() / 4,
            std::numeric_limits<std::int64_t>::max() / 4};
  }
  /// Also false for a sum of lengths of which one is unreachable.
  bool reachable() const { return *this < unreachable(); }
  constexpr auto operator<=>(const PathLength&) const = default;
  friend constexpr PathLength operator+(PathLength a, PathLength b) {
    return {a.weighted_m + b.weighted_m, a.real_m + b.real_m};
  }
};

/// The best paths from one hub to all others.
struct PathTree {
  /// The last step to a hub; no link at the source and where no path leads.
  struct Arrival {
    HubId from;
    std::optional<LinkId> by;
  };

  HubId source;
  std::vector<PathLength> lengths;  ///< by hub
  std::vector<Arrival> arrivals;    ///< by hub
};

/// Hubs joined by links. Immutable after construction; any number of threads may ask.
class HubGraph {
 public:
  /// Links with `standing[link] == false` are left out. Ends must be known hubs.
  HubGraph(std::size_t hubs, const std::vector<Link>& links,
           const std::vector<std::pair<HubId, HubId>>& ends,
           const std::vector<bool>& standing);
  ~HubGraph();
  HubGraph(HubGraph&&) noexcept;
  HubGraph& operator=(HubGraph&&) noexcept;

  std::size_t size() const;

  /// O(E log V), Dijkstra 1959. Of equal paths, the one found first.
  PathTree tree_from(HubId source) const;

  /// What cuts leave of the tree of a graph that has all links of this one and more:
  /// the lengths of tree_from(tree.source), for the work of those hubs alone whose path
  /// is cut.
  PathTree tree_after_cuts(PathTree tree) const;

  /// Links of the best path, in order of travel; nullopt if no path is left.
  std::optional<std::vector<LinkId>> best_path(HubId from, HubId to) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace isochrone::geo
