#include "place/core/transport.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace isochrone::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Transport::Transport(const Model& model) : model_(model) {
  std::vector<double> unit(at(model.sites()) * at(model.demands()), kNever);
  for (int s = 0; s < model.sites(); ++s) {
    for (const Point& point : model.points(s, 0)) {
      for (int d = 0; d < model.demands(); ++d) {
        if (!has_bit(model.reach(s, point.reach), d)) continue;
        const double load =
            std::max(1.0, static_cast<double>(model.load(0, d)));  // 0: all of it
        unit[at(s) * at(model.demands()) + at(d)] =
            static_cast<double>(model.traffic_cost(s, 0, d)) / load;
      }
    }
  }
  unit_ = std::make_shared<const std::vector<double>>(std::move(unit));
}

void Transport::gather(const std::vector<int>& point) {
  sites_.clear();
  room_.clear();
  for (int s = 0; s < model_.sites(); ++s) {
    if (point[at(s)] < 0) continue;
    const Point& built = model_.points(s, 0)[at(point[at(s)])];
    sites_.push_back(s);
    room_.push_back(model_.usable(built));
  }
  cost_.resize(at(model_.demands()) * sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const int s = sites_[i];
    const Bits& reach = model_.reach(s, model_.points(s, 0)[at(point[at(s)])].reach);
    const double* unit = unit_->data() + at(s) * at(model_.demands());
    for (int d = 0; d < model_.demands(); ++d) {
      cost_[at(d) * sites_.size() + i] = has_bit(reach, d) ? unit[d] : kNever;
    }
  }
}

bool Transport::assign() {
  parts_.assign(at(model_.demands()), {});
  demands_.assign(sites_.size(), {});
  for (int d = 0; d < model_.demands(); ++d) {
    double least = kNever;
    int best = -1;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (unit(i, d) >= least) continue;
      least = unit(i, d);
      best = static_cast<int>(i);
    }
    if (best < 0) {
      stuck_ = {d};
      excess_ = model_.load(0, d);
      return false;
    }
    parts_[at(d)].push_back({best, model_.load(0, d)});
    demands_[at(best)].push_back(d);
    room_[at(best)] -= model_.load(0, d);
  }
  return true;
}

/// Cheapest moves out of a pool.
void Transport::scan(std::size_t from) {
  for (std::size_t to = 0; to < sites_.size(); ++to) move(from, to) = {kNever, -1};
  for (const int d : demands_[from]) {
    if (model_.load(0, d) == 0) continue;
    const double here = unit(from, d);
    for (std::size_t to = 0; to < sites_.size(); ++to) {
      const double cost = unit(to, d) - here;
      if (cost < move(from, to).cost && to != from) move(from, to) = {cost, d};
    }
  }
}

void Transport::shift(int demand, int from, int to, std::int64_t load) {
  std::vector<Part>& parts = parts_[at(demand)];
  const auto own = std::ranges::find(parts, from, &Part::pool);
  own->load -= load;
  if (own->load == 0) {
    parts.erase(own);
    std::erase(demands_[at(from)], demand);
    const bool cheapest =
        std::any_of(moves_.begin() + from * static_cast<int>(sites_.size()),
                    moves_.begin() + (from + 1) * static_cast<int>(sites_.size()),
                    [&](const Move& m) { return m.demand == demand; });
    if (cheapest) scan(at(from));
  }
  const auto there = std::ranges::find(parts, to, &Part::pool);
  if (there != parts.end()) {
    there->load += load;
    return;
  }
  parts.push_back({to, load});
  demands_[at(to)].push_back(demand);
  for (std::size_t onward = 0; onward < sites_.size(); ++onward) {
    const double cost = unit(onward, demand) - unit(at(to), demand);
    if (onward != at(to) && cost < move(at(to), onward).cost) {
      move(at(to), onward) = {cost, demand};
    }
  }
}

/// Moves some of what is too much at the fullest pool along a shortest path to room.
bool Transport::relieve() {
  const std::size_t pools = sites_.size();
  const auto fullest = static_cast<std::size_t>(
      std::distance(room_.begin(), std::ranges::min_element(room_)));
  std::vector<double> distance(pools, kNever);
  std::vector<int> before(pools, -1);
  distance[fullest] = 0;
  bool changed = true;
  for (std::size_t round = 0; round < pools && changed; ++round) {
    changed = false;
    for (std::size_t i = 0; i < pools; ++i) {
      if (distance[i] == kNever) continue;
      for (std::size_t j = 0; j < pools; ++j) {
        const double through = distance[i] + move(i, j).cost;
        if (j == fullest || through >= distance[j] - 1e-9) continue;
        distance[j] = through;
        before[j] = static_cast<int>(i);
        changed = true;
      }
    }
  }
  int target = -1;
  for (std::size_t j = 0; j < pools; ++j) {
    if (room_[j] <= 0 || distance[j] == kNever) continue;
    if (target < 0 || distance[j] < distance[at(target)]) target = static_cast<int>(j);
  }
  if (target < 0) {
    stuck_.clear();
    excess_ = 0;
    for (std::size_t i = 0; i < pools; ++i) {
      if (distance[i] == kNever) continue;
      excess_ -= room_[i];
      stuck_.insert(stuck_.end(), demands_[i].begin(), demands_[i].end());
    }
    std::ranges::sort(stuck_);
    const auto repeated = std::ranges::unique(stuck_);
    stuck_.erase(repeated.begin(), repeated.end());
    return false;
  }
  struct Step {
    int demand = 0;
    int from = 0;
    int to = 0;
  };
  std::vector<Step> path;
  std::int64_t load = std::min(-room_[fullest], room_[at(target)]);
  for (int to = target; to != static_cast<int>(fullest); to = before[at(to)]) {
    if (path.size() > pools) {  // rounding made a cycle
      stuck_.clear();
      return false;
    }
    const int from = before[at(to)];
    const int demand = move(at(from), at(to)).demand;
    const auto part = std::ranges::find(parts_[at(demand)], from, &Part::pool);
    load = std::min(load, part->load);
    path.push_back({demand, from, to});
  }
  for (const Step& step : path) shift(step.demand, step.from, step.to, load);
  room_[fullest] += load;
  room_[at(target)] -= load;
  return true;
}

/// By pool: what a unit costs to be moved to where room is left.
std::vector<double> Transport::distances_to_room() const {
  const std::size_t pools = sites_.size();
  std::vector<double> distance(pools, kNever);
  for (std::size_t i = 0; i < pools; ++i) {
    if (room_[i] > 0) distance[i] = 0;
  }
  bool changed = true;
  for (std::size_t round = 0; round < pools && changed; ++round) {
    changed = false;
    for (std::size_t i = 0; i < pools; ++i) {
      for (std::size_t j = 0; j < pools; ++j) {
        if (distance[j] == kNever) continue;
        const double through = moves_[i * pools + j].cost + distance[j];
        if (through >= distance[i] - 1e-9) continue;
        distance[i] = through;
        changed = true;
      }
    }
  }
  return distance;
}

std::optional<Transport::Routed> Transport::route(const std::vector<int>& point) {
  gather(point);
  if (!assign()) return std::nullopt;
  moves_.assign(sites_.size() * sites_.size(), {kNever, -1});
  const auto crowded = [&] {
    return !room_.empty() && *std::ranges::min_element(room_) < 0;
  };
  Routed routed;
  routed.rent.assign(at(model_.sites()), 0);
  if (crowded()) {
    for (std::size_t i = 0; i < sites_.size(); ++i) scan(i);
    while (crowded()) {
      if (!relieve()) return std::nullopt;
    }
    const std::vector<double> rent = distances_to_room();
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      routed.rent[at(sites_[i])] = rent[i] < kNever ? std::max(0.0, rent[i]) : 0;
    }
  }
  for (int d = 0; d < model_.demands(); ++d) {
    for (const Part& part : parts_[at(d)]) {
      const double units = model_.load(0, d) == 0 ? 1 : static_cast<double>(part.load);
      routed.cost += units * unit(at(part.pool), d);
    }
  }
  return routed;
}

std::vector<double> Transport::prices(const std::vector<int>& point,
                                      const Routed& routed) const {
  std::vector<double> prices(at(model_.demands()), kNever);
  for (int s = 0; s < model_.sites(); ++s) {
    if (point[at(s)] < 0) continue;
    const Bits& reach = model_.reach(s, model_.points(s, 0)[at(point[at(s)])].reach);
    for (int d = 0; d < model_.demands(); ++d) {
      if (!has_bit(reach, d)) continue;
      const double rent = routed.rent[at(s)] * static_cast<double>(model_.load(0, d));
      const double price = static_cast<double>(model_.traffic_cost(s, 0, d)) + rent;
      prices[at(d)] = std::min(prices[at(d)], price);
    }
  }
  return prices;
}

}  // namespace isochrone::place
