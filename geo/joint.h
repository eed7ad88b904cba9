#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "geo/attachment.h"
#include "geo/hub_graph.h"

namespace isochrone::geo {

/// Best path lengths from those hubs that somebody asked for.
class LengthTable {
 public:
  LengthTable() = default;
  /// `trees`: one per source.
  LengthTable(std::size_t hubs, const std::vector<PathTree>& trees);

  /// `from` must be the source of a tree.
  const PathLength& at(HubId from, HubId to) const {
    return lengths_[row_[from.index()]][to.index()];
  }

 private:
  std::vector<std::uint32_t> row_;  // by HubId; meaningless for hubs not asked for
  std::vector<std::vector<PathLength>> lengths_;
};

/// Lengths with the cuts and, only if something is cut, without them.
struct Lengths {
  LengthTable standing;
  std::optional<LengthTable> intact;

  /// One Dijkstra per distinct source, and with cuts what repairs its tree. `cut`: the
  /// graph with the cuts, nullptr if there are none.
  Lengths(const HubGraph& intact_graph, const HubGraph* cut,
          std::vector<HubId> sources);

  const LengthTable& before() const { return intact ? *intact : standing; }
};

/// The best pair of tails and the path between them.
struct Joint {
  Tail from;
  Tail to;
  PathLength length = PathLength::unreachable();

  std::int64_t links_m() const { return length.real_m - from.metres - to.metres; }
};

/// Ties go to the tails that come first.
Joint best_joint(const Attachment& from, const Attachment& to,
                 const LengthTable& lengths);

/// True if no length between these tails differs from that without the cuts.
bool same_lengths(const Attachment& from, const Attachment& to, const Lengths& lengths);

/// Cap of a short path: nothing for a great circle of `until_km` and more.
struct ShortCap {
  double until_km = 0;
  double factor = 1;
  double extra_km = 0;

  std::optional<std::int64_t> metres(double great_circle_km) const;
};

/// One stretch of a route: the joint as it stands, and its lengths after the cap.
struct Leg {
  Joint joint;
  std::int64_t path_m = 0;    ///< with the cuts
  std::int64_t intact_m = 0;  ///< without them
  PathLength intact;          ///< weighed without the cuts, before the cap
  bool capped = false;

  bool reachable() const { return joint.length.reachable(); }
};

/// A cap never holds where a satellite is part of the way, nor where the links are over
/// three times the cap: such a detour is no gap in the map but a closed border. What a
/// cut adds is added to the cap too.
Leg leg_between(const Attachment& from, const Attachment& to, double great_circle_km,
                const ShortCap& cap, const Lengths& lengths);

}  // namespace isochrone::geo
