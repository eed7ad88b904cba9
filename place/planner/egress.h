#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "datasets/catalog.h"

namespace isochrone::place {

/// One site's part of a provider's traffic in a mean month.
struct SiteTraffic {
  const datasets::EgressPrice* price = nullptr;
  std::int64_t bytes = 0;
};

/// Bill of one provider's egress, by site: the position in the tiers is the provider's
/// whole volume, each site pays the average rate of its own price list at that volume.
/// Rounded down to the micro-dollar, per site.
std::vector<MicroUsd> egress_bill(std::span<const SiteTraffic> sites);

/// Lowest paid rate (micro-dollars per GB = 10^9 bytes) that a volume up to
/// `most_bytes` can reach, 0 if nothing is ever paid.
std::int64_t lowest_paid_rate(const datasets::EgressPrice& price,
                              std::int64_t most_bytes);

/// bytes * lowest paid rate - free_allowance is never above the true bill.
MicroUsd free_allowance(const datasets::EgressPrice& price, std::int64_t most_bytes);

/// bytes at a rate, rounded down.
MicroUsd at_rate(std::int64_t bytes, std::int64_t micro_usd_per_gb);

}  // namespace isochrone::place
