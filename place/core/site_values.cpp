// One dual step. Densities are sorted once per block for all sites. What a capacity
// earns at a site is concave in it, so a site first computes it on a coarse grid of
// capacities, with the union of its reach classes: chords through neighbouring grid
// points bound the gain of every (option, n) from above, and most sites end there,
// because even so they are not worth their cost. Only classes that might hold the best
// point are filled with their own reach, and only points that might be the best are
// computed exactly.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "place/core/lagrangian.h"

namespace isochrone::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kGridPoints = 32;

double usable_capacity(const Point& point) {
  return static_cast<double>(std::max<std::int64_t>(0, point.capacity));
}

/// Positions of the items within reach that are worth their traffic at `rate` per unit
/// of load. Branch-free within: whether a demand is in reach cannot be predicted, and a
/// wrong guess costs more than the whole test.
template <class Items>
std::size_t within_reach(const Items& items, double rate, const Bits& reach,
                         std::vector<std::uint32_t>& positions) {
  positions.resize(items.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < items.size() && items[i].density > rate; ++i) {
    positions[count] = static_cast<std::uint32_t>(i);
    count += static_cast<std::size_t>(has_bit(reach, items[i].demand));
  }
  return count;
}

template <class Items>
void fill_knapsacks(const Items& items, double rate, const Bits& reach,
                    const std::vector<double>& capacity,
                    std::vector<std::uint32_t>& positions, std::vector<double>& gains) {
  const std::size_t within = within_reach(items, rate, reach, positions);
  double load = 0;
  double worth = 0;
  std::size_t j = 0;
  const std::size_t count = capacity.size();
  for (std::size_t i = 0; i < within; ++i) {
    const auto& item = items[positions[i]];
    const double next = load + item.load;
    for (; j < count && capacity[j] < next; ++j) {
      gains[j] += worth + (capacity[j] - load) * (item.density - rate);
    }
    if (j == count) return;
    load = next;
    worth += item.worth - rate * item.load;
  }
  for (; j < count; ++j) gains[j] += worth;
}

}  // namespace

Lagrangian::Market Lagrangian::make_market(int site, int commodity) const {
  const std::vector<Point>& points = model_.points(site, commodity);
  Market market;
  market.reached.assign(model_.mask_of(commodity).size(), 0);
  market.traffic_rate = traffic_rate(site, commodity);
  market.group_of.resize(points.size());
  market.cell.resize(points.size());
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int p) { return points[at(p)].capacity; });
  std::map<int, std::size_t> group_of_class;
  for (const int p : order) {
    const int reach_class = points[at(p)].reach;
    const auto [found, fresh] =
        group_of_class.try_emplace(reach_class, market.groups.size());
    if (fresh) {
      market.groups.push_back({reach_class, false, {}});
      const Bits& reach = model_.reach(site, reach_class);
      for (std::size_t w = 0; w < reach.size(); ++w) market.reached[w] |= reach[w];
    }
    market.group_of[at(p)] = found->second;
    market.groups[found->second].points.push_back(p);
  }
  for (ReachGroup& group : market.groups) {
    group.all = contains(model_.reach(site, group.reach_class), market.reached);
  }
  // Every stride-th capacity: dense where the points are.
  market.grid.push_back(0);
  const std::size_t stride = std::max<std::size_t>(1, order.size() / kGridPoints);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double capacity = usable_capacity(points[at(order[i])]);
    const bool wanted = i % stride == 0 || i + 1 == order.size();
    if (wanted && capacity > market.grid.back()) market.grid.push_back(capacity);
  }
  for (std::size_t p = 0; p < points.size(); ++p) {
    const auto above =
        std::ranges::upper_bound(market.grid, usable_capacity(points[p]));
    market.cell[p] = static_cast<std::size_t>(above - market.grid.begin()) - 1;
  }
  return market;
}

/// Cost of traffic per unit of load by block, if it is the same for all demands: then
/// the order by density holds for the site too. Empty if it is not.
std::vector<double> Lagrangian::traffic_rate(int site, int commodity) const {
  std::vector<double> rate(at(model_.blocks()), 0);
  if (model_.free_traffic(site)) return rate;
  for (int b = 0; b < model_.blocks(); ++b) {
    double cost = 0;
    double load = 0;
    for (const int d : model_.demands_of(commodity)) {
      cost += static_cast<double>(model_.traffic_cost(site, b, d));
      load += static_cast<double>(model_.load(b, d));
    }
    if (load > 0) rate[at(b)] = cost / load;
    for (const int d : model_.demands_of(commodity)) {
      const double expected = rate[at(b)] * static_cast<double>(model_.load(b, d));
      const double actual = static_cast<double>(model_.traffic_cost(site, b, d));
      if (std::abs(actual - expected) > 2 + 1e-3 * std::abs(expected)) return {};
    }
  }
  return rate;
}

/// Items of a site whose traffic costs differ from demand to demand.
std::vector<Lagrangian::Item> Lagrangian::own_items(int site,
                                                    const std::vector<Item>& all,
                                                    int block) const {
  std::vector<Item> items;
  items.reserve(all.size());
  for (const Item& item : all) {
    const double worth =
        item.worth - static_cast<double>(model_.traffic_cost(site, block, item.demand));
    if (worth <= 0) continue;
    items.push_back(
        {item.demand, worth, item.load, item.load > 0 ? worth / item.load : kNever});
  }
  std::ranges::sort(items, [](const Item& x, const Item& y) {
    return x.density != y.density ? x.density > y.density : x.demand < y.demand;
  });
  return items;
}

std::vector<double> Lagrangian::rewards(int site, int commodity,
                                        const Prices& prices) const {
  std::vector<double> reward(model_.instance().sites[at(site)].reach.size(), 0);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (prices.row[r] <= 0 || row_commodity_[r] != commodity) continue;
    if (row_lost_[r][at(site)] != 0) continue;
    for (std::size_t c = 0; c < reward.size(); ++c) {
      if (row_reaches_[r][model_.class_index(site, static_cast<int>(c))] != 0) {
        reward[c] += prices.row[r];
      }
    }
  }
  return reward;
}

double Lagrangian::whole_gain(int site, int commodity, const Prices& prices) const {
  double gain = 0;
  for (const int d : model_.demands_of(commodity)) {
    for (int b = 0; b < model_.blocks(); ++b) {
      gain += prices.demand[at(b) * at(model_.demands()) + at(d)] -
              static_cast<double>(model_.traffic_cost(site, b, d));
    }
  }
  return std::max(0.0, gain);
}

double Lagrangian::net_cost(const Question& question, const Point& point) const {
  return static_cast<double>(point.cost) - question.reward[at(point.degraded_reach)] *
                                               static_cast<double>(point.degraded);
}

/// What each capacity (ascending) earns from the demands in reach, over all blocks.
std::vector<double> Lagrangian::gains_at(const Question& question, const Bits& reach,
                                         const std::vector<double>& capacities) const {
  std::vector<double> gains(capacities.size(), 0);
  std::vector<std::uint32_t> positions;
  const int k = question.commodity;
  for (int b = 0; b < model_.blocks(); ++b) {
    const auto& all = question.items[at(k) * at(model_.blocks()) + at(b)];
    if (all.empty()) continue;
    const std::vector<double>& rate = market(question.site, k).traffic_rate;
    if (!rate.empty()) {
      fill_knapsacks(all, rate[at(b)], reach, capacities, positions, gains);
    } else {
      fill_knapsacks(own_items(question.site, all, b), 0, reach, capacities, positions,
                     gains);
    }
  }
  return gains;
}

/// Upper bound on a concave function between two grid points: below both chords beyond.
double Lagrangian::at_most(const Market& market, const std::vector<double>& gains,
                           int point, double capacity) const {
  const std::vector<double>& grid = market.grid;
  const std::size_t i = market.cell[at(point)];
  if (capacity <= grid[i] || i + 1 >= grid.size()) return gains[i];
  double bound = gains[i + 1];
  if (i > 0) {
    const double slope = (gains[i] - gains[i - 1]) / (grid[i] - grid[i - 1]);
    bound = std::min(bound, gains[i] + slope * (capacity - grid[i]));
  }
  if (i + 2 < grid.size()) {
    const double slope = (gains[i + 2] - gains[i + 1]) / (grid[i + 2] - grid[i + 1]);
    bound = std::min(bound, gains[i + 1] - slope * (grid[i + 1] - capacity));
  }
  return bound;
}

/// By point: net cost less at least what it would earn with the union of all reaches.
std::vector<double> Lagrangian::optimistic_values(const Question& question) const {
  const Market& m = market(question.site, question.commodity);
  const std::vector<Point>& points = model_.points(question.site, question.commodity);
  std::vector<double> values(points.size());
  if (model_.whole(question.commodity)) {
    const double gain = whole_gain(question.site, question.commodity, question.prices);
    for (std::size_t p = 0; p < points.size(); ++p) {
      const Bits& reach = model_.reach(question.site, points[p].reach);
      const bool reaches = intersects(reach, model_.mask_of(question.commodity));
      values[p] = net_cost(question, points[p]) - (reaches ? gain : 0);
    }
    return values;
  }
  const std::vector<double> gains = gains_at(question, m.reached, m.grid);
  for (std::size_t p = 0; p < points.size(); ++p) {
    values[p] = net_cost(question, points[p]) -
                at_most(m, gains, static_cast<int>(p), usable_capacity(points[p]));
  }
  return values;
}

/// Values of some points of a group, ascending in capacity.
std::vector<double> Lagrangian::exact_values(const Question& question,
                                             const ReachGroup& group,
                                             const std::vector<int>& points) const {
  const std::vector<Point>& all = model_.points(question.site, question.commodity);
  std::vector<double> capacities;
  for (const int p : points) capacities.push_back(usable_capacity(all[at(p)]));
  const Bits& reach = model_.reach(question.site, group.reach_class);
  std::vector<double> values = gains_at(question, reach, capacities);
  for (std::size_t i = 0; i < points.size(); ++i) {
    values[i] = net_cost(question, all[at(points[i])]) - values[i];
  }
  return values;
}

/// Least value below 0 and its point, or (0, -1).
std::pair<double, int> Lagrangian::best_choice(const Question& question,
                                               std::vector<double>& optimistic) const {
  const Market& m = market(question.site, question.commodity);
  const std::vector<Point>& points = model_.points(question.site, question.commodity);
  std::vector<double> lowest(m.groups.size(), kNever);
  for (std::size_t p = 0; p < points.size(); ++p) {
    lowest[m.group_of[p]] = std::min(lowest[m.group_of[p]], optimistic[p]);
  }
  std::vector<std::size_t> order(m.groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t g) { return lowest[g]; });
  std::pair<double, int> best{0, -1};
  for (const std::size_t g : order) {
    if (lowest[g] >= best.first) break;
    const ReachGroup& group = m.groups[g];
    if (model_.whole(question.commodity)) {
      for (const int p : group.points) best = std::min(best, {optimistic[at(p)], p});
      continue;
    }
    if (!group.all) {
      const Bits& reach = model_.reach(question.site, group.reach_class);
      const std::vector<double> gains = gains_at(question, reach, m.grid);
      for (const int p : group.points) {
        const Point& point = points[at(p)];
        optimistic[at(p)] =
            net_cost(question, point) - at_most(m, gains, p, usable_capacity(point));
      }
    }
    // The most promising point alone first: it rules most of the others out.
    std::vector<int> tried{*std::ranges::min_element(
        group.points, {}, [&](int p) { return optimistic[at(p)]; })};
    for (int pass = 0; pass < 2 && !tried.empty(); ++pass) {
      const std::vector<double> values = exact_values(question, group, tried);
      for (std::size_t i = 0; i < tried.size(); ++i) {
        if (values[i] < best.first) best = {values[i], tried[i]};
      }
      const int first = pass == 0 ? tried.front() : -1;
      tried.clear();
      for (const int p : group.points) {
        if (pass == 0 && p != first && optimistic[at(p)] < best.first)
          tried.push_back(p);
      }
    }
  }
  return best;
}

Lagrangian::SiteResult Lagrangian::value_of_site(int site, const ItemLists& items,
                                                 const Prices& prices) const {
  const Site& place = model_.instance().sites[at(site)];
  const double fixed = static_cast<double>(place.fixed_cost);
  std::vector<std::vector<double>> optimistic;
  std::vector<Question> questions;
  SiteResult result;
  result.pick.assign(at(model_.commodities()), -1);
  result.value = fixed;
  double nearest = kNever;
  for (int k = 0; k < model_.commodities(); ++k) {
    questions.push_back({items, prices, site, k, rewards(site, k, prices)});
    optimistic.push_back(optimistic_values(questions.back()));
    double least = kNever;
    for (const double value : optimistic.back()) least = std::min(least, value);
    nearest = std::min(nearest, least);
    result.value += std::min(0.0, least);
  }
  result.reduced = fixed + nearest;
  if (result.value >= 0 && !place.pinned) {
    result.value = 0;
    return result;
  }
  result.value = fixed;
  for (int k = 0; k < model_.commodities(); ++k) {
    const auto [value, point] = best_choice(questions[at(k)], optimistic[at(k)]);
    result.pick[at(k)] = point;
    result.value += value;
  }
  result.reduced = std::max(result.reduced, result.value);
  return result;
}

}  // namespace isochrone::place
