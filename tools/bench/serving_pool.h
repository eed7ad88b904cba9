#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "sim/histogram.h"
#include "sim/pool.h"
#include "tests/sim/serving_kind.h"

namespace isochrone::bench {

/// Requests a second of one replica of serving_kind() at which it is busy but keeps up
/// (it saturates at about 13).
inline constexpr double kRequestsPerReplica = 10;

/// A pool under Poisson arrivals, with every statistic that a unit keeps: histograms of
/// TTFT, TPOT and E2E, and the counts of answers and preemptions.
class ServingPool {
 public:
  ServingPool(std::int64_t replicas, std::uint64_t seed)
      : kind_(sim::serving_kind()),
        sampler_(kind_),
        pool_(kind_, replicas),
        rng_(Rng(seed).stream("bench")),
        gap_ns_(1e9 / (kRequestsPerReplica * static_cast<double>(replicas))) {}

  void run(std::uint64_t requests) {
    for (std::uint64_t i = 0; i < requests; ++i) {
      now_ns_ += gap_ns_ * rng_.exponential();
      pool_.offer({i, static_cast<std::int64_t>(now_ns_), sampler_.draw(rng_)});
      if (pool_.finished().size() >= 64) count();
    }
  }
  void finish() {
    while (pool_.run_next()) {
    }
    count();
  }

  const sim::Histogram& ttft_us() const { return ttft_; }
  const sim::Histogram& tpot_us() const { return tpot_; }
  const sim::Histogram& e2e_us() const { return e2e_; }
  std::uint64_t tokens() const { return tokens_; }

 private:
  void count() {
    for (const sim::Outcome& outcome : pool_.finished()) {
      const std::int64_t steps = std::max<std::int64_t>(1, outcome.answer - 1);
      ttft_.add((outcome.first_ns - outcome.arrival_ns) / 1000);
      e2e_.add((outcome.last_ns - outcome.arrival_ns) / 1000);
      tpot_.add((outcome.last_ns - outcome.first_ns) / 1000 / steps);
      tokens_ += static_cast<std::uint64_t>(outcome.answer);
    }
    pool_.finished().clear();
  }

  sim::PoolKind kind_;
  sim::WorkSampler sampler_;
  sim::PoolRun pool_;
  Rng rng_;
  double gap_ns_;
  double now_ns_ = 0;
  sim::Histogram ttft_, tpot_, e2e_;
  std::uint64_t tokens_ = 0;
};

}  // namespace isochrone::bench
