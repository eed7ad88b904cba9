#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/demand.h"

namespace isochrone::place {

/// How long requests wait for a sequence slot in a pool of n replicas under Poisson
/// arrivals: a birth-death chain whose departure rate k / S(k/n) follows the mean
/// residence S at the occupancy per replica.
class WaitCurve {
 public:
  /// `occupancy` ascends; residence is interpolated linearly in it and held beyond both
  /// ends. Throws std::invalid_argument for empty or unequal tables, residences that
  /// are not positive, or counts below 1.
  WaitCurve(std::span<const double> occupancy, std::span<const double> residence_s,
            std::int64_t max_num_seqs, std::int64_t n);

  /// Departures per second with every slot taken: the edge of stability.
  double full_rate() const { return full_rate_; }

  /// Share of arrivals that find every slot taken; 1 from full_rate() on. O(n * B).
  double all_busy(double rate) const;

  /// P(wait > budget) of an arrival: all_busy, and then an exponential of rate
  /// full_rate - rate.
  double wait_share(double rate, double budget_s) const;

 private:
  std::vector<double> departure_rate_;  // of k = 1 .. n * B requests in the pool
  double full_rate_ = 0;
};

/// all_busy() of a curve on a grid that is finest near full_rate(), for the many
/// evaluations that a modulated stream needs: O(1), logarithm interpolated.
class WaitGrid {
 public:
  explicit WaitGrid(const WaitCurve& curve);

  double full_rate() const { return full_rate_; }
  /// Below this rate hardly any request (1e-9) finds every slot taken.
  double idle_rate() const { return idle_rate_; }
  double wait_share(double rate, double budget_s) const;

 private:
  double full_rate_;
  double idle_rate_ = 0;
  std::vector<double> log_busy_;  // at rate = full_rate * (1 - (i / cells)^2)
};

/// A modulated rate as a fixed sequence of epochs: equally likely quantiles of the
/// Gamma law, of mean 1, in a fixed shuffled order.
class RateEpochs {
 public:
  explicit RateEpochs(const scenarios::Modulation& modulation);

  bool poisson() const { return factor_.empty(); }

  /// Share of the requests that wait longer than the budget at this mean rate. Inside
  /// an epoch waits are those of the steady state at its rate; where the rate exceeds
  /// what the pool can do, everybody misses, and the backlog it leaves is worked off as
  /// a fluid in the epochs that follow.
  double wait_share(const WaitGrid& grid, double mean_rate, double budget_s) const;

 private:
  std::vector<double> factor_;
  double duration_s_ = 0;
};

/// Largest mean rate whose wait_share is at most `share`, to 0.1 %, from below.
double largest_rate(const WaitCurve& curve, double budget_s, double share);
double largest_rate(const WaitGrid& grid, const RateEpochs& epochs, double budget_s,
                    double share);

}  // namespace isochrone::place
