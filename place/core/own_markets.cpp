// Sites whose traffic costs differ from demand to demand: the order by density is their
// own. What is worth more than its traffic is gathered first, in one pass without
// branches; its sum says of most sites that they are not worth their cost, and only
// where capacity is short of it are the items sorted.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "place/core/lagrangian.h"

namespace isochrone::place {

std::vector<std::vector<Lagrangian::Arc>> Lagrangian::own_arcs(int site,
                                                               int commodity) const {
  std::vector<std::vector<Arc>> arcs(at(model_.blocks()));
  const std::vector<Point>& points = model_.points(site, commodity);
  for (const int d : model_.demands_of(commodity)) {
    const bool reached = std::ranges::any_of(points, [&](const Point& point) {
      return has_bit(model_.reach(site, point.reach), d);
    });
    if (!reached) continue;
    for (int b = 0; b < model_.blocks(); ++b) {
      arcs[at(b)].push_back({d, static_cast<double>(model_.load(b, d)),
                             static_cast<double>(model_.traffic_cost(site, b, d))});
    }
  }
  return arcs;
}

Lagrangian::OwnItems Lagrangian::own_items(const Market& market, int block,
                                           const Prices& prices) const {
  const std::vector<Arc>& arcs = market.arcs[at(block)];
  const double* price = prices.demand.data() + at(block) * at(model_.demands());
  thread_local std::vector<std::uint32_t> worthy;
  worthy.resize(arcs.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    worthy[count] = static_cast<std::uint32_t>(i);
    count += static_cast<std::size_t>(price[arcs[i].demand] > arcs[i].cost);
  }
  OwnItems own;
  own.items.resize(count);
  for (std::size_t j = 0; j < count; ++j) {
    const Arc& arc = arcs[worthy[j]];
    const double worth = price[arc.demand] - arc.cost;
    own.items[j] = {
        arc.demand, worth, arc.load,
        arc.load > 0 ? worth / arc.load : std::numeric_limits<double>::infinity()};
    own.load += arc.load;
    own.worth += worth;
  }
  return own;
}

/// Puts items that a capacity takes in first, and the one that it takes in a part of
/// next; sorted are only the last few of them.
void Lagrangian::sort_densest(std::vector<Item>& items, double capacity) {
  const auto denser = [](const Item& x, const Item& y) {
    return x.density != y.density ? x.density > y.density : x.demand < y.demand;
  };
  std::size_t first = 0;  // all before are denser than the rest, and fit
  std::size_t last = items.size();
  while (last - first > 12) {
    const std::size_t middle = first + (last - first) / 2;
    std::nth_element(items.begin() + static_cast<std::ptrdiff_t>(first),
                     items.begin() + static_cast<std::ptrdiff_t>(middle),
                     items.begin() + static_cast<std::ptrdiff_t>(last), denser);
    double load = 0;
    for (std::size_t i = first; i < middle; ++i) load += items[i].load;
    if (load <= capacity) {
      capacity -= load;
      first = middle;
    } else {
      last = middle;
    }
  }
  std::sort(items.begin() + static_cast<std::ptrdiff_t>(first),
            items.begin() + static_cast<std::ptrdiff_t>(last), denser);
}

/// What the points of a group earn, by capacity.
std::vector<double> Lagrangian::own_gains(Question& question,
                                          const ReachGroup& group) const {
  const Market& m = market(question.site, question.commodity);
  const Bits& reach = model_.reach(question.site, group.reach_class);
  const double* capacity = m.capacity.data() + group.first;
  std::vector<double> gains(group.last - group.first, 0);
  for (OwnItems& own : question.own) {
    if (m.groups.size() == 1 && own.load <= capacity[0]) {
      for (double& gain : gains) gain += own.worth;
      continue;
    }
    if (m.groups.size() == 1 && gains.size() == 1) {
      sort_densest(own.items, capacity[0]);
    } else {
      sort_by_density(own.items);
    }
    double load = 0;
    double worth = 0;
    std::size_t j = 0;
    for (const Item& item : own.items) {
      if (!has_bit(reach, item.demand)) continue;
      for (; j < gains.size() && capacity[j] < load + item.load; ++j) {
        gains[j] += worth + (capacity[j] - load) * item.density;
      }
      if (j == gains.size()) break;
      load += item.load;
      worth += item.worth;
    }
    for (; j < gains.size(); ++j) gains[j] += worth;
  }
  return gains;
}

}  // namespace isochrone::place
