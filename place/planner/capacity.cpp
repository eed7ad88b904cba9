#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "place/planner/tables.h"
#include "place/planner/wait_curve.h"

namespace isochrone::place {
namespace {

__extension__ using Wide = __int128;

constexpr std::size_t kPoints = std::size(kSupport);

std::int64_t narrow(Wide value) { return static_cast<std::int64_t>(value); }

/// Capacity of n replicas from that at kSupport, exactly, in integers: capacity / n
/// must not fall from one support point to the next, is linear in n between two, and
/// stays beyond the last. Rounded down.
MicroRps between_supports(const std::vector<MicroRps>& capacity, std::int64_t n) {
  if (capacity.size() != kPoints) {
    throw std::invalid_argument("a level has one capacity per support point");
  }
  if (n <= 0) return MicroRps::of(0);
  std::array<Wide, kPoints> at{};
  at[0] = capacity[0].count();
  for (std::size_t i = 1; i < kPoints; ++i) {
    const Wide not_fallen = at[i - 1] * kSupport[i] / kSupport[i - 1];
    at[i] = std::max<Wide>(capacity[i].count(), not_fallen);
  }
  if (n >= kSupport[kPoints - 1]) {
    return MicroRps::of(narrow(at[kPoints - 1] * n / kSupport[kPoints - 1]));
  }
  std::size_t low = 0;
  while (kSupport[low + 1] <= n) ++low;
  const Wide n0 = kSupport[low], n1 = kSupport[low + 1];
  const Wide numerator = n * (at[low] * n1 * (n1 - n) + at[low + 1] * n0 * (n - n0));
  return MicroRps::of(narrow(numerator / (n0 * n1 * (n1 - n0))));
}

}  // namespace

MicroRps LevelTable::carries(std::int64_t n) const {
  return between_supports(capacity, n);
}

MicroRps LevelTable::degraded_carries(std::int64_t n) const {
  return between_supports(degraded_capacity, n);
}

MicroRps carried_load(std::span<const double> occupancy,
                      std::span<const double> residence_s, std::int64_t max_num_seqs,
                      std::int64_t n, double budget_s, double wait_share,
                      const scenarios::Modulation& modulation) {
  const WaitCurve curve(occupancy, residence_s, max_num_seqs, n);
  const RateEpochs epochs(modulation);
  const double rate = epochs.poisson()
                          ? largest_rate(curve, budget_s, wait_share)
                          : largest_rate(WaitGrid(curve), epochs, budget_s, wait_share);
  return MicroRps::of(static_cast<std::int64_t>(std::floor(rate * 1e6)));
}

}  // namespace isochrone::place
