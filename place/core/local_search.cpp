#include "place/core/local_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "place/core/annealing.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr std::size_t kMostCuts = 600;
constexpr std::size_t kMostRepaired = 64;

}  // namespace

LocalSearch::LocalSearch(const Model& model, const Guide& guide, Rng rng,
                         std::vector<Cut> cuts)
    : model_(model),
      guide_(guide),
      rng_(rng),
      router_(model),
      meter_(model),
      cuts_(std::move(cuts)),
      tabu_(at(model.sites()), 0),
      noise_(at(model.sites()), 1) {
  order_.resize(cuts_.size());
  std::iota(order_.begin(), order_.end(), 0U);
}

void LocalSearch::use(const Service& service) {
  for (Cut& cut : cuts_) refresh(cut, service, model_);
}

std::int64_t LocalSearch::cost_of(const PlanState& state,
                                  const Service& service) const {
  return state.building_cost() + unserved_cost(model_, service) +
         traffic_estimate(model_, state, service);
}

/// What rejects one neighbour rejects the next: it is asked first from now on.
bool LocalSearch::reject(std::size_t position) {
  const auto first = order_.begin();
  std::rotate(first, first + static_cast<std::ptrdiff_t>(position),
              first + static_cast<std::ptrdiff_t>(position) + 1);
  return false;
}

bool LocalSearch::passes_cuts(const PlanState& state) {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (meter_.deficit(cuts_[order_[i]], state) > 0) return reject(i);
  }
  return true;
}

void LocalSearch::rebase(const PlanState& base) {
  supply_.assign(cuts_.size(), 0);
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    if (cuts_[c].metered()) continue;
    supply_[c] = cuts_[c].need - meter_.deficit(cuts_[c], base);
  }
}

bool LocalSearch::passes_with(const PlanState& base, const Pick& change) {
  const std::vector<Point>& points = model_.points(change.site, change.commodity);
  const int current = base.chosen(change.site, change.commodity);
  const auto supply = [&](const Cut& cut, int point) {
    return point >= 0 ? supply_to(cut, change.site, points[at(point)]) : 0;
  };
  std::optional<PlanState> changed;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Cut& cut = cuts_[order_[i]];
    if (!cut.metered()) {
      std::int64_t total = supply_[order_[i]];
      if (cut.commodity == change.commodity) {
        total += supply(cut, change.point) - supply(cut, current);
      }
      if (total < cut.need) return reject(i);
      continue;
    }
    if (!changed) {
      changed = base;
      changed->choose(change.site, change.commodity, change.point);
    }
    if (meter_.deficit(cut, *changed) > 0) return reject(i);
  }
  return true;
}

bool LocalSearch::carries(const PlanState& state, const Service& service) {
  return violated(state, service).empty();
}

std::vector<Cut> LocalSearch::violated(const PlanState& state, const Service& service) {
  std::vector<Cut> cuts;
  std::vector<Violation> found = router_.violations(state, service);
  std::set<std::tuple<int, int, bool, Bits>> seen;
  for (Violation& violation : found) {
    const Cut& cut = violation.cut;
    if (!seen.emplace(cut.commodity, cut.block, cut.loss, cut.demands).second) continue;
    if (violation.element >= 0 && repaired_.size() < kMostRepaired) {
      SurvivalRow row{violation.element, violation.cut.block, {}, violation.cut.need};
      for (const int d : model_.demands_of(violation.cut.commodity)) {
        if (has_bit(violation.cut.demands, d)) row.demands.push_back(d);
      }
      repaired_.push_back(std::move(row));
    }
    cuts.push_back(violation.cut);
    if (cuts_.size() < kMostCuts) {
      order_.insert(order_.begin(), cuts_.size());
      cuts_.push_back(std::move(violation.cut));
    } else {
      // The cut that has rejected nothing for longest makes room.
      cuts_[order_.back()] = std::move(violation.cut);
      std::rotate(order_.begin(), order_.end() - 1, order_.end());
    }
  }
  return cuts;
}

Incumbent LocalSearch::anneal(Incumbent start, std::int64_t steps, double heat) {
  const Service service = start.service;
  Annealing annealing(model_, guide_, rng_, service);
  for (const Cut& cut : cuts_) annealing.add_cut(cut);
  return annealing.run(std::move(start), steps, heat, [&](const PlanState& state) {
    return violated(state, service);
  });
}

bool LocalSearch::acceptable(const PlanState& state, const Service& service) {
  return passes_cuts(state) && state.within_limits() && carries(state, service);
}

std::vector<LocalSearch::Shortage> LocalSearch::shortages(const PlanState& state) {
  std::vector<Shortage> found;
  for (const std::size_t c : order_) {
    const Cut& cut = cuts_[c];
    const std::int64_t deficit = meter_.deficit(cut, state);
    if (deficit <= 0) continue;
    Shortage shortage{c, deficit};
    shortage.weight = 1.0 / static_cast<double>(std::max<std::int64_t>(1, cut.need));
    for (const Pick& pick : state.picks()) {
      if (!cut.loss || pick.commodity != cut.commodity) continue;
      const std::int64_t supply = supply_to(cut, pick.site, state.point(pick));
      if (supply > shortage.largest) {
        shortage.second = shortage.largest;
        shortage.largest = supply;
        shortage.largest_site = pick.site;
      } else {
        shortage.second = std::max(shortage.second, supply);
      }
    }
    found.push_back(shortage);
  }
  return found;
}

std::int64_t LocalSearch::opening_cost(const PlanState& state, int site) const {
  if (state.open(site)) return 0;
  const Instance& in = model_.instance();
  std::int64_t cost = in.sites[at(site)].fixed_cost;
  if (in.groups == 0) return cost;
  const int group = in.sites[at(site)].group;
  const bool used = std::ranges::any_of(state.picks(), [&](const Pick& pick) {
    return in.sites[at(pick.site)].group == group;
  });
  return used ? cost : cost + in.group_premium[at(group)];
}

std::int64_t LocalSearch::supply_to(const Cut& cut, int site,
                                    const Point& point) const {
  const int reach = cut.loss ? point.degraded_reach : point.reach;
  if (cut.reaches[model_.class_index(site, reach)] == 0) return 0;
  return cut.loss ? point.degraded : model_.usable(point);
}

std::optional<Incumbent> LocalSearch::construct(const Service& service,
                                                double threshold) {
  use(service);
  std::vector<std::pair<double, Pick>> wanted;
  for (const int s : guide_.candidates) {
    noise_[at(s)] = 0.85 + 0.3 * rng_.uniform();
    for (int k = 0; k < model_.commodities(); ++k) {
      const auto& weights = guide_.weights[at(s) * at(model_.commodities()) + at(k)];
      const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
      if (total < threshold * (0.5 + rng_.uniform())) continue;
      const auto heaviest = std::ranges::max_element(weights);
      wanted.push_back({-total, {s, k, static_cast<int>(heaviest - weights.begin())}});
    }
  }
  std::ranges::sort(wanted);
  PlanState state(model_);
  const int most = model_.instance().max_sites.value_or(model_.sites());
  for (const auto& [weight, pick] : wanted) {
    if (!state.open(pick.site) && state.open_sites() >= most) continue;
    state.choose(pick.site, pick.commodity, pick.point);
    if (!state.fits_stock()) state.choose(pick.site, pick.commodity, -1);
  }
  if (!mend(state, service)) return std::nullopt;
  return Incumbent{state, service, cost_of(state, service)};
}

}  // namespace isochrone::place
