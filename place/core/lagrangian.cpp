// One dual step. Densities are sorted once per block for all sites. What a capacity
// earns at a site is concave in it, so a site first computes it on a coarse grid of
// capacities, with the union of its reach classes: chords through neighbouring grid
// points bound the gain of every (option, n) from above, and most sites end there,
// because even so they are not worth their cost. Only classes that might hold the best
// point are filled with their own reach, and only points that might be the best are
// computed exactly.
#include "place/core/lagrangian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/parallel.h"

namespace isochrone::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kGridPoints = 32;

double usable_capacity(const Point& point) {
  return static_cast<double>(std::max<std::int64_t>(0, point.capacity));
}

/// Positions of the items within reach. Branch-free: whether a demand is in reach
/// cannot be predicted, and a wrong guess costs more than the whole test.
template <class Items>
std::size_t within_reach(const Items& items, const Bits& reach,
                         std::vector<std::uint32_t>& positions) {
  positions.resize(items.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    positions[count] = static_cast<std::uint32_t>(i);
    count += static_cast<std::size_t>(has_bit(reach, items[i].demand));
  }
  return count;
}

template <class Items>
void fill_knapsacks(const Items& items, const Bits& reach,
                    const std::vector<double>& capacity,
                    std::vector<std::uint32_t>& positions, std::vector<double>& gains) {
  const std::size_t within = within_reach(items, reach, positions);
  double load = 0;
  double worth = 0;
  std::size_t j = 0;
  const std::size_t count = capacity.size();
  for (std::size_t i = 0; i < within; ++i) {
    const auto& item = items[positions[i]];
    const double next = load + item.load;
    for (; j < count && capacity[j] < next; ++j) {
      gains[j] += worth + (capacity[j] - load) * item.density;
    }
    if (j == count) return;
    load = next;
    worth += item.worth;
  }
  for (; j < count; ++j) gains[j] += worth;
}

}  // namespace

Lagrangian::Lagrangian(const Model& model) : model_(model) {
  const std::size_t pairs = at(model.sites()) * at(model.commodities());
  markets_ = parallel_map(pairs, [&](std::size_t i) {
    return make_market(static_cast<int>(i) / model_.commodities(),
                       static_cast<int>(i) % model_.commodities());
  });
}

Lagrangian::Market Lagrangian::make_market(int site, int commodity) const {
  const std::vector<Point>& points = model_.points(site, commodity);
  Market market;
  market.reached.assign(model_.mask_of(commodity).size(), 0);
  market.uniform_traffic = uniform_traffic(site, commodity);
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

bool Lagrangian::uniform_traffic(int site, int commodity) const {
  if (model_.free_traffic(site)) return true;
  for (int b = 0; b < model_.blocks(); ++b) {
    double cost = 0;
    double load = 0;
    for (const int d : model_.demands_of(commodity)) {
      cost += static_cast<double>(model_.traffic_cost(site, b, d));
      load += static_cast<double>(model_.load(b, d));
    }
    if (load <= 0) continue;
    for (const int d : model_.demands_of(commodity)) {
      const double expected = cost / load * static_cast<double>(model_.load(b, d));
      const double actual = static_cast<double>(model_.traffic_cost(site, b, d));
      if (std::abs(actual - expected) > 2 + 1e-3 * expected) return false;
    }
  }
  return true;
}

void Lagrangian::add_row(const SurvivalRow& row) {
  Bits demands(model_.mask_of(0).size(), 0);
  double need = 0;
  for (const int d : row.demands) {
    set_bit(demands, d);
    need += static_cast<double>(model_.load(row.block, d));
  }
  std::vector<std::uint8_t> lost(at(model_.sites()), 0);
  for (const int s : model_.sites_of(row.element)) lost[at(s)] = 1;
  row_reaches_.push_back(model_.classes_that_reach(demands));
  row_commodity_.push_back(
      model_.instance().demands[at(row.demands.front())].commodity);
  row_lost_.push_back(std::move(lost));
  row_demands_.push_back(std::move(demands));
  needs_.push_back(need);
  rows_.push_back(row);
}

double Lagrangian::row_load(std::size_t row, int demand) const {
  if (!has_bit(row_demands_[row], demand)) return 0;
  return static_cast<double>(model_.load(rows_[row].block, demand));
}

Lagrangian::ItemLists Lagrangian::sorted_items(const Prices& prices) const {
  const std::size_t lists = at(model_.commodities()) * at(model_.blocks());
  return parallel_map(lists, [&](std::size_t i) {
    const int k = static_cast<int>(i) / model_.blocks();
    const int b = static_cast<int>(i) % model_.blocks();
    std::vector<Item> items;
    if (model_.whole(k)) return items;
    for (const int d : model_.demands_of(k)) {
      const double worth = prices.demand[at(b) * at(model_.demands()) + at(d)];
      if (worth <= 0) continue;
      const double load = static_cast<double>(model_.load(b, d));
      items.push_back({d, worth, load, load > 0 ? worth / load : kNever});
    }
    std::ranges::sort(items, [](const Item& x, const Item& y) {
      return x.density != y.density ? x.density > y.density : x.demand < y.demand;
    });
    return items;
  });
}

std::vector<Lagrangian::Item> Lagrangian::items_of(int site,
                                                   const std::vector<Item>& all,
                                                   int block, bool uniform) const {
  std::vector<Item> items;
  items.reserve(all.size());
  for (const Item& item : all) {
    const double worth =
        item.worth - static_cast<double>(model_.traffic_cost(site, block, item.demand));
    if (worth <= 0) continue;
    items.push_back(
        {item.demand, worth, item.load, item.load > 0 ? worth / item.load : kNever});
  }
  if (!uniform) {
    std::ranges::sort(items, [](const Item& x, const Item& y) {
      return x.density != y.density ? x.density > y.density : x.demand < y.demand;
    });
  }
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
    if (model_.free_traffic(question.site)) {
      fill_knapsacks(all, reach, capacities, positions, gains);
    } else {
      const bool uniform = market(question.site, k).uniform_traffic;
      fill_knapsacks(items_of(question.site, all, b, uniform), reach, capacities,
                     positions, gains);
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

Outcome Lagrangian::evaluate(const Prices& prices) const {
  const ItemLists items = sorted_items(prices);
  // Neighbouring sites are alike, so chunks of equal size are of equal work.
  constexpr std::size_t kChunk = 8;
  const std::size_t sites = at(model_.sites());
  const auto chunks = parallel_map((sites + kChunk - 1) / kChunk, [&](std::size_t c) {
    std::vector<SiteResult> results;
    for (std::size_t s = c * kChunk; s < std::min(sites, (c + 1) * kChunk); ++s) {
      results.push_back(value_of_site(static_cast<int>(s), items, prices));
    }
    return results;
  });
  std::vector<SiteResult> results;
  for (const auto& chunk : chunks) {
    results.insert(results.end(), chunk.begin(), chunk.end());
  }
  Outcome outcome;
  outcome.value = static_cast<double>(model_.instance().constant);
  for (const double price : prices.demand) outcome.value += price;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    outcome.value += prices.row[r] * needs_[r];
  }
  for (const std::int64_t premium : model_.instance().group_premium) {
    outcome.value += static_cast<double>(std::min<std::int64_t>(0, premium));
  }
  choose_unserved(prices, outcome);
  choose_sites(results, outcome);
  return outcome;
}

void Lagrangian::choose_sites(const std::vector<SiteResult>& results,
                              Outcome& outcome) const {
  const std::size_t sites = results.size();
  outcome.open.assign(sites, 0);
  outcome.site_value.resize(sites);
  outcome.pick.assign(sites * at(model_.commodities()), -1);
  std::vector<std::size_t> negative;
  std::int64_t left = model_.instance().max_sites.value_or(model_.sites());
  for (std::size_t s = 0; s < sites; ++s) {
    outcome.site_value[s] = results[s].reduced;
    if (model_.instance().sites[s].pinned) {
      outcome.open[s] = 1;
      --left;
    } else if (results[s].value < 0) {
      negative.push_back(s);
    }
  }
  std::ranges::stable_sort(negative, {},
                           [&](std::size_t s) { return results[s].value; });
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(0, left));
  if (negative.size() > keep) negative.resize(keep);
  for (const std::size_t s : negative) outcome.open[s] = 1;
  for (std::size_t s = 0; s < sites; ++s) {
    if (outcome.open[s] == 0) continue;
    outcome.value += results[s].value;
    for (int k = 0; k < model_.commodities(); ++k) {
      outcome.pick[s * at(model_.commodities()) + at(k)] = results[s].pick[at(k)];
    }
  }
}

void Lagrangian::choose_unserved(const Prices& prices, Outcome& outcome) const {
  outcome.unserved.assign(at(model_.demands()), 0);
  for (std::size_t g = 0; g < model_.instance().coverage.size(); ++g) {
    std::vector<std::pair<double, int>> candidates;  // value per weight
    std::vector<double> value(at(model_.demands()), 0);
    for (int d = 0; d < model_.demands(); ++d) {
      const DemandRow& row = model_.instance().demands[at(d)];
      if (row.coverage_group != static_cast<int>(g)) continue;
      value[at(d)] = static_cast<double>(row.unserved_cost);
      for (int b = 0; b < model_.blocks(); ++b) {
        value[at(d)] -= prices.demand[at(b) * at(model_.demands()) + at(d)];
      }
      for (std::size_t r = 0; r < rows_.size(); ++r) {
        value[at(d)] -= prices.row[r] * row_load(r, d);
      }
      if (value[at(d)] >= 0) continue;
      const double weight = static_cast<double>(row.coverage_weight);
      candidates.emplace_back(weight > 0 ? value[at(d)] / weight : -kNever, d);
    }
    std::ranges::sort(candidates);
    double slack = static_cast<double>(model_.instance().coverage[g].slack);
    for (const auto& [ratio, d] : candidates) {
      const double weight =
          static_cast<double>(model_.instance().demands[at(d)].coverage_weight);
      const double part = weight <= slack ? 1 : slack / weight;
      outcome.unserved[at(d)] = part;
      outcome.value += part * value[at(d)];
      slack -= part * weight;
      if (part < 1) break;
    }
  }
}

Activity Lagrangian::activity(const Outcome& outcome, const Prices& prices) const {
  const ItemLists items = sorted_items(prices);
  const std::size_t demands = at(model_.demands());
  Activity activity;
  activity.served.assign(at(model_.blocks()) * demands, 0);
  parallel_for_each_index(at(model_.blocks()), [&](std::size_t b) {
    double* served = activity.served.data() + b * demands;
    for (int s = 0; s < model_.sites(); ++s) {
      if (outcome.open[at(s)] == 0) continue;
      for (int k = 0; k < model_.commodities(); ++k) {
        const int pick = outcome.pick[at(s) * at(model_.commodities()) + at(k)];
        if (pick < 0) continue;
        const Point& point = model_.points(s, k)[at(pick)];
        if (model_.whole(k)) {
          for (const int d : model_.demands_of(k)) served[d] += 1;
          continue;
        }
        const auto& all = items[at(k) * at(model_.blocks()) + b];
        const bool adjusted = !model_.free_traffic(s);
        const auto own = adjusted ? items_of(s, all, static_cast<int>(b),
                                             market(s, k).uniform_traffic)
                                  : std::vector<Item>{};
        double left = static_cast<double>(point.capacity);
        for (const Item& item : adjusted ? own : all) {
          if (!has_bit(model_.reach(s, point.reach), item.demand)) continue;
          const double part = item.load <= left ? 1 : left / item.load;
          served[item.demand] += part;
          left -= part * item.load;
          if (part < 1) break;
        }
      }
    }
  });
  activity.capacity.assign(rows_.size(), 0);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const int k = row_commodity_[r];
    for (int s = 0; s < model_.sites(); ++s) {
      const int pick = outcome.pick[at(s) * at(model_.commodities()) + at(k)];
      if (outcome.open[at(s)] == 0 || pick < 0 || row_lost_[r][at(s)] != 0) continue;
      const Point& point = model_.points(s, k)[at(pick)];
      if (row_reaches_[r][model_.class_index(s, point.degraded_reach)] != 0) {
        activity.capacity[r] += static_cast<double>(point.degraded);
      }
    }
  }
  return activity;
}

}  // namespace isochrone::place
