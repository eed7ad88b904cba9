#include "place/core/dual_ascent.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isochrone::place {
namespace {

constexpr double kMostPrice = 1e18;  // that an integer can hold

/// Cheapest cost of a unit of load (of the whole job) that some point offers a demand.
std::vector<double> least_unit_costs(const Model& model) {
  std::vector<double> least(at(model.demands()),
                            std::numeric_limits<double>::infinity());
  for (int s = 0; s < model.sites(); ++s) {
    for (int k = 0; k < model.commodities(); ++k) {
      std::vector<double> of_class(model.instance().sites[at(s)].reach.size(),
                                   std::numeric_limits<double>::infinity());
      for (const Point& point : model.points(s, k)) {
        const double units = model.whole(k) ? 1.0 : static_cast<double>(point.capacity);
        if (units <= 0) continue;
        double& best = of_class[at(point.reach)];
        best = std::min(best, static_cast<double>(point.cost) / units);
      }
      for (std::size_t c = 0; c < of_class.size(); ++c) {
        if (!std::isfinite(of_class[c])) continue;
        for (const int d : model.demands_of(k)) {
          if (!has_bit(model.reach(s, static_cast<int>(c)), d)) continue;
          least[at(d)] = std::min(least[at(d)], of_class[c]);
        }
      }
    }
  }
  for (double& cost : least) {
    if (!std::isfinite(cost)) cost = 0;
  }
  return least;
}

}  // namespace

DualAscent::DualAscent(const Model& model, Lagrangian& lagrangian)
    : model_(model),
      lagrangian_(lagrangian),
      within_(everything(model)),
      guess_(least_unit_costs(model)) {
  const std::size_t prices = at(model.blocks()) * at(model.demands());
  best_.demand.assign(prices, 0);
  served_.assign(prices, 0);
  unserved_.assign(at(model.demands()), 0);
  for (int s = 0; s < model.sites(); ++s) {
    for (int k = 0; k < model.commodities(); ++k) {
      weight_.emplace_back(model.points(s, k).size(), 0.0);
    }
  }
  choose_scale();
  start_prices();
}

void DualAscent::choose_scale() {
  scale_.assign(best_.demand.size(), 0);
  for (int b = 0; b < model_.blocks(); ++b) {
    for (int d = 0; d < model_.demands(); ++d) {
      const bool whole = model_.whole(model_.instance().demands[at(d)].commodity);
      const double units = whole ? 1.0 : static_cast<double>(model_.load(b, d));
      scale_[at(b) * at(model_.demands()) + at(d)] =
          std::max(1.0, guess_[at(d)] * units);
    }
  }
}

/// All of a demand's cost is charged in the blocks in which its commodity is near its
/// peak, in equal parts.
void DualAscent::start_prices() {
  for (int k = 0; k < model_.commodities(); ++k) {
    std::vector<double> total(at(model_.blocks()), 0);
    for (int b = 0; b < model_.blocks(); ++b) {
      for (const int d : model_.demands_of(k)) {
        total[at(b)] += static_cast<double>(model_.load(b, d));
      }
    }
    const double peak = *std::ranges::max_element(total);
    const auto near_peak = [&](double load) { return load >= 0.9 * peak; };
    const double count = static_cast<double>(std::ranges::count_if(total, near_peak));
    for (int b = 0; b < model_.blocks(); ++b) {
      if (!near_peak(total[at(b)])) continue;
      for (const int d : model_.demands_of(k)) {
        const std::size_t i = at(b) * at(model_.demands()) + at(d);
        best_.demand[i] = scale_[i] > 1 ? scale_[i] / count : 0;
        money_ += best_.demand[i];
      }
    }
  }
}

void DualAscent::add_row(const SurvivalRow& row) {
  if (row.demands.empty()) return;
  for (const SurvivalRow& known : rows()) {
    if (known.element == row.element && known.block == row.block &&
        known.unit == row.unit && known.demands == row.demands) {
      return;
    }
  }
  lagrangian_.add_row(row);
  best_.row.push_back(0);
  const std::size_t position = rows().size() - 1;
  capacity_.push_back(lagrangian_.row_need(position));
  double worth = 0;
  for (const int d : row.demands) {
    worth += guess_[at(d)] * static_cast<double>(model_.load(row.block, d));
    capacity_.back() -= lagrangian_.row_load(position, d) * unserved_[at(d)];
  }
  scale_.push_back(std::max(1.0, worth));
}

void DualAscent::warm_start(const Certificate& certificate) {
  if (certificate.price.size() != at(model_.blocks())) return;
  Prices prices = best_;
  for (int b = 0; b < model_.blocks(); ++b) {
    if (certificate.price[at(b)].size() != at(model_.demands())) return;
    for (int d = 0; d < model_.demands(); ++d) {
      prices.demand[at(b) * at(model_.demands()) + at(d)] =
          static_cast<double>(certificate.price[at(b)][at(d)]);
    }
  }
  for (const Certificate::PricedRow& priced : certificate.rows) {
    if (priced.row.element >= model_.instance().elements) continue;
    add_row(priced.row);
    prices.row.resize(best_.row.size(), 0);
    for (std::size_t r = 0; r < rows().size(); ++r) {
      const SurvivalRow& row = rows()[r];
      if (row.element == priced.row.element && row.block == priced.row.block &&
          row.demands == priced.row.demands) {
        prices.row[r] = static_cast<double>(priced.multiplier) / 1000;
      }
    }
  }
  if (lagrangian_.evaluate(prices, within_).value >
      lagrangian_.evaluate(best_, within_).value) {
    best_ = std::move(prices);
  }
}

void DualAscent::restart(const Restriction& within, const Prices& prices) {
  within_ = within;
  best_ = prices;
  slack_ = {};
  started_ = false;
  relax_ = 0.1;
  largest_part_ = 0.2;
  without_gain_ = 0;
}

/// Of the relaxed rows, each in its natural unit: what is missing of a share of 1, and
/// of the need of a survival row. Positive where the price should rise.
std::vector<double> DualAscent::violation(const Activity& activity,
                                          const std::vector<double>& unserved) const {
  std::vector<double> missing(activity.served.size() + activity.capacity.size());
  for (std::size_t i = 0; i < activity.served.size(); ++i) {
    missing[i] = 1 - activity.served[i] - unserved[i % at(model_.demands())];
  }
  for (std::size_t r = 0; r < activity.capacity.size(); ++r) {
    const double need = std::max(1.0, lagrangian_.row_need(r));
    double left = lagrangian_.row_need(r) - activity.capacity[r];
    for (const int d : rows()[r].demands) {
      left -= lagrangian_.row_load(r, d) * unserved[at(d)];
    }
    missing[activity.served.size() + r] = left / need;
  }
  return missing;
}

double DualAscent::weighted_product(const std::vector<double>& a,
                                    const std::vector<double>& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += scale_[i] * a[i] * b[i];
  return sum;
}

Prices DualAscent::moved(const std::vector<double>& direction, double step) const {
  Prices prices = best_;
  for (std::size_t i = 0; i < prices.demand.size(); ++i) {
    prices.demand[i] =
        std::max(0.0, prices.demand[i] + step * scale_[i] * direction[i]);
  }
  for (std::size_t r = 0; r < prices.row.size(); ++r) {
    const std::size_t i = prices.demand.size() + r;
    const double need = std::max(1.0, lagrangian_.row_need(r));
    prices.row[r] =
        std::max(0.0, prices.row[r] + step * scale_[i] * direction[i] / need);
  }
  return prices;
}

void DualAscent::average(const Outcome& outcome, const Activity& activity,
                         double part) {
  const auto blend = [&](std::vector<double>& into, const std::vector<double>& fresh) {
    for (std::size_t i = 0; i < into.size(); ++i)
      into[i] += part * (fresh[i] - into[i]);
  };
  blend(served_, activity.served);
  blend(unserved_, outcome.unserved);
  blend(capacity_, activity.capacity);
  for (std::size_t i = 0; i < weight_.size(); ++i) {
    for (double& weight : weight_[i]) weight *= 1 - part;
    const bool open = outcome.open[i / at(model_.commodities())] != 0;
    if (open && outcome.pick[i] >= 0) weight_[i][at(outcome.pick[i])] += part;
  }
}

/// Part of the fresh answer that makes the average least violated, within limits.
double DualAscent::averaging_part(const std::vector<double>& current,
                                  const std::vector<double>& fresh) const {
  const double cc = weighted_product(current, current);
  const double cf = weighted_product(current, fresh);
  const double ff = weighted_product(fresh, fresh);
  const double curve = cc - 2 * cf + ff;
  const double best = curve > 0 ? (cc - cf) / curve : largest_part_;
  return std::clamp(best, largest_part_ / 10, largest_part_);
}

void DualAscent::adopt(const Prices& prices, const Outcome& outcome) {
  best_ = prices;
  best_value_ = outcome.value;
  best_site_value_ = outcome.site_value;
  best_opening_ = outcome.opening;
}

void DualAscent::run(std::int64_t steps, double target) {
  if (!started_) {
    started_ = true;
    const Outcome outcome = lagrangian_.evaluate(best_, within_, slack_);
    adopt(best_, outcome);
    average(outcome, lagrangian_.activity(outcome, best_), 1);
    checkpoint_value_ = best_value_;
    ++steps_;
  }
  for (std::int64_t i = 0; i < steps; ++i, ++steps_) {
    const std::vector<double> direction = violation({served_, capacity_}, unserved_);
    const double norm = weighted_product(direction, direction);
    if (norm <= 0) return;
    const double aim =
        std::min(target, best_value_ + 0.05 * std::max(money_, std::abs(best_value_)));
    const double step = relax_ * std::max(aim - best_value_, 1.0) / norm;
    const Prices prices = moved(direction, step);
    const Outcome outcome = lagrangian_.evaluate(prices, within_, slack_);
    const Activity activity = lagrangian_.activity(outcome, prices);
    const std::vector<double> fresh = violation(activity, outcome.unserved);
    average(outcome, activity, averaging_part(direction, fresh));
    if (outcome.value > best_value_) {
      if (weighted_product(direction, fresh) >= 0) relax_ = std::min(2.0, relax_ * 1.3);
      adopt(prices, outcome);
      without_gain_ = 0;
    } else if (++without_gain_ >= 6) {
      relax_ = std::max(1e-4, relax_ * 0.67);
      without_gain_ = 0;
    }
    if (steps_ % 100 == 99) {
      if (best_value_ - checkpoint_value_ < 0.01 * std::abs(best_value_)) {
        largest_part_ = std::max(1e-3, largest_part_ / 2);
      }
      checkpoint_value_ = best_value_;
    }
  }
}

Certificate DualAscent::certificate_of(const Prices& prices) const {
  Certificate certificate;
  certificate.price.assign(at(model_.blocks()),
                           std::vector<std::int64_t>(at(model_.demands()), 0));
  for (int b = 0; b < model_.blocks(); ++b) {
    for (int d = 0; d < model_.demands(); ++d) {
      certificate.price[at(b)][at(d)] =
          std::llround(std::clamp(prices.demand[at(b) * at(model_.demands()) + at(d)],
                                  -kMostPrice, kMostPrice));
    }
  }
  for (std::size_t r = 0; r < rows().size(); ++r) {
    const std::int64_t multiplier = std::llround(prices.row[r] * 1000);
    if (multiplier > 0) certificate.rows.push_back({rows()[r], multiplier});
  }
  return certificate;
}

}  // namespace isochrone::place
