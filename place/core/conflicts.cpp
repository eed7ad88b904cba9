// Every proof relaxes the question: a site may be built at its largest for each demand
// it can reach at all, without regard to cost, stock shared between commodities or the
// number of sites. Demands that a coverage row lets go unserved are left out.
#include "place/core/conflicts.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/parallel.h"
#include "place/core/max_flow.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

bool must_be_served(const Model& model, int demand) {
  const DemandRow& row = model.instance().demands[at(demand)];
  if (row.coverage_group < 0) return true;
  const std::int64_t slack = model.instance().coverage[at(row.coverage_group)].slack;
  return slack <= 0 && row.coverage_weight > 0;
}

/// What a site could reach and carry at most for a commodity.
struct Reserve {
  Bits reached;
  std::int64_t capacity = 0;
};

Reserve reserve_of(const Model& model, int site, int commodity, bool degraded) {
  Reserve reserve{Bits(model.mask_of(commodity).size(), 0), 0};
  for (const Point& point : model.points(site, commodity)) {
    const Bits& reach =
        model.reach(site, degraded ? point.degraded_reach : point.reach);
    for (std::size_t w = 0; w < reach.size(); ++w) reserve.reached[w] |= reach[w];
    reserve.capacity =
        std::max(reserve.capacity, degraded ? point.degraded : point.capacity);
  }
  return reserve;
}

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

/// Demands no two of which a single site can serve: each needs a site of its own.
void find_too_few_sites(const Model& model, std::vector<Conflict>& found) {
  const auto& most = model.instance().max_sites;
  if (!most) return;
  std::vector<Bits> servers(at(model.demands()), Bits(at(model.sites()) / 64 + 1, 0));
  std::vector<std::pair<int, int>> order;
  for (int k = 0; k < model.commodities(); ++k) {
    for (int s = 0; s < model.sites(); ++s) {
      const Reserve reserve = reserve_of(model, s, k, false);
      for (const int d : model.demands_of(k)) {
        if (has_bit(reserve.reached, d)) set_bit(servers[at(d)], s);
      }
    }
  }
  for (int d = 0; d < model.demands(); ++d) {
    int count = 0;
    for (int s = 0; s < model.sites(); ++s) count += has_bit(servers[at(d)], s) ? 1 : 0;
    if (must_be_served(model, d)) order.emplace_back(count, d);
  }
  std::ranges::sort(order);
  std::vector<int> apart;
  for (const auto& [count, d] : order) {
    const bool disjoint = std::ranges::none_of(apart, [&](int other) {
      return intersects(servers[at(d)], servers[at(other)]);
    });
    if (disjoint) apart.push_back(d);
  }
  if (static_cast<std::int64_t>(apart.size()) <= *most) return;
  found.push_back({"max_sites", apart, -1, -1,
                   "no two of these demands share a site, and only " +
                       std::to_string(*most) + " sites are allowed"});
}

/// Whether every plan has something that the shares are of.
bool something_to_share(const Model& model) {
  const Instance& in = model.instance();
  using Of = Instance::GroupShare::Of;
  bool served = false;
  bool carried = false;
  for (int d = 0; d < model.demands(); ++d) {
    if (!must_be_served(model, d)) continue;
    served = true;
    for (int b = 0; b < model.blocks(); ++b) carried = carried || model.load(b, d) > 0;
  }
  if (in.group_share->of == Of::kTraffic) return carried;
  if (!served) return false;
  for (int s = 0; s < model.sites(); ++s) {
    for (int k = 0; k < model.commodities(); ++k) {
      for (const Point& point : model.points(s, k)) {
        if ((in.group_share->of == Of::kGpus ? point.gpus : point.bill) <= 0)
          return false;
      }
    }
  }
  return true;
}

void find_too_few_groups(const Model& model, std::vector<Conflict>& found) {
  const Instance& in = model.instance();
  if (!in.group_share || !something_to_share(model)) return;
  std::vector<std::uint8_t> able(at(in.groups), 0);
  for (int s = 0; s < model.sites(); ++s) {
    for (int k = 0; k < model.commodities(); ++k) {
      if (!model.points(s, k).empty()) able[at(in.sites[at(s)].group)] = 1;
    }
  }
  const auto groups = std::ranges::count(able, 1);
  if (static_cast<double>(groups) * in.group_share->share >= 1 - 1e-9) return;
  found.push_back({"group_share",
                   {},
                   -1,
                   -1,
                   std::to_string(groups) + " groups at " +
                       std::to_string(in.group_share->share) +
                       " each do not make up the whole"});
}

}  // namespace

std::vector<Conflict> structural_conflicts(const Model& model) {
  std::vector<Conflict> found;
  find_stranded(model, found);
  if (!found.empty()) return found;
  find_unpinnable(model, found);
  find_too_few_sites(model, found);
  find_too_few_groups(model, found);
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
