#include "geo/hub_graph.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace isochrone::geo {
namespace {

constexpr std::size_t kHubs = 12;

/// Numbers that look random, the same every time.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>(state_ >> 33) % n;
  }

 private:
  std::uint64_t state_;
};

struct World {
  std::vector<Link> links;
  std::vector<std::pair<HubId, HubId>> ends;

  explicit World(std::uint64_t seed) {
    Dice dice(seed);
    while (links.size() < 20) {
      const HubId a{dice.below(kHubs)};
      const HubId b{dice.below(kHubs)};
      if (a == b) continue;
      Link link;
      // Few lengths, so that ties are common.
      link.route_km = 1 + dice.below(6);
      link.policy_weight = 1 + dice.below(2);
      links.push_back(link);
      ends.emplace_back(a, b);
    }
  }

  HubGraph graph(const std::vector<bool>& standing) const {
    return {kHubs, links, ends, standing};
  }

  /// All best lengths by Floyd's algorithm.
  std::vector<std::vector<PathLength>> brute_force(
      const std::vector<bool>& standing) const {
    std::vector best(kHubs, std::vector(kHubs, PathLength::unreachable()));
    for (std::size_t i = 0; i < kHubs; ++i) best[i][i] = PathLength{};
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (!standing[i]) continue;
      const auto real_m = static_cast<std::int64_t>(links[i].route_km * 1e3);
      const PathLength length{
          static_cast<std::int64_t>(links[i].policy_weight) * real_m, real_m};
      for (const auto& [a, b] : {ends[i], std::pair(ends[i].second, ends[i].first)}) {
        best[a.index()][b.index()] = std::min(best[a.index()][b.index()], length);
      }
    }
    for (std::size_t k = 0; k < kHubs; ++k) {
      for (std::size_t i = 0; i < kHubs; ++i) {
        for (std::size_t j = 0; j < kHubs; ++j) {
          best[i][j] = std::min(best[i][j], best[i][k] + best[k][j]);
        }
      }
    }
    return best;
  }
};

bool same(PathLength a, PathLength b) {
  return a == b || (!a.reachable() && !b.reachable());
}

TEST_SUITE("geo/hub_graph") {
  TEST_CASE("best lengths before and after cuts are those of brute force") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const World world(seed);
      Dice dice(seed + 1000);
      const std::vector<bool> all(world.links.size(), true);
      std::vector<bool> standing = all;
      for (int i = 0; i < 4; ++i) standing[dice.below(20)] = false;
      const HubGraph intact = world.graph(all);
      const HubGraph cut = world.graph(standing);
      const auto before = world.brute_force(all);
      const auto after = world.brute_force(standing);

      for (std::uint32_t from = 0; from < kHubs; ++from) {
        const PathTree tree = intact.tree_from(HubId{from});
        const PathTree repaired = cut.tree_after_cuts(tree);
        for (std::size_t to = 0; to < kHubs; ++to) {
          REQUIRE(same(tree.lengths[to], before[from][to]));
          REQUIRE(same(repaired.lengths[to], after[from][to]));
        }
      }
    }
  }

  TEST_CASE("the links of a best path have its length and join its ends") {
    const World world(7);
    const HubGraph graph = world.graph(std::vector<bool>(world.links.size(), true));

    for (std::uint32_t to = 1; to < kHubs; ++to) {
      const auto path = graph.best_path(HubId{0}, HubId{to});
      const PathLength length = graph.tree_from(HubId{0}).lengths[to];
      REQUIRE(path.has_value() == length.reachable());
      if (!path) continue;
      HubId at{0};
      double km = 0;
      for (const LinkId link : *path) {
        const auto& [a, b] = world.ends[link.index()];
        REQUIRE((a == at || b == at));
        at = a == at ? b : a;
        km += world.links[link.index()].route_km;
      }
      CHECK(at == HubId{to});
      CHECK(km * 1e3 == static_cast<double>(length.real_m));
    }
  }
}

}  // namespace
}  // namespace isochrone::geo
