#include "place/core/annealing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr std::size_t kMostCuts = 1024;
constexpr std::size_t kWords = kMostCuts / 64;
constexpr double kWholeCut = 0.05;  // least price of lacking all of a cut, likewise
constexpr double kLastHeat = 3e-4;  // likewise

}  // namespace

Annealing::Annealing(const Model& model, const Guide& guide, Rng& rng,
                     const Service& service)
    : model_(model),
      guide_(guide),
      rng_(rng),
      service_(service),
      meter_(model),
      state_(model),
      touched_(model.class_count() * kWords, 0),
      unserved_cost_(unserved_cost(model, service)) {
  const std::size_t pairs = at(model.sites()) * at(model.commodities());
  by_capacity_.resize(pairs);
  for (const int s : guide.candidates) {
    for (int k = 0; k < model.commodities(); ++k) {
      const std::vector<Point>& points = model.points(s, k);
      std::vector<int>& order = by_capacity_[at(s) * at(model.commodities()) + at(k)];
      order.resize(points.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {},
                               [&](int p) { return points[at(p)].capacity; });
    }
  }
}

double Annealing::first_price(const Cut& cut) const {
  const double need = static_cast<double>(std::max<std::int64_t>(1, cut.need));
  return std::max(unit_price_, kWholeCut * money_ / need);
}

/// Position of the plain cut that the current plan satisfies best.
std::size_t Annealing::loosest() const {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    if (cuts_[c].metered()) continue;
    const double need = static_cast<double>(std::max<std::int64_t>(1, priced_[c].need));
    const double slack =
        static_cast<double>(priced_[c].supply - priced_[c].need) / need;
    if (slack > most) {
      most = slack;
      best = c;
    }
  }
  return best;
}

void Annealing::add_cut(Cut cut) {
  std::size_t c = cuts_.size();
  if (c < kMostCuts) {
    cuts_.emplace_back();
    priced_.emplace_back();
  } else if (metered_.size() == kMostCuts || cut.metered()) {
    return;  // the router finds it again
  } else {
    c = loosest();
  }
  const std::uint64_t bit = std::uint64_t{1} << (c % 64);
  for (std::size_t i = 0; i < cut.reaches.size(); ++i) {
    std::uint64_t& word = touched_[i * kWords + c / 64];
    word = cut.reaches[i] != 0 && !cut.metered() ? word | bit : word & ~bit;
  }
  cuts_[c] = std::move(cut);
  if (cuts_[c].metered()) metered_.push_back(c);
  meter(c);
}

/// Reads supply and price of a cut anew.
void Annealing::meter(std::size_t c) {
  const std::int64_t deficit = meter_.deficit(cuts_[c], state_);
  Priced& priced = priced_[c];
  priced = {cuts_[c].need, cuts_[c].need - deficit, first_price(cuts_[c]),
            cuts_[c].commodity};
  if (cuts_[c].metered()) return;
  plain_penalty_ +=
      priced.price * static_cast<double>(std::max<std::int64_t>(0, deficit));
}

void Annealing::enter(const PlanState& state) {
  state_ = state;
  plain_penalty_ = 0;
  for (std::size_t c = 0; c < cuts_.size(); ++c) meter(c);
}

/// Makes one change and remembers how to undo it.
void Annealing::change(int site, int commodity, int point) {
  const std::vector<Point>& points = model_.points(site, commodity);
  const int before = state_.chosen(site, commodity);
  changed_.push_back({site, commodity, before});
  const std::uint64_t* gains = nullptr;
  const std::uint64_t* losses = nullptr;
  std::int64_t more = 0;
  std::int64_t less = 0;
  const auto usable = [&](int p) { return model_.usable(points[at(p)]); };
  if (point >= 0) {
    gains = &touched_[model_.class_index(site, points[at(point)].reach) * kWords];
    more = usable(point);
  }
  if (before >= 0) {
    losses = &touched_[model_.class_index(site, points[at(before)].reach) * kWords];
    less = usable(before);
  }
  const std::size_t words = (cuts_.size() + 63) / 64;
  for (std::size_t w = 0; w < words; ++w) {
    const std::uint64_t up = gains != nullptr ? gains[w] : 0;
    const std::uint64_t down = losses != nullptr ? losses[w] : 0;
    for (std::uint64_t any = up | down; any != 0; any &= any - 1) {
      const int bit = std::countr_zero(any);
      Priced& priced = priced_[w * 64 + at(bit)];
      if (priced.commodity != commodity) continue;
      const std::int64_t step =
          (((up >> bit) & 1U) != 0 ? more : 0) - (((down >> bit) & 1U) != 0 ? less : 0);
      const std::int64_t was = std::max<std::int64_t>(0, priced.need - priced.supply);
      priced.supply += step;
      const std::int64_t is = std::max<std::int64_t>(0, priced.need - priced.supply);
      plain_penalty_ += priced.price * static_cast<double>(is - was);
    }
  }
  state_.choose(site, commodity, point);
}

void Annealing::undo() {
  const std::vector<Pick> changes = std::move(changed_);
  changed_.clear();
  for (auto it = changes.rbegin(); it != changes.rend(); ++it) {
    change(it->site, it->commodity, it->point);
  }
  changed_.clear();
}

double Annealing::metered_penalty() {
  double penalty = 0;
  for (const std::size_t c : metered_) {
    const std::int64_t deficit = meter_.deficit(cuts_[c], state_);
    if (deficit > 0) penalty += priced_[c].price * static_cast<double>(deficit);
  }
  return penalty;
}

const Pick& Annealing::random_pick() {
  return state_.picks()[rng_.below(state_.picks().size())];
}

/// The dual's favourites come first in the list and more often.
int Annealing::random_candidate() {
  const double u = rng_.uniform();
  const auto count = static_cast<double>(guide_.candidates.size());
  return guide_.candidates[static_cast<std::size_t>(u * u * count)];
}

int Annealing::random_point(int site, int commodity) {
  const auto& weights =
      guide_.weights[at(site) * at(model_.commodities()) + at(commodity)];
  if (weights.empty()) return -1;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total > 0 && rng_.below(2) == 0) {
    double left = rng_.uniform() * total;
    for (std::size_t p = 0; p < weights.size(); ++p) {
      left -= weights[p];
      if (left <= 0) return static_cast<int>(p);
    }
  }
  // Small ones more often: points come by cost.
  const double u = rng_.uniform();
  return static_cast<int>(u * u * static_cast<double>(weights.size()));
}

/// One of the next few points that carry at least so much.
int Annealing::point_with(int site, int commodity, std::int64_t capacity) {
  const std::vector<Point>& points = model_.points(site, commodity);
  const std::vector<int>& order =
      by_capacity_[at(site) * at(model_.commodities()) + at(commodity)];
  if (order.empty()) return -1;
  const auto first = std::ranges::lower_bound(
      order, capacity, {}, [&](int p) { return points[at(p)].capacity; });
  const auto from = static_cast<std::size_t>(first - order.begin());
  const std::size_t pick = from + rng_.below(24);
  return order[std::min(pick, order.size() - 1)];
}

bool Annealing::open_allowed(int site) const {
  const auto& most = model_.instance().max_sites;
  return state_.open(site) || !most || state_.open_sites() < *most;
}

/// Another point at an open site, near in cost, or none.
bool Annealing::propose_resize() {
  const Pick pick = random_pick();
  const int points = static_cast<int>(model_.points(pick.site, pick.commodity).size());
  if (rng_.below(8) == 0) {
    change(pick.site, pick.commodity, -1);
    return true;
  }
  const int step = static_cast<int>(std::pow(96.0, rng_.uniform()));
  const int point = pick.point + (rng_.below(2) == 0 ? step : -step);
  if (point < 0 || point >= points) return false;
  change(pick.site, pick.commodity, point);
  return true;
}

/// The same capacity or a little more elsewhere.
bool Annealing::propose_swap() {
  const Pick pick = random_pick();
  const int to = random_candidate();
  if (to == pick.site || state_.chosen(to, pick.commodity) >= 0) return false;
  const std::int64_t capacity = state_.point(pick).capacity;
  change(pick.site, pick.commodity, -1);
  if (!open_allowed(to)) return false;
  const int point = point_with(to, pick.commodity, capacity);
  if (point < 0) return false;
  change(to, pick.commodity, point);
  return true;
}

/// A part of a pool's capacity goes to another site, open or not.
bool Annealing::propose_move() {
  const Pick pick = random_pick();
  const bool known = rng_.below(2) == 0;
  const Pick other = random_pick();
  const int to = known ? other.site : random_candidate();
  if (to == pick.site) return false;
  const std::vector<Point>& points = model_.points(pick.site, pick.commodity);
  const std::int64_t before = points[at(pick.point)].capacity;
  const std::int64_t keep =
      static_cast<std::int64_t>(rng_.uniform() * static_cast<double>(before));
  const int less = point_with(pick.site, pick.commodity, keep);
  if (less < 0 || points[at(less)].capacity >= before) return false;
  const std::int64_t moved = before - points[at(less)].capacity;
  if (!open_allowed(to)) return false;
  const int current = state_.chosen(to, pick.commodity);
  const std::int64_t there =
      current >= 0 ? model_.points(to, pick.commodity)[at(current)].capacity : 0;
  const int more = point_with(to, pick.commodity, there + moved);
  if (more < 0) return false;
  change(pick.site, pick.commodity, less);
  change(to, pick.commodity, more);
  return true;
}

bool Annealing::propose() {
  const std::uint64_t kind = rng_.below(8);
  if (kind == 0 || state_.picks().empty()) {
    const int site = random_candidate();
    const int k = static_cast<int>(rng_.below(at(model_.commodities())));
    const int point = random_point(site, k);
    if (point < 0 || point == state_.chosen(site, k) || !open_allowed(site)) {
      return false;
    }
    change(site, k, point);
    return true;
  }
  if (kind < 4) return propose_resize();
  if (kind < 6) return propose_swap();
  return propose_move();
}

/// Sets the price of what a plan lacks: about what a unit of load costs on average.
void Annealing::set_prices(const Incumbent& start) {
  double load = 1;
  for (int b = 0; b < model_.blocks(); ++b) {
    double sum = 0;
    for (int d = 0; d < model_.demands(); ++d) {
      sum += static_cast<double>(service_.load(b, d));
    }
    load = std::max(load, sum);
  }
  money_ = std::abs(static_cast<double>(start.cost)) + 1;
  unit_price_ = money_ / load;
}

/// Whether the changed plan costs less than the limit, lacks included. The parts that
/// take longest come last.
bool Annealing::below(double limit) {
  const double floor = static_cast<double>(
      std::max<std::int64_t>(0, model_.least_traffic()) + unserved_cost_);
  fresh_.cost = state_.building_cost();
  const double building = static_cast<double>(fresh_.cost);
  if (building + floor + plain_penalty_ >= limit || !state_.fits_stock()) return false;
  fresh_.penalty = plain_penalty_ + metered_penalty();
  if (building + floor + fresh_.penalty >= limit) return false;
  fresh_.cost += traffic_estimate(model_, state_, service_) + unserved_cost_;
  return static_cast<double>(fresh_.cost) + fresh_.penalty < limit;
}

Incumbent Annealing::run(Incumbent start, std::int64_t steps, double heat,
                         const Violated& violated) {
  Incumbent best = std::move(start);
  set_prices(best);
  enter(best.state);
  Energy now{best.cost, plain_penalty_ + metered_penalty()};
  const double cooling = std::pow(
      kLastHeat / heat, 1 / static_cast<double>(std::max<std::int64_t>(1, steps)));
  heat *= money_;
  for (std::int64_t step = 0; step < steps; ++step, heat *= cooling) {
    changed_.clear();
    const double limit =
        static_cast<double>(now.cost) + now.penalty - heat * std::log(rng_.uniform());
    if (!propose() || !below(limit)) {
      undo();
      continue;
    }
    now = fresh_;
    const bool complete = now.penalty <= 1e-9 * money_;
    if (!complete || now.cost >= best.cost || !state_.within_limits()) continue;
    const std::vector<Cut> cuts = violated(state_);
    if (cuts.empty()) {
      best.state = state_;
      best.cost = now.cost;
    }
    for (const Cut& cut : cuts) add_cut(cut);
    if (!cuts.empty()) now.penalty = plain_penalty_ + metered_penalty();
  }
  return best;
}

}  // namespace isochrone::place
