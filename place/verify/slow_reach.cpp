#include "place/verify/slow_reach.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace isochrone::verify {
namespace {

/// P(trips * access + own <= x). As access grows the own time that is left shrinks, so
/// one pass over both laws meets every pair.
double share_within(const geo::AtomicLaw& access, const GridLaw& own, double trips,
                    double x_ns) {
  double share = 0;
  std::size_t cell = own.value_ns.size();
  for (std::size_t i = 0; i < access.value_ms.size(); ++i) {
    const double left = x_ns - trips * access.value_ms[i] * 1e6;
    while (cell > 0 && static_cast<double>(own.value_ns[cell - 1]) > left) --cell;
    if (cell == 0) break;
    share += access.mass[i] * own.probability[cell - 1];
  }
  return share;
}

}  // namespace

std::int64_t slow_reach_us(const geo::AtomicLaw& access, const GridLaw& own,
                           std::int64_t trips, double left_ns, double needed) {
  const auto times = static_cast<double>(trips);
  if (own.value_ns.empty() || access.value_ms.empty()) return -1;
  double high =
      times * access.value_ms.back() * 1e6 + static_cast<double>(own.value_ns.back());
  if (share_within(access, own, times, high) < needed - 1e-9) return -1;
  double low = -1;
  while (high - low > 100) {
    const double middle = low + (high - low) / 2;
    (share_within(access, own, times, middle) >= needed - 1e-9 ? high : low) = middle;
  }
  const double rtt_ns = (left_ns - high) / times;
  return static_cast<std::int64_t>(std::floor(rtt_ns / 1e3));
}

}  // namespace isochrone::verify
