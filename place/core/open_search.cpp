#include "place/core/open_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "place/core/settle.h"

namespace isochrone::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kTried = 8;      // flips that are evaluated at a time
constexpr std::size_t kPartners = 20;  // sites to be opened that a swap may choose from
constexpr int kTabu = 8;               // flips before a site may be flipped back

}  // namespace

bool OpenSearch::fits(const Model& model) {
  const Instance& in = model.instance();
  if (model.blocks() != 1 || model.commodities() != 1 || model.whole(0)) return false;
  if (in.elements > 0 || !in.coverage.empty() || in.max_sites || in.budget)
    return false;
  if (in.group_share) return false;
  if (std::ranges::any_of(in.group_premium,
                          [](auto premium) { return premium != 0; })) {
    return false;
  }
  for (int s = 0; s < model.sites(); ++s) {
    if (in.sites[at(s)].pinned || model.points(s, 0).size() > 1) return false;
  }
  return true;
}

OpenSearch::OpenSearch(const Model& model) : model_(model), transport_(model) {}

double OpenSearch::building_cost(const std::vector<int>& point) const {
  double cost = static_cast<double>(model_.instance().constant);
  for (int s = 0; s < model_.sites(); ++s) {
    if (point[at(s)] < 0) continue;
    cost += static_cast<double>(model_.instance().sites[at(s)].fixed_cost +
                                model_.points(s, 0)[at(point[at(s)])].cost);
  }
  return cost;
}

std::optional<OpenSearch::Found> OpenSearch::evaluated(Transport& transport,
                                                       std::vector<int> point) const {
  const auto routed = transport.route(point);
  if (!routed) return std::nullopt;
  const double cost = building_cost(point) + routed->cost;
  return Found{std::move(point), cost};
}

std::optional<OpenSearch::Found> OpenSearch::round(const DualAscent& ascent) const {
  std::vector<int> order(at(model_.sites()));
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [&](int s) {
    const auto& weights = ascent.weights()[at(s)];
    return weights.empty() ? -1.0 : weights.front();
  };
  std::ranges::stable_sort(order, [&](int a, int b) {
    return weight(a) != weight(b) ? weight(a) > weight(b)
                                  : ascent.opening()[at(a)] < ascent.opening()[at(b)];
  });
  Transport transport = transport_;
  std::vector<int> point(at(model_.sites()), -1);
  std::size_t taken = 0;
  for (; taken < order.size() && weight(order[taken]) >= 0.5; ++taken) {
    point[at(order[taken])] = 0;
  }
  std::optional<Found> found;
  for (; !found; ++taken) {
    found = evaluated(transport, point);
    if (found || taken == order.size() || weight(order[taken]) < 0) break;
    point[at(order[taken])] = 0;
  }
  return found;
}

OpenSearch::Priced OpenSearch::priced(Transport& transport, Found found) const {
  const auto routed = transport.route(found.point);
  Priced now{std::move(found), routed->rent, {}, {}, {}, 0};
  now.first.assign(at(model_.demands()), kNever);
  now.second.assign(at(model_.demands()), kNever);
  now.nearest.assign(at(model_.demands()), -1);
  for (int s = 0; s < model_.sites(); ++s) {
    if (now.found.point[at(s)] < 0) continue;
    const Point& built = model_.points(s, 0)[at(now.found.point[at(s)])];
    now.rents += now.rent[at(s)] * static_cast<double>(model_.usable(built));
    for (int d = 0; d < model_.demands(); ++d) {
      if (!has_bit(model_.reach(s, built.reach), d)) continue;
      const double cost = static_cast<double>(model_.traffic_cost(s, 0, d)) +
                          now.rent[at(s)] * static_cast<double>(model_.load(0, d));
      if (cost < now.first[at(d)]) {
        now.second[at(d)] = std::exchange(now.first[at(d)], cost);
        now.nearest[at(d)] = s;
      } else {
        now.second[at(d)] = std::min(now.second[at(d)], cost);
      }
    }
  }
  return now;
}

/// What a closed site would earn at these prices of demands.
double OpenSearch::most_gain(const std::vector<double>& price, int site) const {
  const Point& point = model_.points(site, 0).front();
  const Bits& reach = model_.reach(site, point.reach);
  thread_local std::vector<std::pair<double, double>> items;  // worth, load
  items.clear();
  double worth = 0;
  double load = 0;
  for (int d = 0; d < model_.demands(); ++d) {
    const double own =
        price[at(d)] - static_cast<double>(model_.traffic_cost(site, 0, d));
    if (own <= 0 || !has_bit(reach, d)) continue;
    items.emplace_back(own, static_cast<double>(model_.load(0, d)));
    worth += own;
    load += items.back().second;
  }
  double left = static_cast<double>(model_.usable(point));
  if (load <= left || worth == kNever) return worth;
  std::ranges::sort(items, [](const auto& a, const auto& b) {
    return a.first * b.second > b.first * a.second;
  });
  worth = 0;
  for (const auto& [own, size] : items) {
    if (size > left) return worth + own * left / size;
    worth += own;
    left -= size;
  }
  return worth;
}

/// Duality: at the rents of now the plan after the flip costs no less than this.
double OpenSearch::least_after(const Priced& now, const Flip& flip) const {
  thread_local std::vector<double> price;
  price = now.first;
  double least = building_cost(now.found.point) - now.rents;
  if (flip.close >= 0) {
    const Point& built =
        model_.points(flip.close, 0)[at(now.found.point[at(flip.close)])];
    least += now.rent[at(flip.close)] * static_cast<double>(model_.usable(built)) -
             static_cast<double>(model_.instance().sites[at(flip.close)].fixed_cost +
                                 built.cost);
    for (int d = 0; d < model_.demands(); ++d) {
      if (now.nearest[at(d)] == flip.close) price[at(d)] = now.second[at(d)];
    }
  }
  for (const double own : price) least += own;
  if (flip.open >= 0) {
    least += static_cast<double>(model_.instance().sites[at(flip.open)].fixed_cost +
                                 model_.points(flip.open, 0).front().cost) -
             most_gain(price, flip.open);
  }
  return std::isnan(least) ? now.found.cost : least;
}

std::vector<OpenSearch::Flip> OpenSearch::flips(const Priced& now) const {
  std::vector<Flip> flips;
  for (int s = 0; s < model_.sites(); ++s) {
    if (model_.points(s, 0).empty()) continue;
    if (now.found.point[at(s)] >= 0) {
      flips.push_back({-1, s});
    } else {
      flips.push_back({s, -1});
    }
    flips.back().least = least_after(now, flips.back());
  }
  std::ranges::stable_sort(flips, {}, &Flip::least);
  return flips;
}

std::vector<OpenSearch::Flip> OpenSearch::swaps(const Priced& now,
                                                const std::vector<Flip>& flips) const {
  std::vector<Flip> swaps;
  std::size_t partners = 0;
  for (const Flip& opened : flips) {
    if (opened.open < 0 || partners++ >= kPartners) continue;
    for (const Flip& closed : flips) {
      if (closed.close < 0) continue;
      Flip both{opened.open, closed.close};
      both.least = least_after(now, both);
      if (both.least < now.found.cost) swaps.push_back(both);
    }
  }
  std::ranges::stable_sort(swaps, {}, &Flip::least);
  return swaps;
}

/// The best plan after one of the flips, which come by promise; flips that cannot beat
/// `beat` or the best so far are not evaluated.
std::optional<OpenSearch::Found> OpenSearch::best_of(const Found& from,
                                                     const std::vector<Flip>& flips,
                                                     double beat) const {
  std::optional<Found> best;
  for (std::size_t first = 0; first < flips.size(); first += kTried) {
    if (flips[first].least >= beat || best) break;
    const std::size_t count = std::min(kTried, flips.size() - first);
    const auto found = parallel_map(count, [&](std::size_t i) -> std::optional<Found> {
      const Flip& flip = flips[first + i];
      if (flip.least >= beat) return std::nullopt;
      Transport transport = transport_;
      std::vector<int> point = from.point;
      if (flip.open >= 0) point[at(flip.open)] = 0;
      if (flip.close >= 0) point[at(flip.close)] = -1;
      return evaluated(transport, std::move(point));
    });
    for (const auto& one : found) {
      if (one && one->cost < beat && (!best || one->cost < best->cost)) best = one;
    }
  }
  return best;
}

OpenSearch::Found OpenSearch::improve(Found start, int patience) const {
  Found best = start;
  Transport transport = transport_;
  Priced now = priced(transport, std::move(start));
  std::vector<int> tabu(at(model_.sites()), 0);
  for (int turn = 1, idle = 0; idle <= patience; ++turn, ++idle) {
    std::vector<Flip> single = flips(now);
    const double better = now.found.cost * (1 - 1e-9);
    std::optional<Found> next = best_of(now.found, single, better);
    if (!next) next = best_of(now.found, swaps(now, single), better);
    if (!next) {
      std::erase_if(single, [&](const Flip& flip) {
        return tabu[at(std::max(flip.open, flip.close))] > turn;
      });
      if (single.size() > kTried) single.resize(kTried);
      next = best_of(now.found, single, kNever);
    }
    if (!next) break;
    for (std::size_t s = 0; s < tabu.size(); ++s) {
      if (next->point[s] != now.found.point[s]) tabu[s] = turn + kTabu;
    }
    now = priced(transport, *std::move(next));
    if (now.found.cost < best.cost * (1 - 1e-9)) {
      best = now.found;
      idle = 0;
    }
  }
  return best;
}

std::optional<Solution> OpenSearch::settled(const Found& found) const {
  PlanState state(model_);
  for (int s = 0; s < model_.sites(); ++s) {
    if (found.point[at(s)] >= 0) state.choose(s, 0, found.point[at(s)]);
  }
  return settle(model_, state,
                Service(model_, std::vector<std::int32_t>(at(model_.demands()), 0)));
}

std::optional<Prices> OpenSearch::prices(const Restriction& within,
                                         double enough) const {
  std::vector<int> point(at(model_.sites()), -1);
  for (int s = 0; s < model_.sites(); ++s) {
    if (within.open[at(s)] == Restriction::Open::kFree) return std::nullopt;
    if (within.open[at(s)] == Restriction::Open::kYes) point[at(s)] = 0;
  }
  Transport transport = transport_;
  const auto routed = transport.route(point);
  Prices prices;
  if (routed) {
    prices.demand = transport.prices(point, *routed);
    return prices;
  }
  prices.demand.assign(at(model_.demands()), 0);
  if (!std::isfinite(enough)) return std::nullopt;
  // A unit of what cannot be carried pays for everything.
  const double unit =
      2 * enough / static_cast<double>(std::max<std::int64_t>(1, transport.excess()));
  for (const int d : transport.stuck()) {
    const double load = static_cast<double>(model_.load(0, d));
    prices.demand[at(d)] = std::max(1.0, load) * unit;
  }
  return prices;
}

}  // namespace isochrone::place
