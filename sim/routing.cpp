#include "sim/routing.h"

#include <algorithm>
#include <stdexcept>

namespace isochrone::sim {

RoutedRun::RoutedRun(const PoolKind& kind, std::int64_t replicas, Routing routing,
                     std::int64_t age_ns, std::uint64_t seed)
    : routing_(routing), age_ns_(age_ns), rng_(Rng(seed).stream("routing")) {
  if (replicas < 1) throw std::invalid_argument("a pool has at least one replica");
  if (age_ns < 0) throw std::invalid_argument("loads are not known ahead of time");
  if (!kind.batching)
    throw std::invalid_argument("only batching replicas are routed to");
  replicas_.assign(static_cast<std::size_t>(replicas), PoolRun(kind, 1));
  known_.assign(replicas_.size(), 0);
}

void RoutedRun::offer(const Request& request) {
  renew_loads(request.arrival_ns);
  PoolRun& replica = replicas_[choose()];
  replica.offer(request);
  collect(replica);
}

void RoutedRun::renew_loads(std::int64_t now_ns) {
  if (routing_ == Routing::kRoundRobin || now_ns < renew_at_ns_) return;
  // The state at the last multiple of the age: everybody lives up to it first.
  const std::int64_t at = age_ns_ == 0 ? now_ns : now_ns - now_ns % age_ns_;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    replicas_[i].run_until(at);
    known_[i] = replicas_[i].in_system();
  }
  renew_at_ns_ = age_ns_ == 0 ? now_ns : at + age_ns_;
}

std::size_t RoutedRun::choose() {
  switch (routing_) {
    case Routing::kRoundRobin:
      return next_++ % replicas_.size();
    case Routing::kPowerOfTwo: {
      const std::size_t one = rng_.below(replicas_.size());
      const std::size_t other = rng_.below(replicas_.size());
      return known_[other] < known_[one] ? other : one;
    }
    case Routing::kLeastLoaded:
      break;
  }
  return static_cast<std::size_t>(std::ranges::min_element(known_) - known_.begin());
}

void RoutedRun::finish() {
  for (PoolRun& replica : replicas_) {
    while (replica.run_next()) {
    }
    collect(replica);
  }
}

void RoutedRun::collect(PoolRun& replica) {
  finished_.insert(finished_.end(), replica.finished().begin(),
                   replica.finished().end());
  replica.finished().clear();
}

}  // namespace isochrone::sim
