#pragma once

#include <cstdint>
#include <optional>

#include "base/rng.h"
#include "place/core/instance.h"

namespace isochrone::place {

/// Which rows a small random world has.
struct Features {
  bool survival = false;
  bool coverage = false;
  bool max_sites = false;
  bool stock = false;
  bool whole = false;  // a second commodity that is one whole job
  bool traffic = false;
  bool group_share = false;
  bool premium = false;
  bool pinned = false;
  bool two_commodities = false;
};

/// A world small enough to try every deployment: 2-4 sites, 1-3 options, n <= 3, 1-4
/// demands, 1-2 blocks. Loads are large enough that rounding margins never decide.
Instance tiny_world(Rng& rng, const Features& features);
Features random_features(Rng& rng);

/// Least objective over every deployment and, where there is coverage, over each demand
/// being served, left as far as the slack allows, or left: exact without coverage, an
/// upper bound on the optimum with it. nullopt: nothing is feasible. Feasibility by
/// Hall's condition over all sets of demands, traffic by minimum-cost flow.
std::optional<std::int64_t> cheapest_deployment(const Instance& instance);

/// Like the global chat example: demands and sites on a sphere, `demands` metros, 24
/// blocks, reach by distance that shrinks with batch depth.
struct WorldSize {
  int sites = 300;
  int demands = 600;
  int blocks = 24;
  int profiles = 6;
  int levels = 10;
  int most_replicas = 64;
  double replicas = 100;  ///< that the total peak needs, about
  std::optional<int> max_sites = 20;
  bool survive_site = true;
  bool traffic = false;
};
Instance round_world(std::uint64_t seed, const WorldSize& size);

}  // namespace isochrone::place
