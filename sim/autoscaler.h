#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <utility>

#include "base/units.h"

namespace isochrone::sim {

/// How the number of replicas follows what is seen, in the manner of the horizontal
/// autoscaler of Kubernetes: looked at every `interval`; more at once, fewer only when
/// nothing asked for more during `calm`.
struct Autoscaler {
  enum class By : std::uint8_t {
    kNothing,      ///< `least` at all times; what is lost is ordered again
    kRps,          ///< requests per second and replica
    kConcurrency,  ///< requests waiting and running, per replica
    kTtft          ///< queue and prefill, p95 of those that ended, in seconds
  };
  By by = By::kNothing;
  double target = 0;
  std::int64_t least = 1;
  std::int64_t most = 1;
  Nanos interval = std::chrono::seconds{15};
  Nanos calm = std::chrono::seconds{300};
};

/// What an autoscaler sees at a look.
struct Seen {
  double rps = 0;  ///< arrivals since the last look
  std::size_t in_system = 0;
  std::size_t up = 0;
  double ttft_p95_s = 0;  ///< 0: nobody ended since the last look
};

class Scaler {
 public:
  /// Throws std::invalid_argument unless 0 <= least <= most, the interval is positive
  /// and there is a target to follow.
  explicit Scaler(const Autoscaler& rule);

  /// Replicas that should be there.
  std::int64_t look(const Seen& seen, std::int64_t now_ns);

 private:
  std::int64_t asked(const Seen& seen) const;

  Autoscaler rule_;
  std::deque<std::pair<std::int64_t, std::int64_t>> lately_;  // time, asked
};

}  // namespace isochrone::sim
