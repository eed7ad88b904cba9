#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "sim/pool.h"

namespace isochrone::sim {

/// How a router deals requests to replicas that each have their own queue.
enum class Routing {
  kLeastLoaded,  ///< fewest waiting and running; the lowest index among equals
  kRoundRobin,
  kPowerOfTwo,  ///< the less loaded of two that are drawn
};

/// Replicas of one kind with a queue each behind a router. What the router knows of
/// loads is renewed at multiples of `age_ns` and does not count what it has sent since;
/// 0 is always current. PoolRun's one queue is what a perfect router would do.
class RoutedRun {
 public:
  /// Throws std::invalid_argument unless `replicas` >= 1, `age_ns` >= 0, check(kind)
  /// passes and the kind has a batching engine.
  RoutedRun(const PoolKind& kind, std::int64_t replicas, Routing routing,
            std::int64_t age_ns, std::uint64_t seed);

  /// A request arrives; times never go back.
  void offer(const Request& request);
  /// Lives until everybody has ended.
  void finish();
  /// Of requests that have ended, by replica and end. The caller clears them.
  std::vector<Outcome>& finished() { return finished_; }

 private:
  void renew_loads(std::int64_t now_ns);
  std::size_t choose();
  void collect(PoolRun& replica);

  std::vector<PoolRun> replicas_;
  std::vector<std::size_t> known_;
  Routing routing_;
  std::int64_t age_ns_;
  std::int64_t renew_at_ns_ = 0;
  Rng rng_;
  std::size_t next_ = 0;
  std::vector<Outcome> finished_;
};

}  // namespace isochrone::sim
