#include "place/verify/slow_capacity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/rng.h"

namespace isochrone::place {
namespace {

constexpr std::size_t kEpochs = 16384;
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

/// P(wait > budget) at a steady rate: the chain's weights from the empty pool up, in
/// logarithms, then the geometric queue above the last slot.
double steady_wait(const std::vector<double>& leave, double rate, double budget_s) {
  const double full = leave.back();
  if (rate <= 0) return 0;
  if (rate >= full) return 1;
  std::vector<long double> log_weight{0};
  for (const double mu : leave) {
    log_weight.push_back(log_weight.back() +
                         std::log(static_cast<long double>(rate) / mu));
  }
  const long double top = *std::ranges::max_element(log_weight);
  long double below = 0;
  for (std::size_t k = 0; k + 1 < log_weight.size(); ++k) {
    below += std::exp(log_weight[k] - top);
  }
  const long double taken =
      std::exp(log_weight.back() - top) / (1 - static_cast<long double>(rate) / full);
  const auto busy = static_cast<double>(taken / (taken + below));
  return busy * std::exp(-(full - rate) * budget_s);
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

std::vector<double> epoch_factors(double shape) {
  std::vector<double> factors = gamma_quantiles(shape, kEpochs);
  double mean = 0;
  for (const double factor : factors) mean += factor / kEpochs;
  for (double& factor : factors) factor /= mean;
  Rng order = Rng(7).stream("verifier epochs");
  for (std::size_t i = kEpochs - 1; i > 0; --i) {
    std::swap(factors[i], factors[order.below(i + 1)]);
  }
  return factors;
}

class ModulatedWait {
 public:
  ModulatedWait(const std::vector<double>& leave, double budget_s,
                const scenarios::Modulation& modulation)
      : factors_(epoch_factors(modulation.shape)),
        full_(leave.back()),
        budget_s_(budget_s),
        epoch_s_(modulation.correlation_s) {
    for (std::size_t i = 0; i <= kRates; ++i) {
      steady_.push_back(steady_wait(
          leave, full_ * static_cast<double>(i) / static_cast<double>(kRates),
          budget_s));
    }
  }

  double full_rate() const { return full_; }

  double at(double mean_rate) const {
    double backlog = 0;
    double missed = 0;
    // Twice round, so that the first epoch inherits what the last leaves.
    for (int round = 0; round < 2; ++round) {
      missed = 0;
      for (const double factor : factors_) {
        const double rate = mean_rate * factor;
        missed += factor * epoch_wait(rate, backlog);
        backlog = std::max(0.0, backlog + (rate - full_) * epoch_s_);
      }
    }
    return missed / kEpochs;
  }

 private:
  double epoch_wait(double rate, double backlog) const {
    if (rate >= full_) return 1;
    // The backlog drains at a constant speed; it alone exceeds the budget until then.
    const double seconds_over =
        std::max(0.0, backlog - budget_s_ * full_) / (full_ - rate);
    const double over = std::min(1.0, seconds_over / epoch_s_);
    const double x = rate / full_ * kRates;
    const auto cell = std::min(static_cast<std::size_t>(x), kRates - 1);
    const double steady = steady_[cell] + (x - static_cast<double>(cell)) *
                                              (steady_[cell + 1] - steady_[cell]);
    return over + (1 - over) * steady;
  }

  std::vector<double> factors_;
  std::vector<double> steady_;
  double full_;
  double budget_s_;
  double epoch_s_;
};

template <class Wait>
double largest(double full_rate, double wait_share, Wait&& wait) {
  double low = 0;
  double high = full_rate;
  for (int step = 0; step < 14; ++step) {
    const double middle = (low + high) / 2;
    (wait(middle) <= wait_share ? low : high) = middle;
  }
  return low;
}

}  // namespace

double slow_carried_rate(const SlowPool& pool, double budget_s, double wait_share,
                         const scenarios::Modulation& modulation) {
  const std::vector<double> leave = departures(pool);
  if (modulation.shape <= 0) {
    return largest(leave.back(), wait_share,
                   [&](double rate) { return steady_wait(leave, rate, budget_s); });
  }
  const ModulatedWait wait(leave, budget_s, modulation);
  return largest(wait.full_rate(), wait_share,
                 [&](double rate) { return wait.at(rate); });
}

}  // namespace isochrone::place
