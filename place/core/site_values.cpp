// One dual step. Densities are sorted once per block for all sites. A site then divides
// each block into runs of about equal load and sums load and worth of a run by reach
// class: that bounds the gain of every (option, n) from above, and closely, for the
// price of a few passes over the demands. Most sites end there, because even so they
// are not worth their cost; of the others only the classes that may hold the best point
// are filled exactly.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "place/core/lagrangian.h"

namespace isochrone::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kRuns = 16;

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

/// Adds to gains[j] what capacity[j] (ascending) earns from the items within reach.
template <class Items>
void fill_knapsacks(const Items& items, double rate, const Bits& reach,
                    const double* capacity, std::vector<std::uint32_t>& positions,
                    std::vector<double>& gains) {
  const std::size_t within = within_reach(items, rate, reach, positions);
  double load = 0;
  double worth = 0;
  std::size_t j = 0;
  for (std::size_t i = 0; i < within; ++i) {
    const auto& item = items[positions[i]];
    const double next = load + item.load;
    for (; j < gains.size() && capacity[j] < next; ++j) {
      gains[j] += worth + (capacity[j] - load) * (item.density - rate);
    }
    if (j == gains.size()) return;
    load = next;
    worth += item.worth - rate * item.load;
  }
  for (; j < gains.size(); ++j) gains[j] += worth;
}

struct Amount {
  double load = 0;
  double worth = 0;
};

}  // namespace

void Lagrangian::sort_by_density(std::vector<Item>& items) {
  std::ranges::sort(items, [](const Item& x, const Item& y) {
    return x.density != y.density ? x.density > y.density : x.demand < y.demand;
  });
}

/// Sorts the items by density and cuts them into runs of about equal load, those
/// without load in a run of their own.
void Lagrangian::arrange(ItemList& list) {
  std::vector<Item>& items = list.items;
  sort_by_density(items);
  double total = 0;
  for (const Item& item : items) total += item.load;
  list.run_begin = {0};
  double load = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double next = static_cast<double>(list.run_begin.size()) * total / kRuns;
    const bool weightless = i > 0 && items[i - 1].load <= 0 && items[i].load > 0;
    if (i > 0 && (weightless || (load >= next && list.run_begin.size() < kRuns))) {
      list.run_begin.push_back(static_cast<std::uint32_t>(i));
    }
    load += items[i].load;
  }
  list.run_begin.push_back(static_cast<std::uint32_t>(items.size()));
}

Lagrangian::Market Lagrangian::make_market(int site, int commodity) const {
  const std::vector<Point>& points = model_.points(site, commodity);
  Market market;
  market.traffic_rate = traffic_rate(site, commodity);
  if (market.traffic_rate.empty()) market.arcs = own_arcs(site, commodity);
  const auto size_of = [&](int reach_class) {
    int size = 0;
    for (const int d : model_.demands_of(commodity)) {
      size += has_bit(model_.reach(site, reach_class), d) ? 1 : 0;
    }
    return size;
  };
  std::map<int, int> size_of_class;
  for (const Point& point : points) size_of_class.try_emplace(point.reach, 0);
  for (auto& [reach_class, size] : size_of_class) size = size_of(reach_class);
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int p) {
    const Point& point = points[at(p)];
    return std::tuple(size_of_class[point.reach], point.reach, point.capacity);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int reach_class = points[at(order[i])].reach;
    if (market.groups.empty() || market.groups.back().reach_class != reach_class) {
      market.groups.push_back({reach_class, -1, {}, i, i});
    }
    ++market.groups.back().last;
    market.capacity.push_back(usable_capacity(points[at(order[i])]));
  }
  market.order = std::move(order);
  sort_into_kinds(site, commodity, market);
  return market;
}

/// Groups come by size, so that the largest group within another is the last one found.
void Lagrangian::sort_into_kinds(int site, int commodity, Market& market) const {
  std::map<std::vector<bool>, std::uint16_t> kinds;
  std::vector<std::vector<bool>> groups_of_kind(1);
  market.kind.assign(at(model_.demands()), 0);
  for (const int d : model_.demands_of(commodity)) {
    std::vector<bool> groups;
    for (const ReachGroup& group : market.groups) {
      groups.push_back(has_bit(model_.reach(site, group.reach_class), d));
    }
    if (std::ranges::find(groups, true) == groups.end()) continue;
    const auto [found, fresh] =
        kinds.try_emplace(groups, static_cast<std::uint16_t>(market.kinds));
    if (fresh) {
      ++market.kinds;
      groups_of_kind.push_back(groups);
    }
    market.kind[at(d)] = found->second;
  }
  for (std::size_t g = 0; g < market.groups.size(); ++g) {
    ReachGroup& group = market.groups[g];
    const Bits& reach = model_.reach(site, group.reach_class);
    for (std::size_t h = 0; h < g; ++h) {
      if (contains(reach, model_.reach(site, market.groups[h].reach_class))) {
        group.parent = static_cast<int>(h);
      }
    }
    for (std::size_t kind = 1; kind < market.kinds; ++kind) {
      const bool known = group.parent >= 0 && groups_of_kind[kind][at(group.parent)];
      if (groups_of_kind[kind][g] && !known) {
        group.extra.push_back(static_cast<std::uint16_t>(kind));
      }
    }
  }
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

std::vector<double> Lagrangian::net_costs(int site, int commodity,
                                          const Prices& prices) const {
  const std::vector<Point>& points = model_.points(site, commodity);
  std::vector<double> net(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) {
    net[p] = static_cast<double>(points[p].cost);
  }
  for (std::size_t r = 0; r < priced_.size(); ++r) {
    if (prices.row[r] <= 0 || priced_[r].commodity != commodity) continue;
    const std::vector<float>& supply = priced_[r].supply[at(site)];
    for (std::size_t p = 0; p < supply.size(); ++p) {
      net[p] -= prices.row[r] * static_cast<double>(supply[p]);
    }
  }
  return net;
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

/// Upper bounds on what points earn over all blocks, in the order of the market: within
/// a run the densest item of the run stands for all.
std::vector<double> Lagrangian::most_gains(const Question& question) const {
  const Market& m = market(question.site, question.commodity);
  std::vector<double> gains(m.order.size(), 0);
  std::vector<Amount> by_kind(m.kinds);
  std::vector<Amount> by_group(m.groups.size());
  struct Fill {
    double load = 0;
    double worth = 0;
    std::size_t next = 0;  // first point whose capacity is not full yet
  };
  std::vector<Fill> fills(m.groups.size());
  for (int b = 0; b < model_.blocks(); ++b) {
    const ItemList& list =
        question.items[at(question.commodity) * at(model_.blocks()) + at(b)];
    if (list.items.empty()) continue;
    const double rate = m.traffic_rate[at(b)];
    for (std::size_t g = 0; g < fills.size(); ++g) fills[g] = {0, 0, m.groups[g].first};
    for (std::size_t run = 0; run + 1 < list.run_begin.size(); ++run) {
      const std::size_t first = list.run_begin[run];
      const double top = list.items.empty() ? 0 : list.items[first].density;
      if (top <= rate) break;
      std::ranges::fill(by_kind, Amount{});
      for (std::size_t i = first; i < list.run_begin[run + 1]; ++i) {
        const Item& item = list.items[i];
        Amount& amount = by_kind[m.kind[at(item.demand)]];
        amount.load += item.load;
        amount.worth += item.worth;
      }
      for (std::size_t g = 0; g < m.groups.size(); ++g) {
        const ReachGroup& group = m.groups[g];
        Amount amount = group.parent >= 0 ? by_group[at(group.parent)] : Amount{};
        for (const std::uint16_t kind : group.extra) {
          amount.load += by_kind[kind].load;
          amount.worth += by_kind[kind].worth;
        }
        by_group[g] = amount;
        Fill& fill = fills[g];
        const double after = fill.load + amount.load;
        // The last item of the run may be worth less than its traffic.
        const double worth = std::max(0.0, amount.worth - rate * amount.load);
        for (; fill.next < group.last && m.capacity[fill.next] < after; ++fill.next) {
          const double part = (m.capacity[fill.next] - fill.load) * (top - rate);
          gains[fill.next] += fill.worth + std::min(worth, part);
        }
        fill.load = after;
        fill.worth += worth;
      }
    }
    for (std::size_t g = 0; g < fills.size(); ++g) {
      for (std::size_t i = fills[g].next; i < m.groups[g].last; ++i) {
        gains[i] += fills[g].worth;
      }
    }
  }
  return gains;
}

/// What the points of a group earn, by capacity.
std::vector<double> Lagrangian::exact_gains(Question& question,
                                            const ReachGroup& group) const {
  const Market& m = market(question.site, question.commodity);
  if (!m.arcs.empty()) return own_gains(question, group);
  const Bits& reach = model_.reach(question.site, group.reach_class);
  const double* capacity = m.capacity.data() + group.first;
  std::vector<double> gains(group.last - group.first, 0);
  std::vector<std::uint32_t> positions;
  for (int b = 0; b < model_.blocks(); ++b) {
    const ItemList& all =
        question.items[at(question.commodity) * at(model_.blocks()) + at(b)];
    if (all.items.empty()) continue;
    fill_knapsacks(all.items, m.traffic_rate[at(b)], reach, capacity, positions, gains);
  }
  return gains;
}

/// By place in the order of the market: net cost less at most what the point earns; for
/// whole commodities the very value.
std::vector<double> Lagrangian::optimistic_values(Question& question) const {
  const Market& m = market(question.site, question.commodity);
  std::vector<double> values(m.order.size());
  if (model_.whole(question.commodity)) {
    const double gain = whole_gain(question.site, question.commodity, question.prices);
    for (const ReachGroup& group : m.groups) {
      const Bits& reach = model_.reach(question.site, group.reach_class);
      const bool reaches = intersects(reach, model_.mask_of(question.commodity));
      for (std::size_t i = group.first; i < group.last; ++i) {
        values[i] = question.net_cost[at(m.order[i])] - (reaches ? gain : 0);
      }
    }
    return values;
  }
  if (!m.arcs.empty()) {
    double gain = 0;
    for (int b = 0; b < model_.blocks(); ++b) {
      question.own.push_back(own_items(m, b, question.prices));
      gain += question.own.back().worth;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = question.net_cost[at(m.order[i])] - gain;
    }
    return values;
  }
  const std::vector<double> gains = most_gains(question);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = question.net_cost[at(m.order[i])] - gains[i];
  }
  return values;
}

/// Least value and its point within the range; (0, -1) where nothing is best.
std::pair<double, int> Lagrangian::best_choice(
    Question& question, const std::vector<double>& optimistic) const {
  const Market& m = market(question.site, question.commodity);
  std::vector<double> lowest;
  for (const ReachGroup& group : m.groups) {
    lowest.push_back(*std::min_element(
        optimistic.begin() + static_cast<std::ptrdiff_t>(group.first),
        optimistic.begin() + static_cast<std::ptrdiff_t>(group.last)));
  }
  std::vector<std::size_t> order(m.groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t g) { return lowest[g]; });
  std::pair<double, int> best{question.range.first > 0 ? kNever : 0, -1};
  for (const std::size_t g : order) {
    if (lowest[g] >= best.first) break;
    const ReachGroup& group = m.groups[g];
    const bool whole = model_.whole(question.commodity);
    const std::vector<double> gains =
        whole ? std::vector<double>{} : exact_gains(question, group);
    for (std::size_t i = group.first; i < group.last; ++i) {
      if (optimistic[i] == kNever) continue;
      const int p = m.order[i];
      const double value =
          whole ? optimistic[i] : question.net_cost[at(p)] - gains[i - group.first];
      if (value < best.first) best = {value, p};
    }
  }
  return best;
}

/// Leaves out what the range does not hold.
void Lagrangian::keep_within(const Question& question,
                             std::vector<double>& optimistic) const {
  if (question.range.whole()) return;
  const Market& m = market(question.site, question.commodity);
  const std::vector<int>& ranks = model_.ranks(question.site, question.commodity);
  for (std::size_t i = 0; i < optimistic.size(); ++i) {
    if (!question.range.holds(ranks[at(m.order[i])])) optimistic[i] = kNever;
  }
}

Lagrangian::SiteResult Lagrangian::value_of_site(int site, const ItemLists& items,
                                                 const Prices& prices,
                                                 const Restriction& within) const {
  const Site& place = model_.instance().sites[at(site)];
  SiteResult result;
  result.pick.assign(at(model_.commodities()), -1);
  if (within.open[at(site)] == Restriction::Open::kNo) {
    result.reduced = result.opening = kNever;
    return result;
  }
  const bool must = place.pinned || within.open[at(site)] == Restriction::Open::kYes;
  const double fixed = static_cast<double>(place.fixed_cost);
  std::vector<std::vector<double>> optimistic;
  std::vector<Question> questions;
  result.value = fixed;
  double nearest = kNever;
  for (int k = 0; k < model_.commodities(); ++k) {
    const Restriction::Range range =
        within.range[at(site) * at(model_.commodities()) + at(k)];
    questions.push_back(
        {items, prices, site, k, range, net_costs(site, k, prices), {}});
    optimistic.push_back(optimistic_values(questions.back()));
    keep_within(questions.back(), optimistic.back());
    double least = kNever;
    for (const double value : optimistic.back()) least = std::min(least, value);
    nearest = std::min(nearest, least);
    result.value += range.first > 0 ? least : std::min(0.0, least);
  }
  result.reduced = fixed + nearest;
  result.opening = nearest < 0 ? result.value : result.reduced;
  if (result.value >= 0 && !must) {
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
  result.opening = std::max(result.opening, result.value);
  return result;
}

}  // namespace isochrone::place
