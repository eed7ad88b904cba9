// The moves of the local search: replace a pick by a cheaper point; change a pick for
// the worse and let the cheapest partner make up for it (this closes, opens, swaps and
// merges sites, moves replicas and changes options); build something more and shrink
// everything else; leave other demands unserved.
#include <algorithm>
#include <cstdlib>

#include "place/core/local_search.h"
#include "place/core/wide.h"

namespace isochrone::place {

bool LocalSearch::accept(Incumbent& best, PlanState state) {
  const std::int64_t cost = cost_of(state, best.service);
  if (cost >= best.cost) return false;
  best.state = std::move(state);
  best.cost = cost;
  return true;
}

/// The cheapest point in place of the pick, or nothing at all.
bool LocalSearch::try_replace(Incumbent& best, const Pick& pick) {
  ++moves_;
  rebase(best.state);
  for (int p = -1; p < pick.point; ++p) {
    if (!passes_with(best.state, {pick.site, pick.commodity, p})) continue;
    PlanState state = best.state;
    state.choose(pick.site, pick.commodity, p);
    if (cost_of(state, best.service) >= best.cost) continue;
    if (!state.within_limits()) continue;
    if (carries(state, best.service)) return accept(best, std::move(state));
    rebase(best.state);
  }
  return false;
}

/// The cheapest change of another site that makes `base` pass all cuts and cost less
/// than `beat`.
std::optional<PlanState> LocalSearch::best_partner(const PlanState& base,
                                                   std::int64_t beat,
                                                   const Pick& changed,
                                                   const Service& service) {
  const std::vector<Shortage> short_cuts = shortages(base);
  rebase(base);
  // Whatever is built, traffic costs something; with coverage not even that is sure.
  const std::int64_t traffic = model_.instance().coverage.empty()
                                   ? std::max<std::int64_t>(0, model_.least_traffic())
                                   : 0;
  const std::int64_t slack = beat - base.building_cost() - traffic;
  if (slack <= 0) return std::nullopt;
  const auto& most = model_.instance().max_sites;
  const bool full = most && base.open_sites() >= *most;
  const int k = changed.commodity;
  std::optional<PlanState> best;
  for (const int s : guide_.candidates) {
    if (s == changed.site || (full && !base.open(s))) continue;
    const std::vector<Point>& points = model_.points(s, k);
    const int current = base.chosen(s, k);
    const std::int64_t opening = opening_cost(base, s);
    const std::int64_t before = current >= 0 ? points[at(current)].cost : 0;
    for (int p = 0; p < static_cast<int>(points.size()); ++p) {
      if (p == current) continue;
      const Point& point = points[at(p)];
      if (opening + point.cost - before >= slack) break;
      const bool enough =
          std::ranges::all_of(short_cuts, [&](const Shortage& shortage) {
            const Cut& cut = cuts_[shortage.cut];
            if (cut.commodity != k) return false;
            const int reach = cut.loss ? point.degraded_reach : point.reach;
            if (cut.reaches[model_.class_index(s, reach)] == 0) return false;
            return (cut.loss ? point.degraded : point.capacity) >= shortage.deficit;
          });
      if (!enough || !passes_with(base, {s, k, p})) continue;
      PlanState state = base;
      state.choose(s, k, p);
      const std::int64_t cost = cost_of(state, service);
      if (cost >= beat || !state.within_limits()) continue;
      beat = cost;
      best = std::move(state);
      break;
    }
  }
  return best;
}

bool LocalSearch::try_pair(Incumbent& best, const Pick& pick, int point) {
  ++moves_;
  PlanState base = best.state;
  base.choose(pick.site, pick.commodity, point);
  // Each failure to route adds cuts, so the next answer is another one.
  for (int attempt = 0; attempt < 6; ++attempt) {
    const auto state = best_partner(base, best.cost, pick, best.service);
    if (!state) return false;
    if (carries(*state, best.service)) return accept(best, *state);
  }
  return false;
}

/// Replaces picks by cheaper points while the cuts allow it, in random order.
bool LocalSearch::shrink_all(PlanState& state) {
  std::vector<Pick> picks = state.picks();
  for (std::size_t i = picks.size(); i > 1; --i) {
    std::swap(picks[i - 1], picks[rng_.below(i)]);
  }
  bool shrunk = false;
  for (const Pick& pick : picks) {
    rebase(state);
    for (int p = -1; p < pick.point; ++p) {
      if (!passes_with(state, {pick.site, pick.commodity, p})) continue;
      PlanState smaller = state;
      smaller.choose(pick.site, pick.commodity, p);
      if (!smaller.within_limits()) continue;
      state = std::move(smaller);
      shrunk = true;
      break;
    }
  }
  return shrunk;
}

bool LocalSearch::try_insert(Incumbent& best, int site, int commodity, int point) {
  ++moves_;
  PlanState base = best.state;
  base.choose(site, commodity, point);
  for (int attempt = 0; attempt < 3; ++attempt) {
    PlanState state = base;
    if (!shrink_all(state)) return false;
    if (cost_of(state, best.service) >= best.cost) return false;
    if (acceptable(state, best.service)) return accept(best, std::move(state));
  }
  return false;
}

/// Leaves another demand of a coverage group unserved, as far as the slack goes, in
/// place of the one that is least worth leaving, and shrinks what that frees.
bool LocalSearch::try_unserved(Incumbent& best) {
  ++moves_;
  const Instance& in = model_.instance();
  if (in.coverage.empty()) return false;
  std::vector<int> members;
  const int group = static_cast<int>(rng_.below(in.coverage.size()));
  for (int d = 0; d < model_.demands(); ++d) {
    if (in.demands[at(d)].coverage_group == group) members.push_back(d);
  }
  if (members.empty()) return false;
  std::vector<std::int32_t> unserved = best.service.unserved();
  const int chosen = members[rng_.below(members.size())];
  const bool whole = model_.whole(in.demands[at(chosen)].commodity);
  if (unserved[at(chosen)] > 0) {
    unserved[at(chosen)] = 0;
  } else {
    std::int64_t used = 0;
    for (const int d : members) {
      used += (in.demands[at(d)].coverage_weight * unserved[at(d)] + kWholeShare - 1) /
              kWholeShare;
    }
    const std::int64_t weight = in.demands[at(chosen)].coverage_weight;
    for (const int d : members) {
      if (in.coverage[at(group)].slack - used >= weight) break;
      if (unserved[at(d)] == 0 || rng_.below(2) == 0) continue;
      if (!model_.reachable(d)) continue;
      used -= (in.demands[at(d)].coverage_weight * unserved[at(d)]) / kWholeShare;
      unserved[at(d)] = 0;
    }
    const std::int64_t room =
        std::max<std::int64_t>(0, in.coverage[at(group)].slack - used);
    if (weight <= room) {
      unserved[at(chosen)] = static_cast<std::int32_t>(kWholeShare);
    } else if (!whole) {
      unserved[at(chosen)] =
          static_cast<std::int32_t>(static_cast<Wide>(room) * kWholeShare / weight);
    }
  }
  if (!model_.reachable(chosen)) return false;
  Incumbent trial = best;
  trial.service = Service(model_, std::move(unserved));
  use(trial.service);
  const std::vector<double> no_noise(noise_.size(), 1);
  noise_ = no_noise;
  if (mend(trial.state, trial.service)) {
    PlanState smaller = trial.state;
    if (shrink_all(smaller) && acceptable(smaller, trial.service)) {
      trial.state = std::move(smaller);
    }
    trial.cost = cost_of(trial.state, trial.service);
    if (trial.cost < best.cost) {
      best = std::move(trial);
      return true;
    }
  }
  use(best.service);
  return false;
}

bool LocalSearch::descend(Incumbent& best, std::int64_t limit) {
  bool improved = false;
  std::vector<Pick> picks = best.state.picks();
  for (std::size_t i = picks.size(); i > 1; --i) {
    std::swap(picks[i - 1], picks[rng_.below(i)]);
  }
  for (const Pick& was : picks) {
    if (moves_ >= limit) return improved;
    const int current = best.state.chosen(was.site, was.commodity);
    if (current < 0) continue;
    const Pick pick{was.site, was.commodity, current};
    if (try_replace(best, pick)) {
      improved = true;
      continue;
    }
    if (try_pair(best, pick, -1)) {
      improved = true;
      continue;
    }
    // Steps down of growing size: a replica or two, a quarter, a half, nearly all.
    const int steps[] = {1, 2, 4, current / 4, current / 2, current * 3 / 4};
    int last = current;
    for (const int step : steps) {
      const int point = current - step;
      if (step <= 0 || point < 0 || point >= last || moves_ >= limit) continue;
      last = point;
      if (try_pair(best, pick, point)) {
        improved = true;
        break;
      }
    }
  }
  return improved;
}

/// Takes one to three picks away or down, and half of the time first builds a site that
/// the dual likes.
void LocalSearch::shake(PlanState& state) {
  for (double& noise : noise_) noise = 0.8 + 0.4 * rng_.uniform();
  const std::uint64_t count = 1 + rng_.below(3);
  for (std::uint64_t i = 0; i < count && !state.picks().empty(); ++i) {
    const Pick pick = state.picks()[rng_.below(state.picks().size())];
    const bool remove = rng_.below(3) > 0 || pick.point == 0;
    const int down =
        remove ? -1
               : static_cast<int>(rng_.below(static_cast<std::uint64_t>(pick.point)));
    state.choose(pick.site, pick.commodity, down);
    for (int k = 0; remove && k < model_.commodities(); ++k) {
      if (rng_.below(2) == 0) state.choose(pick.site, k, -1);
    }
    if (!state.open(pick.site)) {
      tabu_[at(pick.site)] = turn_ + static_cast<int>(rng_.below(20));
    }
  }
  if (rng_.below(2) == 0 || guide_.candidates.empty()) return;
  const std::size_t near = std::min<std::size_t>(guide_.candidates.size(), 30);
  const int site = guide_.candidates[rng_.below(near)];
  const int k = static_cast<int>(rng_.below(at(model_.commodities())));
  const auto& most = model_.instance().max_sites;
  const bool full = most && state.open_sites() >= *most && !state.open(site);
  if (full || model_.points(site, k).empty() || state.chosen(site, k) >= 0) return;
  const auto& weights = guide_.weights[at(site) * at(model_.commodities()) + at(k)];
  const auto heaviest = std::ranges::max_element(weights);
  const bool guided = *heaviest > 0 && rng_.below(4) > 0;
  state.choose(site, k,
               guided ? static_cast<int>(heaviest - weights.begin())
                      : static_cast<int>(rng_.below(weights.size())));
  if (!state.fits_stock()) state.choose(site, k, -1);
}

/// Mends a shaken plan, shrinks what the cuts do not need, and descends only if that
/// comes near.
std::optional<Incumbent> LocalSearch::shaken(const Incumbent& from,
                                             std::int64_t limit) {
  ++moves_;
  Incumbent plan = from;
  shake(plan.state);
  if (!mend(plan.state, plan.service)) return std::nullopt;
  for (int attempt = 0; attempt < 4; ++attempt) {
    PlanState smaller = plan.state;
    if (!shrink_all(smaller)) break;
    if (!carries(smaller, plan.service)) continue;
    plan.state = std::move(smaller);
    break;
  }
  plan.cost = cost_of(plan.state, plan.service);
  if (plan.cost > from.cost + std::abs(from.cost) / 40) return std::nullopt;
  while (moves_ < limit && descend(plan, limit)) {
  }
  return plan;
}

Incumbent LocalSearch::improve(Incumbent start, std::int64_t moves, double heat) {
  const std::int64_t limit = moves_ + moves;
  use(start.service);
  // Three quarters of the moves are annealed; a step of that is cheaper than a move.
  constexpr std::int64_t kStepsPerMove = 400;
  start = anneal(std::move(start), moves * kStepsPerMove, heat);
  moves_ += moves * 3 / 4;
  Incumbent best = start;
  Incumbent current = std::move(start);
  std::optional<std::int64_t> descended;
  while (moves_ < limit) {
    if (current.cost != descended) {
      while (moves_ < limit && descend(current, limit)) {
      }
      descended = current.cost;
    }
    const std::size_t near = std::min<std::size_t>(guide_.candidates.size(), 40);
    for (int i = 0; i < 3 && moves_ < limit && near > 0; ++i) {
      const int site = guide_.candidates[rng_.below(near)];
      const int k = static_cast<int>(rng_.below(at(model_.commodities())));
      const std::size_t points = model_.points(site, k).size();
      if (points == 0) continue;
      const int point = static_cast<int>(rng_.below(points));
      const auto& most = model_.instance().max_sites;
      if (!current.state.open(site) && most && current.state.open_sites() >= *most) {
        continue;
      }
      if (point > current.state.chosen(site, k)) try_insert(current, site, k, point);
    }
    if (!model_.instance().coverage.empty()) {
      for (int i = 0; i < 6 && moves_ < limit; ++i) try_unserved(current);
    }
    if (current.cost < best.cost) best = current;
    if (moves_ >= limit) break;
    if (current.cost > best.cost + std::abs(best.cost) / 100) {
      current = best;
      use(current.service);
    }
    auto next = shaken(current, limit);
    if (next && next->cost < current.cost + std::abs(current.cost) / 300) {
      current = *std::move(next);
    }
  }
  return best;
}

}  // namespace isochrone::place
