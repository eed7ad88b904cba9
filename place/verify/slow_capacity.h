#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/demand.h"

namespace isochrone::verify {

/// What a pool of equal replicas is, for the verifier's own queue model.
struct SlowPool {
  std::vector<double> occupancy;    ///< requests on one replica, ascending
  std::vector<double> residence_s;  ///< mean time in the engine at that occupancy
  std::int64_t slots = 1;           ///< per replica
  std::int64_t replicas = 1;
};

/// A modulated rate as epochs: equally likely quantiles of its Gamma law in an own
/// order. Empty for Poisson. Costs some milliseconds: make it once for many pools.
struct SlowEpochs {
  explicit SlowEpochs(const scenarios::Modulation& modulation);
  std::vector<double> factor;  ///< of mean 1
  double seconds = 0;          ///< each
};

/// The queue of place/MODEL.md by another road: the chain is summed in logarithms and
/// the rate walks through epochs of an own order, so agreement within a few per cent
/// means that the model was followed, not that code was shared.
class SlowQueue {
 public:
  /// `epochs` must outlive the queue.
  SlowQueue(const SlowPool& pool, const SlowEpochs& epochs);

  /// Largest mean rate (requests/s) at which at most `wait_share` of the requests wait
  /// longer than `budget_s`.
  double carried_rate(double budget_s, double wait_share) const;

 private:
  double busy_at(double rate) const;
  double steady_wait(double rate, double budget_s) const;
  double mean_wait(double mean_rate, double budget_s) const;

  const SlowEpochs& epochs_;
  std::vector<double> log_weight_;  // of k requests at a rate of 1, up to the last slot
  std::vector<double> busy_;        // on a grid of rates up to the full one
  double full_ = 0;
};

}  // namespace isochrone::verify
