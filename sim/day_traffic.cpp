#include "sim/day_traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isochrone::sim {
namespace {

constexpr std::int64_t kHour_ns = 3'600'000'000'000;

}  // namespace

DayTraffic::DayTraffic(const Deployment& deployment, PoolId pool,
                       std::size_t first_block, double factor, const Rng& rng)
    : deployment_(deployment),
      tables_(deployment.modulation),
      first_block_(first_block),
      factor_(factor),
      arrivals_(rng.stream("arrivals")),
      epochs_(rng.stream("epochs")) {
  for (std::size_t s = 0; s < deployment.streams.size(); ++s) {
    const Stream& stream = deployment.streams[s];
    if (stream.pool != pool) continue;
    std::size_t g = 0;
    while (g < groups_.size() &&
           (groups_[g].entry != stream.entry || groups_[g].region != stream.region)) {
      ++g;
    }
    if (g == groups_.size()) {
      Group group{stream.entry, stream.region, nullptr, 0};
      const scenarios::Modulation& modulation = deployment.modulation[stream.entry];
      if (modulation.shape > 0) {
        group.multipliers = &tables_.of(modulation.shape);
        group.epoch_ns = std::llround(modulation.correlation_s * 1e9);
      }
      groups_.push_back(group);
    }
    silent_ =
        silent_ && (factor <= 0 || std::ranges::all_of(stream.load, [](MicroRps l) {
                      return l.count() <= 0;
                    }));
    streams_.push_back(s);
    group_of_.push_back(g);
  }
  renew();
}

std::size_t DayTraffic::block_at(std::int64_t ns) const {
  return (first_block_ + static_cast<std::size_t>(ns / kHour_ns)) % scenarios::kBlocks;
}

double DayTraffic::multiplier(std::size_t g) const {
  const Group& group = groups_[g];
  if (group.multipliers == nullptr) return 1;
  const auto epoch =
      static_cast<std::uint64_t>(now_ns_) / static_cast<std::uint64_t>(group.epoch_ns);
  Rng rng = epochs_.stream("group", g).stream("epoch", epoch);
  return (*group.multipliers)[rng.below(group.multipliers->size())];
}

/// Rates from now to the next hour or the next epoch of a group.
void DayTraffic::renew() {
  const auto next_multiple = [&](std::int64_t period) {
    const auto now = static_cast<std::int64_t>(now_ns_);
    return static_cast<double>((now / period + 1) * period);
  };
  edge_ns_ = next_multiple(kHour_ns);
  std::vector<double> multipliers;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    multipliers.push_back(multiplier(g));
    if (groups_[g].multipliers != nullptr) {
      edge_ns_ = std::min(edge_ns_, next_multiple(groups_[g].epoch_ns));
    }
  }
  const std::size_t block = block_at(static_cast<std::int64_t>(now_ns_));
  up_to_.clear();
  double sum = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const MicroRps load = deployment_.streams[streams_[i]].load[block];
    up_to_.push_back(sum += factor_ * to_rps(load) * multipliers[group_of_[i]]);
  }
}

DayTraffic::Arrival DayTraffic::next() {
  if (silent_) return {std::numeric_limits<std::int64_t>::max(), 0};
  while (true) {
    const double rate = up_to_.back();
    const double gap = rate > 0 ? arrivals_.exponential() / rate * 1e9 : 1e18;
    if (now_ns_ + gap < edge_ns_) {
      now_ns_ += gap;
      const auto found =
          std::upper_bound(up_to_.begin(), up_to_.end(), arrivals_.uniform() * rate);
      const auto index = std::min(static_cast<std::size_t>(found - up_to_.begin()),
                                  streams_.size() - 1);
      return {std::llround(now_ns_), streams_[index]};
    }
    now_ns_ = edge_ns_;
    renew();
  }
}

}  // namespace isochrone::sim
