#include "place/verify/slow_capacity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/rng.h"

namespace isochrone::verify {
namespace {

constexpr std::size_t kEpochs = 8192;
constexpr std::size_t kRates = 512;  // of the table of waits, up to the full rate

double residence_at(const SlowPool& pool, double occupancy) {
  std::size_t high = 0;
  while (high < pool.occupancy.size() && pool.occupancy[high] < occupancy) ++high;
  if (high == 0) return pool.residence_s.front();
  if (high == pool.occupancy.size()) return pool.residence_s.back();
  const double x0 = pool.occupancy[high - 1];
  const double x1 = pool.occupancy[high];
  const double y0 = pool.residence_s[high - 1];
  return y0 + (pool.residence_s[high] - y0) * (occupancy - x0) / (x1 - x0);
}

/// Departures per second with 1 .. n * B requests in the pool.
std::vector<double> departures(const SlowPool& pool) {
  std::vector<double> rates;
  for (std::int64_t k = 1; k <= pool.replicas * pool.slots; ++k) {
    const auto requests = static_cast<double>(k);
    rates.push_back(requests /
                    residence_at(pool, requests / static_cast<double>(pool.replicas)));
  }
  return rates;
}

/// Equally likely quantiles of a Gamma law of mean 1: its density summed by trapezoids.
std::vector<double> gamma_quantiles(double shape, std::size_t count) {
  constexpr std::size_t kSteps = 200'000;
  const double end = (shape + 12 * std::sqrt(shape) + 40) / shape;
  const double step = end / kSteps;
  const auto density = [&](double x) {
    return x <= 0 ? 0.0
                  : std::exp((shape - 1) * std::log(x * shape) - x * shape -
                             std::lgamma(shape)) *
                        shape;
  };
  std::vector<double> quantiles;
  double below = 0;
  double x = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double target = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    while (below < target && x < end) {
      below += step * density(x + step / 2);
      x += step;
    }
    quantiles.push_back(x);
  }
  return quantiles;
}

}  // namespace

SlowEpochs::SlowEpochs(const scenarios::Modulation& modulation)
    : seconds(modulation.correlation_s) {
  if (modulation.shape <= 0) return;
  factor = gamma_quantiles(modulation.shape, kEpochs);
  double mean = 0;
  for (const double value : factor) mean += value / kEpochs;
  for (double& value : factor) value /= mean;
  Rng order = Rng(7).stream("verifier epochs");
  for (std::size_t i = kEpochs - 1; i > 0; --i) {
    std::swap(factor[i], factor[order.below(i + 1)]);
  }
}

SlowQueue::SlowQueue(const SlowPool& pool, const SlowEpochs& epochs) : epochs_(epochs) {
  const std::vector<double> leave = departures(pool);
  full_ = leave.back();
  log_weight_.push_back(0);
  for (const double mu : leave)
    log_weight_.push_back(log_weight_.back() - std::log(mu));
  for (std::size_t i = 0; i <= kRates; ++i) {
    busy_.push_back(
        busy_at(full_ * static_cast<double>(i) / static_cast<double>(kRates)));
  }
}

/// Share of time with every slot taken, at a steady rate: weights rate^k / (mu_1 ...
/// mu_k) and above the last slot a geometric queue.
double SlowQueue::busy_at(double rate) const {
  if (rate <= 0) return 0;
  if (rate >= full_) return 1;
  const double step = std::log(rate);
  double top = log_weight_[0];
  for (std::size_t k = 0; k < log_weight_.size(); ++k) {
    top = std::max(top, log_weight_[k] + step * static_cast<double>(k));
  }
  const std::size_t last = log_weight_.size() - 1;
  double below = 0;
  for (std::size_t k = 0; k < last; ++k) {
    const double weight = log_weight_[k] + step * static_cast<double>(k) - top;
    if (weight > -45) below += std::exp(weight);
  }
  const double weight = log_weight_[last] + step * static_cast<double>(last) - top;
  const double taken = std::exp(weight) / (1 - rate / full_);
  return taken / (taken + below);
}

/// P(wait > budget) at a steady rate.
double SlowQueue::steady_wait(double rate, double budget_s) const {
  if (rate >= full_) return 1;
  const double x = rate / full_ * kRates;
  const auto cell = std::min(static_cast<std::size_t>(x), kRates - 1);
  const double busy =
      busy_[cell] + (x - static_cast<double>(cell)) * (busy_[cell + 1] - busy_[cell]);
  return busy * std::exp(-(full_ - rate) * budget_s);
}

double SlowQueue::mean_wait(double mean_rate, double budget_s) const {
  double backlog = 0;
  const auto pass = [&](double rate) {
    backlog = std::max(0.0, backlog + (rate - full_) * epochs_.seconds);
  };
  // Once round for nothing but the backlog that the first epoch inherits from the last.
  for (const double factor : epochs_.factor) pass(mean_rate * factor);
  double missed = 0;
  for (const double factor : epochs_.factor) {
    const double rate = mean_rate * factor;
    double wait = 1;
    if (rate < full_) {
      // The backlog drains at a constant speed and exceeds the budget until then.
      const double seconds = std::max(0.0, backlog - budget_s * full_) / (full_ - rate);
      const double over = std::min(1.0, seconds / epochs_.seconds);
      wait = over + (1 - over) * steady_wait(rate, budget_s);
    }
    missed += factor * wait;
    pass(rate);
  }
  return missed / static_cast<double>(epochs_.factor.size());
}

double SlowQueue::carried_rate(double budget_s, double wait_share) const {
  double low = 0;
  double high = full_;
  for (int step = 0; step < 14; ++step) {
    const double rate = (low + high) / 2;
    const double wait = epochs_.factor.empty()
                            ? busy_at(rate) * std::exp(-(full_ - rate) * budget_s)
                            : mean_wait(rate, budget_s);
    (wait <= wait_share ? low : high) = rate;
  }
  return low;
}

}  // namespace isochrone::verify
