// Every proof relaxes the question: a site may be built at its largest for each demand
// it can reach at all, without regard to cost, stock shared between commodities or the
// number of sites. Demands that a coverage row lets go unserved are left out. Proofs
// that only count are in counting.cpp.
#include "place/core/conflicts.h"

#include <algorithm>
#include <string>

#include "base/parallel.h"
#include "place/core/counting.h"
#include "place/core/max_flow.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

/// Demands whose joint load the reserves cannot carry in the block, or none.
std::vector<int> overload(const Model& model, const std::vector<Reserve>& reserves,
                          int commodity, int block) {
  std::vector<int> demands;
  for (const int d : model.demands_of(commodity)) {
    if (must_be_served(model, d) && model.load(block, d) > 0) demands.push_back(d);
  }
  MaxFlow network;
  const std::size_t sink = 1 + demands.size() + reserves.size();
  network.reset(sink + 1);
  std::int64_t asked = 0;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    network.add_edge(0, 1 + i, model.load(block, demands[i]));
    asked += model.load(block, demands[i]);
    for (std::size_t s = 0; s < reserves.size(); ++s) {
      if (reserves[s].capacity <= 0 || !has_bit(reserves[s].reached, demands[i]))
        continue;
      network.add_edge(1 + i, 1 + demands.size() + s, kUnlimited);
    }
  }
  for (std::size_t s = 0; s < reserves.size(); ++s) {
    network.add_edge(1 + demands.size() + s, sink, reserves[s].capacity);
  }
  std::vector<int> cut;
  if (network.run(0, sink) == asked) return cut;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (network.on_source_side(1 + i)) cut.push_back(demands[i]);
  }
  return cut;
}

std::vector<Reserve> reserves_of(const Model& model, int commodity, int lost) {
  std::vector<Reserve> reserves;
  for (int s = 0; s < model.sites(); ++s) {
    reserves.push_back(reserve_of(model, s, commodity, lost >= 0));
  }
  if (lost >= 0) {
    for (const int s : model.sites_of(lost)) reserves[at(s)].capacity = 0;
  }
  return reserves;
}

void find_stranded(const Model& model, std::vector<Conflict>& found) {
  const Instance& in = model.instance();
  std::vector<Wide> forced(in.coverage.size(), 0);
  std::vector<std::vector<int>> stranded(in.coverage.size() + 1);
  for (int d = 0; d < model.demands(); ++d) {
    if (model.reachable(d)) continue;
    const int group = in.demands[at(d)].coverage_group;
    stranded[at(group + 1)].push_back(d);
    if (group >= 0) forced[at(group)] += in.demands[at(d)].coverage_weight;
  }
  for (std::size_t g = 0; g < stranded.size(); ++g) {
    if (stranded[g].empty()) continue;
    if (g > 0 && forced[g - 1] <= in.coverage[g - 1].slack) continue;
    found.push_back({"no_arc", stranded[g], -1, -1,
                     "no site can serve these demands within their objectives"});
  }
}

void find_unpinnable(const Model& model, std::vector<Conflict>& found) {
  const Instance& in = model.instance();
  int pinned = 0;
  for (int s = 0; s < model.sites(); ++s) {
    if (!in.sites[at(s)].pinned) continue;
    ++pinned;
    bool buildable = false;
    for (int k = 0; k < model.commodities(); ++k) {
      buildable = buildable || !model.points(s, k).empty();
    }
    if (!buildable) {
      found.push_back({"pins",
                       {},
                       -1,
                       -1,
                       "site " + std::to_string(s) + " is pinned but offers nothing"});
    }
  }
  if (in.max_sites && pinned > *in.max_sites) {
    found.push_back({"pins",
                     {},
                     -1,
                     -1,
                     std::to_string(pinned) + " sites are pinned, " +
                         std::to_string(*in.max_sites) + " are allowed"});
  }
}

}  // namespace

std::vector<Conflict> structural_conflicts(const Model& model) {
  std::vector<Conflict> found;
  find_stranded(model, found);
  if (!found.empty()) return found;
  find_unpinnable(model, found);
  find_by_counting(model, found);
  for (int k = 0; k < model.commodities(); ++k) {
    if (model.whole(k)) continue;
    const std::vector<Reserve> reserves = reserves_of(model, k, -1);
    for (const int b : model.hard_blocks_of(k)) {
      const std::vector<int> demands = overload(model, reserves, k, b);
      if (demands.empty()) continue;
      found.push_back({"capacity", demands, -1, b,
                       "all that could be built cannot carry this joint load"});
      break;
    }
  }
  return found;
}

std::vector<Conflict> survival_conflicts(const Model& model) {
  const auto by_element =
      parallel_map(at(model.instance().elements), [&](std::size_t e) {
        std::vector<Conflict> found;
        const int element = static_cast<int>(e);
        for (int k = 0; k < model.commodities() && found.empty(); ++k) {
          if (model.whole(k)) continue;
          const std::vector<Reserve> reserves = reserves_of(model, k, element);
          for (const int b : model.hard_blocks_of(k)) {
            const std::vector<int> demands = overload(model, reserves, k, b);
            if (demands.empty()) continue;
            found.push_back({"survival", demands, element, b,
                             "what is left after the loss cannot carry this load"});
            break;
          }
        }
        return found;
      });
  std::vector<Conflict> all;
  for (const auto& found : by_element)
    all.insert(all.end(), found.begin(), found.end());
  return all;
}

}  // namespace isochrone::place
