#include "place/planner/egress.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isochrone::place {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kBytesPerGb = 1'000'000'000;

std::int64_t rate_of(const datasets::EgressTier& tier) {
  return std::llround(tier.usd_per_gb * 1e6);
}

std::int64_t bytes_of(double gb) {
  return std::llround(gb * static_cast<double>(kBytesPerGb));
}

/// Micro-dollars times 10^9, exact.
Wide scaled_bill(const datasets::EgressPrice& price, std::int64_t bytes) {
  Wide bill = 0;
  for (const datasets::EgressTier& tier : price.tiers) {
    const std::int64_t from = bytes_of(tier.from_gb);
    const std::int64_t to = tier.to_gb ? std::min(bytes, bytes_of(*tier.to_gb)) : bytes;
    if (to > from) bill += static_cast<Wide>(to - from) * rate_of(tier);
  }
  return bill;
}

}  // namespace

MicroUsd at_rate(std::int64_t bytes, std::int64_t micro_usd_per_gb) {
  return MicroUsd::of(static_cast<std::int64_t>(static_cast<Wide>(bytes) *
                                                micro_usd_per_gb / kBytesPerGb));
}

std::vector<MicroUsd> egress_bill(std::span<const SiteTraffic> sites) {
  std::int64_t total = 0;
  for (const SiteTraffic& site : sites) total += site.bytes;
  std::vector<MicroUsd> bills;
  for (const SiteTraffic& site : sites) {
    // total <= 2^63 and the rate below 2^24: the product of the scaled bill and a
    // share of the bytes would overflow, so the share is taken of whole micro-dollars.
    const Wide bill = scaled_bill(*site.price, total) / kBytesPerGb;
    const Wide part = total > 0 ? bill * site.bytes / total : 0;
    bills.push_back(MicroUsd::of(static_cast<std::int64_t>(part)));
  }
  return bills;
}

std::int64_t lowest_paid_rate(const datasets::EgressPrice& price,
                              std::int64_t most_bytes) {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  for (const datasets::EgressTier& tier : price.tiers) {
    if (rate_of(tier) > 0 && bytes_of(tier.from_gb) < most_bytes) {
      lowest = std::min(lowest, rate_of(tier));
    }
  }
  return lowest == std::numeric_limits<std::int64_t>::max() ? 0 : lowest;
}

MicroUsd free_allowance(const datasets::EgressPrice& price, std::int64_t most_bytes) {
  const std::int64_t rate = lowest_paid_rate(price, most_bytes);
  std::int64_t free_bytes = 0;
  for (const datasets::EgressTier& tier : price.tiers) {
    if (rate_of(tier) > 0) continue;
    const std::int64_t to =
        tier.to_gb ? std::min(most_bytes, bytes_of(*tier.to_gb)) : most_bytes;
    free_bytes += std::max<std::int64_t>(0, to - bytes_of(tier.from_gb));
  }
  // One micro-dollar more for what rounding down may lose.
  return at_rate(free_bytes, rate) + MicroUsd::of(1);
}

}  // namespace isochrone::place
