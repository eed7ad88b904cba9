#include "sim/autoscaler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace isochrone::sim {
namespace {

constexpr double kTolerance = 0.1;  // of the autoscaler of Kubernetes
constexpr double kFastest = 2;      // growth at one look

}  // namespace

Scaler::Scaler(const Autoscaler& rule) : rule_(rule) {
  if (rule.least < 0 || rule.most < std::max<std::int64_t>(rule.least, 1)) {
    throw std::invalid_argument("an autoscaler keeps 0 <= least <= most replicas");
  }
  if (rule.interval.count() <= 0 || rule.calm.count() < 0) {
    throw std::invalid_argument("an autoscaler looks at positive intervals");
  }
  if (rule.by != Autoscaler::By::kNothing && !(rule.target > 0)) {
    throw std::invalid_argument("an autoscaler needs a positive target");
  }
}

std::int64_t Scaler::asked(const Seen& seen) const {
  const auto up = static_cast<double>(std::max<std::size_t>(seen.up, 1));
  const auto whole = [](double replicas) {
    return static_cast<std::int64_t>(std::ceil(replicas - 1e-9));
  };
  switch (rule_.by) {
    case Autoscaler::By::kNothing:
      return rule_.least;
    case Autoscaler::By::kRps:
      return whole(seen.rps / rule_.target);
    case Autoscaler::By::kConcurrency:
      return whole(static_cast<double>(seen.in_system) / rule_.target);
    case Autoscaler::By::kTtft:
      break;
  }
  if (seen.ttft_p95_s <= 0) return seen.in_system > 0 ? whole(up) : rule_.least;
  const double ratio = seen.ttft_p95_s / rule_.target;
  if (std::abs(ratio - 1) <= kTolerance) return whole(up);
  return whole(up * std::min(ratio, kFastest));
}

std::int64_t Scaler::look(const Seen& seen, std::int64_t now_ns) {
  // Who waits at nothing must not wait for ever.
  const std::int64_t fewest = std::max<std::int64_t>(rule_.least, seen.in_system > 0);
  const std::int64_t now = std::clamp(asked(seen), fewest, rule_.most);
  while (!lately_.empty() && lately_.front().first < now_ns - rule_.calm.count()) {
    lately_.pop_front();
  }
  // Falling from the back: the front is the most that was asked for lately.
  while (!lately_.empty() && lately_.back().second <= now) lately_.pop_back();
  lately_.emplace_back(now_ns, now);
  return lately_.front().second;
}

}  // namespace isochrone::sim
