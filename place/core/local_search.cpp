#include "place/core/local_search.h"

#include <algorithm>
#include <limits>
#include <numeric>

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
      banned_groups_(at(model.instance().groups), 0),
      tabu_(at(model.sites()), 0),
      noise_(at(model.sites()), 1) {
  order_.resize(cuts_.size());
  std::iota(order_.begin(), order_.end(), 0U);
}

void LocalSearch::use(const Service& service) {
  for (Cut& cut : cuts_) refresh(cut, service, model_);
}

/// Every demand at the cheapest open pool within reach, room or not.
std::int64_t LocalSearch::traffic_estimate(const PlanState& state,
                                           const Service& service) const {
  if (!model_.has_traffic_cost()) return 0;
  Wide total = 0;
  for (int d = 0; d < model_.demands(); ++d) {
    const int k = model_.instance().demands[at(d)].commodity;
    for (int b = 0; b < model_.blocks(); ++b) {
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (const Pick& pick : state.picks()) {
        if (pick.commodity != k) continue;
        if (!has_bit(model_.reach(pick.site, state.point(pick).reach), d)) continue;
        least = std::min(least, model_.traffic_cost(pick.site, b, d));
      }
      if (least == std::numeric_limits<std::int64_t>::max()) continue;
      total += static_cast<Wide>(least) * (kWholeShare - service.unserved()[at(d)]);
    }
  }
  return saturate(total / kWholeShare);
}

std::int64_t LocalSearch::cost_of(const PlanState& state,
                                  const Service& service) const {
  Wide unserved = 0;
  for (std::size_t d = 0; d < service.unserved().size(); ++d) {
    unserved += static_cast<Wide>(model_.instance().demands[d].unserved_cost) *
                service.unserved()[d];
  }
  return state.building_cost() + saturate(unserved / kWholeShare) +
         traffic_estimate(state, service);
}

bool LocalSearch::passes_cuts(const PlanState& state) {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (meter_.deficit(cuts_[order_[i]], state) <= 0) continue;
    // What rejects one neighbour rejects the next: ask it first.
    std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(i),
                order_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return false;
  }
  return true;
}

bool LocalSearch::carries(const PlanState& state, const Service& service) {
  std::vector<Violation> found = router_.violations(state, service);
  for (Violation& violation : found) {
    if (violation.element >= 0 && repaired_.size() < kMostRepaired) {
      SurvivalRow row{violation.element, violation.cut.block, {}, violation.cut.need};
      for (const int d : model_.demands_of(violation.cut.commodity)) {
        if (has_bit(violation.cut.demands, d)) row.demands.push_back(d);
      }
      repaired_.push_back(std::move(row));
    }
    if (cuts_.size() < kMostCuts) {
      order_.insert(order_.begin(), cuts_.size());
      cuts_.push_back(std::move(violation.cut));
    } else {
      // The cut that has rejected nothing for longest makes room.
      cuts_[order_.back()] = std::move(violation.cut);
      std::rotate(order_.begin(), order_.end() - 1, order_.end());
    }
  }
  return found.empty();
}

bool LocalSearch::acceptable(const PlanState& state, const Service& service) {
  return passes_cuts(state) && state.within_limits() && carries(state, service);
}

std::vector<LocalSearch::Shortage> LocalSearch::shortages(const PlanState& state) {
  std::vector<Shortage> found;
  for (const std::size_t c : order_) {
    const std::int64_t deficit = meter_.deficit(cuts_[c], state);
    if (deficit > 0) found.push_back({c, deficit});
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

/// Sum over the short cuts of the part of their need that the change would supply.
double LocalSearch::relief(const PlanState& state,
                           const std::vector<Shortage>& shortages, int site,
                           const Point* before, const Point& after) const {
  double sum = 0;
  for (const Shortage& shortage : shortages) {
    const Cut& cut = cuts_[shortage.cut];
    const auto supply = [&](const Point& point) -> std::int64_t {
      const int reach = cut.loss ? point.degraded_reach : point.reach;
      if (cut.reaches[model_.class_index(site, reach)] == 0) return 0;
      return cut.loss ? point.degraded
                      : std::max<std::int64_t>(0, point.capacity - model_.margin());
    };
    std::int64_t gain = supply(after) - (before != nullptr ? supply(*before) : 0);
    if (cut.loss) {
      // What an element loses counts only up to the largest that another loses.
      std::int64_t own = supply(after);
      std::int64_t largest = 0;
      for (const Pick& pick : state.picks()) {
        if (pick.commodity != cut.commodity || pick.site == site) continue;
        const Point& point = state.point(pick);
        if (cut.reaches[model_.class_index(pick.site, point.degraded_reach)] != 0) {
          largest = std::max(largest, point.degraded);
        }
      }
      if (own > largest) gain -= own - std::max(largest, own - gain);
    }
    sum += static_cast<double>(std::min(gain, shortage.deficit)) /
           static_cast<double>(std::max<std::int64_t>(1, cut.need));
  }
  return sum;
}

LocalSearch::Change LocalSearch::best_growth(const PlanState& state,
                                             const std::vector<Shortage>& shortages) {
  std::vector<std::vector<Shortage>> by_commodity(at(model_.commodities()));
  for (const Shortage& shortage : shortages) {
    by_commodity[at(cuts_[shortage.cut].commodity)].push_back(shortage);
  }
  const auto& most = model_.instance().max_sites;
  const bool full = most && state.open_sites() >= *most;
  Change best;
  double best_score = 0;
  for (const int s : guide_.candidates) {
    const bool open = state.open(s);
    if (!open && (full || tabu_[at(s)] > turn_)) continue;
    if (!banned_groups_.empty() &&
        banned_groups_[at(model_.instance().sites[at(s)].group)] != 0) {
      continue;
    }
    const std::int64_t opening = opening_cost(state, s);
    for (int k = 0; k < model_.commodities(); ++k) {
      if (by_commodity[at(k)].empty()) continue;
      const std::vector<Point>& points = model_.points(s, k);
      const int current = state.chosen(s, k);
      const Point* before = current >= 0 ? &points[at(current)] : nullptr;
      for (int p = 0; p < static_cast<int>(points.size()); ++p) {
        if (p == current) continue;
        const double gain =
            relief(state, by_commodity[at(k)], s, before, points[at(p)]);
        if (gain <= 0) continue;
        const std::int64_t extra =
            opening + points[at(p)].cost - (before != nullptr ? before->cost : 0);
        const double score =
            gain / (std::max(1.0, static_cast<double>(extra)) * noise_[at(s)]);
        if (score > best_score) {
          PlanState grown = state;
          grown.choose(s, k, p);
          if (model_.commodities() > 1 && !grown.fits_stock()) continue;
          best_score = score;
          best = {s, k, p};
        }
      }
    }
  }
  return best;
}

/// Takes what it can from the group with too large a share and bars it from growing.
bool LocalSearch::shrink_group(PlanState& state) {
  const int group = state.oversized_group();
  if (group < 0 || banned_groups_[at(group)] != 0) return false;
  banned_groups_[at(group)] = 1;
  std::vector<Pick> own;
  for (const Pick& pick : state.picks()) {
    if (model_.instance().sites[at(pick.site)].group == group) own.push_back(pick);
  }
  while (!own.empty() && state.oversized_group() == group) {
    const Pick victim = own[rng_.below(own.size())];
    const int current = state.chosen(victim.site, victim.commodity);
    if (current <= 0) std::erase(own, victim);
    if (current >= 0) state.choose(victim.site, victim.commodity, current - 1);
  }
  return true;
}

bool LocalSearch::mend(PlanState& state, const Service& service) {
  std::ranges::fill(banned_groups_, std::uint8_t{0});
  const int first_turn = turn_;
  for (int s = 0; s < model_.sites(); ++s) {
    if (!model_.instance().sites[at(s)].pinned || state.open(s)) continue;
    for (int k = 0; k < model_.commodities() && !state.open(s); ++k) {
      if (!model_.points(s, k).empty()) state.choose(s, k, 0);
    }
  }
  while (turn_ - first_turn < 400) {
    ++turn_;
    const std::vector<Shortage> short_cuts = shortages(state);
    if (short_cuts.empty()) {
      if (!state.within_limits()) {
        if (!shrink_group(state)) return false;
        continue;
      }
      if (carries(state, service)) return true;
      continue;
    }
    const Change change = best_growth(state, short_cuts);
    if (change.site >= 0) {
      state.choose(change.site, change.commodity, change.point);
      continue;
    }
    if (state.picks().empty()) return false;
    const int victim = state.picks()[rng_.below(state.picks().size())].site;
    if (model_.instance().sites[at(victim)].pinned) continue;
    tabu_[at(victim)] = turn_ + 5 + static_cast<int>(rng_.below(10));
    for (int k = 0; k < model_.commodities(); ++k) state.choose(victim, k, -1);
  }
  return false;
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
