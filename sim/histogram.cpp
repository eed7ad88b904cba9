#include "sim/histogram.h"

#include <algorithm>
#include <numeric>

namespace isochrone::sim {

void Histogram::merge(const Histogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::uint64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::int64_t Histogram::value_of(std::size_t bucket) {
  constexpr std::size_t kSub = std::size_t{1} << kSubBits;
  if (bucket < 2 * kSub) return static_cast<std::int64_t>(bucket);
  const std::size_t shift = bucket / kSub - 1;
  const std::size_t low = (bucket - shift * kSub) << shift;
  return static_cast<std::int64_t>(low + ((std::size_t{1} << shift) >> 1));
}

double smooth_quantile(const Histogram& histogram, double p) {
  const auto& counts = histogram.buckets();
  const double wanted = p * static_cast<double>(histogram.count());
  double below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto here = static_cast<double>(counts[i]);
    if (here > 0 && below + here >= wanted) {
      // Values below 128 stand alone, larger ones fill their bucket about its middle.
      const auto middle = static_cast<double>(Histogram::value_of(i));
      const auto width = static_cast<double>(Histogram::value_of(i + 1)) - middle;
      return width <= 1 ? middle : middle + width * ((wanted - below) / here - 0.5);
    }
    below += here;
  }
  return 0;
}

std::int64_t quantile(const std::vector<WeightedHistogram>& parts, double p) {
  std::vector<double> mass;
  for (const WeightedHistogram& part : parts) {
    const auto& counts = part.histogram->buckets();
    if (counts.size() > mass.size()) mass.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      mass[i] += part.weight * static_cast<double>(counts[i]);
    }
  }
  const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
  if (total == 0) return 0;
  double below = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    below += mass[i];
    if (below >= p * total * (1 - 1e-12)) return Histogram::value_of(i);
  }
  return Histogram::value_of(mass.size() - 1);
}

}  // namespace isochrone::sim
