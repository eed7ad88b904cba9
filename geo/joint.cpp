#include "geo/joint.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.h"

namespace isochrone::geo {
namespace {

// A path between hubs that is so many times longer than the cap is no gap in the map
// but a closed border (Lahore-Delhi, Beirut-Jerusalem): neighbours that meet at a far
// exchange.
constexpr std::int64_t kTrombone = 3;

}  // namespace

LengthTable::LengthTable(std::size_t hubs, const std::vector<PathTree>& trees)
    : row_(hubs) {
  for (const PathTree& tree : trees) {
    row_[tree.source.index()] = static_cast<std::uint32_t>(lengths_.size());
    lengths_.push_back(tree.lengths);
  }
}

Lengths::Lengths(const HubGraph& intact_graph, const HubGraph* cut,
                 std::vector<HubId> sources) {
  std::ranges::sort(sources);
  const auto repeated = std::ranges::unique(sources);
  sources.erase(repeated.begin(), repeated.end());
  std::vector<PathTree> trees = parallel_map(sources.size(), [&](std::size_t i) {
    return intact_graph.tree_from(sources[i]);
  });
  if (cut) {
    intact.emplace(intact_graph.size(), trees);
    parallel_for_each_index(trees.size(), [&](std::size_t i) {
      trees[i] = cut->tree_after_cuts(std::move(trees[i]));
    });
  }
  standing = LengthTable(intact_graph.size(), trees);
}

Joint best_joint(const Attachment& from, const Attachment& to,
                 const LengthTable& lengths) {
  Joint best;
  for (const Tail& a : from.tails) {
    for (const Tail& b : to.tails) {
      const PathLength& path = lengths.at(a.hub, b.hub);
      if (!path.reachable()) continue;
      const std::int64_t tails_m = a.metres + b.metres;
      const PathLength whole = path + PathLength{tails_m, tails_m};
      if (whole < best.length) best = {a, b, whole};
    }
  }
  return best;
}

bool same_lengths(const Attachment& from, const Attachment& to,
                  const Lengths& lengths) {
  for (const Tail& a : from.tails) {
    for (const Tail& b : to.tails) {
      if (lengths.standing.at(a.hub, b.hub) != lengths.before().at(a.hub, b.hub)) {
        return false;
      }
    }
  }
  return true;
}

std::optional<std::int64_t> ShortCap::metres(double great_circle_km) const {
  if (great_circle_km >= until_km) return std::nullopt;
  return std::llround((factor * great_circle_km + extra_km) * 1e3);
}

Leg leg_between(const Attachment& from, const Attachment& to, double great_circle_km,
                const ShortCap& cap, const Lengths& lengths) {
  Leg leg;
  leg.joint = best_joint(from, to, lengths.standing);
  const Joint before =
      lengths.intact ? best_joint(from, to, *lengths.intact) : leg.joint;
  leg.path_m = leg.joint.length.real_m;
  leg.intact_m = before.length.real_m;
  leg.intact = before.length;
  const auto cap_m = cap.metres(great_circle_km);
  if (!cap_m || from.satellite || to.satellite || !leg.reachable()) return leg;
  if (before.links_m() > kTrombone * *cap_m) return leg;
  const std::int64_t detour_m = std::max<std::int64_t>(0, leg.path_m - leg.intact_m);
  leg.intact_m = std::min(leg.intact_m, *cap_m);
  leg.capped = leg.intact_m + detour_m != leg.path_m;
  leg.path_m = leg.intact_m + detour_m;
  return leg;
}

}  // namespace isochrone::geo
