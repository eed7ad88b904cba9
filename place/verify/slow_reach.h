#pragma once

#include <cstdint>
#include <span>

#include "geo/last_mile.h"

namespace isochrone::verify {

/// Law of a level's own time as the plan gives it: `value_ns[i]` at probability
/// `probability[i]`, both ascending; rounded up between the points.
struct GridLaw {
  std::span<const double> probability;
  std::span<const std::int64_t> value_ns;
};

/// Longest WAN round trip (us) at which
///   P(trips * (rtt + access) + own time <= left) >= needed,
/// negative if there is none. By the quantile of trips * access + own time: every pair
/// of atoms is summed for every value that is tried.
std::int64_t slow_reach_us(const geo::AtomicLaw& access, const GridLaw& own,
                           std::int64_t trips, double left_ns, double needed);

}  // namespace isochrone::verify
