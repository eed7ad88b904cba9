// The load that a pool carries is found in two scales of time.
//
// Seconds: requests come at a steady rate and fill slots. With k requests in the pool,
// spread evenly, each replica holds k/n and a request stays S(k/n), so k / S(k/n) of
// them leave per second. A replica is faster when emptier; an Erlang formula with one
// service time would miss that. The chain's steady state gives the chance that an
// arrival finds all n * B slots taken (Poisson arrivals see time averages), and above
// that the queue is geometric: P(wait > t) = P(all taken) * exp(-(mu - lambda) t).
//
// Minutes: the rate itself moves. It is cut into epochs of the correlation time, each
// with its own rate. An epoch above the pool's full rate leaves a backlog behind, which
// later epochs work off at the difference of the rates; while the backlog alone means a
// wait beyond the budget, every arrival misses.
//
// The order of the epochs is one fixed shuffle of the quantiles: the marginal law is
// exact and runs of high epochs come as often as chance makes them.
#include "place/planner/wait_curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <boost/math/special_functions/gamma.hpp>

#include "base/rng.h"

namespace isochrone::place {
namespace {

constexpr std::size_t kEpochs = 4096;
constexpr std::size_t kGridCells = 128;
constexpr double kNever = -1e4;  // logarithm of a probability that is zero
constexpr double kPrecision = 1e-3;

double interpolate(std::span<const double> at, std::span<const double> value,
                   double x) {
  if (x <= at.front()) return value.front();
  if (x >= at.back()) return value.back();
  const auto high =
      static_cast<std::size_t>(std::ranges::upper_bound(at, x) - at.begin());
  const double share = (x - at[high - 1]) / (at[high] - at[high - 1]);
  return value[high - 1] + share * (value[high] - value[high - 1]);
}

/// Part of [0, duration] in which a backlog that starts at `backlog` and changes by
/// `drift` per second exceeds `limit`.
double share_above(double backlog, double drift, double limit, double duration) {
  const double end = backlog + drift * duration;
  if (backlog <= limit && end <= limit) return 0;
  if (backlog > limit && end > limit) return 1;
  const double crossing = (limit - backlog) / (drift * duration);
  return backlog > limit ? crossing : 1 - crossing;
}

/// Largest rate in (0, full_rate) whose share is at most `target`, to kPrecision from
/// below. Each probe stands where the logarithm of the share, taken as linear between
/// the ends of the bracket, crosses, moved a little towards the end that moved last, so
/// that both ends close in.
template <class Share>
double crossing(double full_rate, double target, Share&& share_at) {
  double low = 0, high = full_rate;
  double log_low = kNever, log_high = -std::log(target);
  bool low_moved = false;
  for (int i = 0; high - low > kPrecision * low && high > 1e-9 * full_rate; ++i) {
    double part = -log_low / (log_high - log_low);
    // A bracket that is still wide, or that closes slowly, is halved.
    if (i % 4 == 3 || log_low < -20) part = 0.5;
    const double nudge = 0.3 * kPrecision * low;
    double rate = low + part * (high - low) + (low_moved ? nudge : -nudge);
    if (rate <= low || rate >= high) rate = (low + high) / 2;
    const double log_share = std::log(std::max(share_at(rate), 1e-300) / target);
    low_moved = log_share <= 0;
    (low_moved ? low : high) = rate;
    (low_moved ? log_low : log_high) = log_share;
  }
  return low;
}

}  // namespace

WaitCurve::WaitCurve(std::span<const double> occupancy,
                     std::span<const double> residence_s, std::int64_t max_num_seqs,
                     std::int64_t n) {
  if (occupancy.empty() || occupancy.size() != residence_s.size()) {
    throw std::invalid_argument("occupancy and residence must be of one size, not 0");
  }
  if (max_num_seqs < 1 || n < 1) {
    throw std::invalid_argument("a pool has at least one replica and one slot");
  }
  if (std::ranges::min(residence_s) <= 0 || !std::ranges::is_sorted(occupancy)) {
    throw std::invalid_argument("residence must be positive and occupancy ascend");
  }
  const auto replicas = static_cast<double>(n);
  departure_rate_.resize(static_cast<std::size_t>(max_num_seqs * n));
  for (std::size_t i = 0; i < departure_rate_.size(); ++i) {
    const auto requests = static_cast<double>(i + 1);
    departure_rate_[i] =
        requests / interpolate(occupancy, residence_s, requests / replicas);
  }
  full_rate_ = departure_rate_.back();
}

double WaitCurve::all_busy(double rate) const {
  if (rate <= 0) return 0;
  if (rate >= full_rate_) return 1;
  // Weights relative to that of "all slots taken, none waiting", walking down.
  const double taken = 1 / (1 - rate / full_rate_);
  double weight = 1, below = 0;
  for (std::size_t k = departure_rate_.size(); k-- > 0;) {
    weight *= departure_rate_[k] / rate;
    below += weight;
    if (weight < 1e-17 * below || below > 1e30 * taken) break;
  }
  return taken / (taken + below);
}

double WaitCurve::wait_share(double rate, double budget_s) const {
  if (rate >= full_rate_) return 1;
  return all_busy(rate) * std::exp(-(full_rate_ - rate) * budget_s);
}

WaitGrid::WaitGrid(const WaitCurve& curve) : full_rate_(curve.full_rate()) {
  log_busy_.resize(kGridCells + 1);
  for (std::size_t i = 0; i <= kGridCells; ++i) {
    const double y = static_cast<double>(i) / kGridCells;
    const double busy = curve.all_busy(full_rate_ * (1 - y * y));
    log_busy_[i] = busy > 0 ? std::max(kNever, std::log(busy)) : kNever;
    if (busy < 1e-9) idle_rate_ = std::max(idle_rate_, full_rate_ * (1 - y * y));
  }
}

double WaitGrid::wait_share(double rate, double budget_s) const {
  if (rate >= full_rate_) return 1;
  const double x =
      std::sqrt(1 - std::max(0.0, rate) / full_rate_) * static_cast<double>(kGridCells);
  const auto cell = std::min(static_cast<std::size_t>(x), kGridCells - 1);
  const double share = x - static_cast<double>(cell);
  const double log_busy =
      log_busy_[cell] + share * (log_busy_[cell + 1] - log_busy_[cell]);
  return std::exp(log_busy - (full_rate_ - rate) * budget_s);
}

RateEpochs::RateEpochs(const scenarios::Modulation& modulation)
    : duration_s_(modulation.correlation_s) {
  if (modulation.shape <= 0) return;
  factor_.resize(kEpochs);
  for (std::size_t i = 0; i < kEpochs; ++i) {
    const double quantile = (static_cast<double>(i) + 0.5) / kEpochs;
    factor_[i] = boost::math::gamma_p_inv(modulation.shape, quantile);
  }
  const double sum = std::accumulate(factor_.begin(), factor_.end(), 0.0);
  for (double& factor : factor_) factor *= static_cast<double>(kEpochs) / sum;
  Rng order(20240229);
  for (std::size_t i = kEpochs - 1; i > 0; --i) {
    std::swap(factor_[i], factor_[order.below(i + 1)]);
  }
}

double RateEpochs::wait_share(const WaitGrid& grid, double mean_rate,
                              double budget_s) const {
  if (poisson()) return grid.wait_share(mean_rate, budget_s);
  if (mean_rate >= grid.full_rate()) return 1;
  const double full_rate = grid.full_rate();
  const double limit = budget_s * full_rate;
  // The first round only finds the backlog that the last epochs leave to the first.
  double backlog = 0;
  for (const double factor : factor_) {
    backlog = std::max(0.0, backlog + (mean_rate * factor - full_rate) * duration_s_);
  }
  double missed = 0;
  for (const double factor : factor_) {
    const double rate = mean_rate * factor;
    const double drift = rate - full_rate;
    if (drift >= 0) {
      missed += factor;
    } else if (backlog > 0 || rate > grid.idle_rate()) {
      const double over =
          backlog > 0 ? share_above(backlog, drift, limit, duration_s_) : 0;
      missed += factor * (over + (1 - over) * grid.wait_share(rate, budget_s));
    }
    backlog = std::max(0.0, backlog + drift * duration_s_);
  }
  return missed / static_cast<double>(factor_.size());
}

double largest_rate(const WaitCurve& curve, double budget_s, double share) {
  return crossing(curve.full_rate(), share,
                  [&](double rate) { return curve.wait_share(rate, budget_s); });
}

double largest_rate(const WaitGrid& grid, const RateEpochs& epochs, double budget_s,
                    double share) {
  return crossing(grid.full_rate(), share,
                  [&](double rate) { return epochs.wait_share(grid, rate, budget_s); });
}

}  // namespace isochrone::place
