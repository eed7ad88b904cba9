#pragma once

#include <compare>
#include <cstdint>

namespace isochrone::sim {

__extension__ using Wide = __int128;  ///< sums of step times in picoseconds

/// A point of simulated time, exact to the picosecond: `ns` since the start of a run
/// and 0 <= ps < 1000 beyond it. Step times add up without rounding, so that it does
/// not matter how a span of steps is cut; what is reported is `ns`.
struct Instant {
  std::int64_t ns = 0;
  std::int64_t ps = 0;

  constexpr auto operator<=>(const Instant&) const = default;

  /// `span_ps` >= 0.
  Instant after(Wide span_ps) const {
    const Wide total = span_ps + ps;
    return {ns + static_cast<std::int64_t>(total / 1000),
            static_cast<std::int64_t>(total % 1000)};
  }
};

}  // namespace isochrone::sim
