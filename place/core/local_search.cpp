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

/// Sum over the short cuts of the part of their need that the point would supply.
double LocalSearch::relief(const std::vector<Want>& wants, const Point& point) const {
  const double supply =
      static_cast<double>(std::max<std::int64_t>(0, point.capacity - model_.margin()));
  const double degraded = static_cast<double>(point.degraded);
  double sum = 0;
  for (const Want& want : wants) {
    const double has = std::min(want.loss ? degraded : supply, want.limit) * want.scale;
    sum += std::min(has - want.had, want.deficit) * want.weight;
  }
  return sum;
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
  return cut.loss ? point.degraded
                  : std::max<std::int64_t>(0, point.capacity - model_.margin());
}

std::vector<LocalSearch::Want> LocalSearch::wants_of(
    const std::vector<const Shortage*>& shortages, int site,
    const Model::Sketch& sketch, const Point* before) const {
  std::vector<Want> wants;
  for (const Shortage* shortage : shortages) {
    const Cut& cut = cuts_[shortage->cut];
    const int reach = cut.loss ? sketch.degraded_reach : sketch.reach;
    if (cut.reaches[model_.class_index(site, reach)] == 0) continue;
    Want want;
    want.loss = cut.loss;
    want.limit = std::numeric_limits<double>::infinity();
    want.had =
        before != nullptr ? static_cast<double>(supply_to(cut, site, *before)) : 0;
    if (cut.loss) {
      // Supply beyond the largest of another site is lost with the site itself. The
      // first site of all supplies nothing yet, but is half of a pair.
      const std::int64_t other =
          shortage->largest_site == site ? shortage->second : shortage->largest;
      if (other > 0) want.limit = static_cast<double>(other);
      if (other == 0) want.scale = 0.5;
      want.had = std::min(want.had, want.limit) * want.scale;
    }
    want.deficit = static_cast<double>(shortage->deficit);
    want.weight = shortage->weight;
    wants.push_back(want);
  }
  return wants;
}

/// Sum over all cuts of the part of their need that the base lacks after a change.
double LocalSearch::missing_with(const PlanState& base, const Pick& change) {
  const std::vector<Point>& points = model_.points(change.site, change.commodity);
  const int current = base.chosen(change.site, change.commodity);
  PlanState changed = base;
  changed.choose(change.site, change.commodity, change.point);
  double sum = 0;
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    const Cut& cut = cuts_[c];
    std::int64_t deficit = cut.need - supply_[c];
    if (cut.metered()) {
      deficit = meter_.deficit(cut, changed);
    } else if (cut.commodity == change.commodity) {
      deficit -= supply_to(cut, change.site, points[at(change.point)]);
      if (current >= 0) deficit += supply_to(cut, change.site, points[at(current)]);
    }
    if (deficit <= 0) continue;
    sum += static_cast<double>(deficit) /
           static_cast<double>(std::max<std::int64_t>(1, cut.need));
  }
  return sum;
}

/// Whatever the point before supplies, a point with at least its capacities supplies
/// too.
bool LocalSearch::reaches_all_of(const Model::Sketch& sketch, int site,
                                 const Point& before) const {
  return contains(model_.reach(site, sketch.reach), model_.reach(site, before.reach)) &&
         contains(model_.reach(site, sketch.degraded_reach),
                  model_.reach(site, before.degraded_reach));
}

LocalSearch::Change LocalSearch::best_growth(const PlanState& state,
                                             const std::vector<Shortage>& shortages) {
  constexpr std::size_t kMostConsidered = 24;
  std::vector<std::vector<const Shortage*>> by_commodity(at(model_.commodities()));
  for (const Shortage& shortage : shortages) {
    auto& own = by_commodity[at(cuts_[shortage.cut].commodity)];
    if (own.size() < kMostConsidered) own.push_back(&shortage);
  }
  const auto& most = model_.instance().max_sites;
  const bool full = most && state.open_sites() >= *most;
  rebase(state);
  double missing = 0;
  for (const Shortage& shortage : shortages) {
    missing += static_cast<double>(shortage.deficit) * shortage.weight;
  }
  Change best;
  double best_score = 0;
  for (const int s : guide_.candidates) {
    if (!state.open(s) && (full || tabu_[at(s)] > turn_)) continue;
    const int group = model_.instance().sites[at(s)].group;
    if (!banned_groups_.empty() && banned_groups_[at(group)] != 0) continue;
    const std::int64_t opening = opening_cost(state, s);
    for (int k = 0; k < model_.commodities(); ++k) {
      if (by_commodity[at(k)].empty()) continue;
      const std::vector<Point>& points = model_.points(s, k);
      const int current = state.chosen(s, k);
      const Point* before = current >= 0 ? &points[at(current)] : nullptr;
      const std::int64_t base = opening - (before != nullptr ? before->cost : 0);
      for (const Model::Sketch& sketch : model_.sketches(s, k)) {
        const auto wants = wants_of(by_commodity[at(k)], s, sketch, before);
        if (wants.empty()) continue;
        const bool wider = before != nullptr && reaches_all_of(sketch, s, *before);
        for (const int p : sketch.points) {
          const double cost =
              std::max(1.0, static_cast<double>(base + points[at(p)].cost)) *
              noise_[at(s)];
          double score = relief(wants, points[at(p)]) / cost;
          if (score <= best_score || p == current) continue;
          PlanState grown = state;
          grown.choose(s, k, p);
          if (!grown.fits_stock()) continue;
          const bool harmless = before == nullptr ||
                                (wider && points[at(p)].capacity >= before->capacity &&
                                 points[at(p)].degraded >= before->degraded);
          if (!harmless) {
            // It may break what holds now: count everything.
            score = (missing - missing_with(state, {s, k, p})) / cost;
            if (score <= best_score) continue;
          }
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
