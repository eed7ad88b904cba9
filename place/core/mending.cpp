// Construction and repair: while some cut is short, make the change that supplies most
// of what is missing for the money. Costs carry a little noise per site, so that starts
// differ. A cut under a loss counts supply of a site only up to the largest of another.
#include <algorithm>
#include <limits>

#include "place/core/local_search.h"

namespace isochrone::place {

/// Sum over the short cuts of the part of their need that the point would supply.
double LocalSearch::relief(const std::vector<Want>& wants, const Point& point) const {
  const double supply = static_cast<double>(model_.usable(point));
  const double degraded = static_cast<double>(point.degraded);
  double sum = 0;
  for (const Want& want : wants) {
    const double all = want.loss ? degraded : supply;
    const double has = std::min(all, want.limit) * want.scale +
                       std::max(0.0, all - want.limit) * want.beyond;
    sum += std::min(has - want.had, want.deficit) * want.weight;
  }
  return sum;
}

std::vector<LocalSearch::Want> LocalSearch::wants_of(
    const std::vector<const Shortage*>& shortages, int site,
    const Model::Sketch& sketch, const Point* before, Look look) const {
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
      if (other > 0 && look == Look::kEverySize) want.beyond = 0.5;
      want.had = std::min(want.had, want.limit) * want.scale +
                 std::max(0.0, want.had - want.limit) * want.beyond;
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
                                             const std::vector<Shortage>& shortages,
                                             Look look) {
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
    const std::int64_t opening = opening_cost(state, s);
    for (int k = 0; k < model_.commodities(); ++k) {
      if (by_commodity[at(k)].empty()) continue;
      const std::vector<Point>& points = model_.points(s, k);
      const int current = state.chosen(s, k);
      const Point* before = current >= 0 ? &points[at(current)] : nullptr;
      const std::int64_t base = opening - (before != nullptr ? before->cost : 0);
      for (const Model::Sketch& sketch : model_.sketches(s, k)) {
        const auto wants = wants_of(by_commodity[at(k)], s, sketch, before, look);
        if (wants.empty()) continue;
        const bool wider = before != nullptr && reaches_all_of(sketch, s, *before);
        const std::size_t sizes =
            look == Look::kSketch ? sketch.points.size() : points.size();
        for (std::size_t i = 0; i < sizes; ++i) {
          const int p = look == Look::kSketch ? sketch.points[i] : static_cast<int>(i);
          if (points[at(p)].reach != sketch.reach ||
              points[at(p)].degraded_reach != sketch.degraded_reach) {
            continue;
          }
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

/// Makes the one change that brings the largest group nearest to its share for the
/// money: less of it where the cuts allow that, or more of another. The plan passes all
/// cuts.
bool LocalSearch::balance_groups(PlanState& state) {
  rebase(state);
  const double before = state.largest_excess();
  const double cost = static_cast<double>(state.building_cost());
  const auto& most = model_.instance().max_sites;
  const bool full = most && state.open_sites() >= *most;
  double best_score = 0;
  std::optional<PlanState> best;
  for (const int s : guide_.candidates) {
    if (full && !state.open(s)) continue;
    for (int k = 0; k < model_.commodities(); ++k) {
      const int current = state.chosen(s, k);
      const int points = static_cast<int>(model_.points(s, k).size());
      for (int p = current >= 0 ? -1 : 0; p < points; ++p) {
        if (p == current) continue;
        PlanState changed = state;
        changed.choose(s, k, p);
        const double excess = std::max(0.0, changed.largest_excess());
        if (excess >= before || !changed.fits_stock()) continue;
        const double extra = static_cast<double>(changed.building_cost()) - cost;
        // What mends all of it is worth twice as much as what mends a part.
        const double gain = (before - excess) * (excess > 0 ? 1 : 2);
        const double score = gain / std::max(1.0, extra);
        if (score <= best_score || !passes_with(state, {s, k, p})) continue;
        best_score = score;
        best = std::move(changed);
      }
    }
  }
  if (!best) return false;
  state = *std::move(best);
  return true;
}

void LocalSearch::open_pinned(PlanState& state) const {
  for (int s = 0; s < model_.sites(); ++s) {
    if (!model_.instance().sites[at(s)].pinned) continue;
    for (int k = 0; k < model_.commodities() && !state.open(s); ++k) {
      if (!model_.points(s, k).empty()) state.choose(s, k, 0);
    }
  }
}

/// Puts each job that stands nowhere where it costs least. Jobs have no load, so that
/// no cut tells what they lack; where many sites cost the same, the average answer
/// spreads a job so thin that none is picked from it.
void LocalSearch::place_jobs(PlanState& state) const {
  const auto& most = model_.instance().max_sites;
  for (int k = 0; k < model_.commodities(); ++k) {
    if (!model_.whole(k) || model_.demands_of(k).empty()) continue;
    const int job = model_.demands_of(k).front();
    const auto picks = state.picks();
    const bool placed = std::ranges::any_of(
        picks, [&](const Pick& pick) { return pick.commodity == k; });
    if (placed) continue;
    const bool full = most && state.open_sites() >= *most;
    Change best;
    double least = std::numeric_limits<double>::infinity();
    for (const int s : guide_.candidates) {
      if (!state.open(s) && (full || tabu_[at(s)] > turn_)) continue;
      const std::vector<Point>& points = model_.points(s, k);
      for (std::size_t p = 0; p < points.size(); ++p) {
        if (!has_bit(model_.reach(s, points[p].reach), job)) continue;
        const double cost =
            static_cast<double>(opening_cost(state, s) + points[p].cost) *
            noise_[at(s)];
        if (cost >= least) continue;
        PlanState grown = state;
        grown.choose(s, k, static_cast<int>(p));
        if (!grown.fits_stock()) continue;
        least = cost;
        best = {s, k, static_cast<int>(p)};
      }
    }
    if (best.site >= 0) state.choose(best.site, best.commodity, best.point);
  }
}

/// Grows the plan until it carries everything and keeps its limits; where nothing
/// helps, closes a site at random and goes on.
bool LocalSearch::mend(PlanState& state, const Service& service) {
  const int first_turn = turn_;
  while (turn_ - first_turn < 400) {
    ++turn_;
    open_pinned(state);
    place_jobs(state);
    const std::vector<Shortage> short_cuts = shortages(state);
    if (short_cuts.empty()) {
      if (!carries(state, service)) continue;
      if (state.within_limits()) return true;
      if (state.largest_excess() <= 0 || !balance_groups(state)) return false;
      continue;
    }
    Change change = best_growth(state, short_cuts, Look::kSketch);
    // The largest sizes are in no sketch, and two sites of one size each wait for the
    // other to grow.
    if (change.site < 0) change = best_growth(state, short_cuts, Look::kEverySize);
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

}  // namespace isochrone::place
