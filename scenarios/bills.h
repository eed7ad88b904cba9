#pragma once

#include <string>

#include "scenarios/candidates.h"

namespace isochrone::scenarios {

/// The low, mid and high end of an hourly price; equal where nothing is estimated.
struct PriceRange {
  MicroUsdPerHour low;
  MicroUsdPerHour mid;
  MicroUsdPerHour high;
};

/// A price less an assumed discount; the largest discount makes the low end.
PriceRange discounted(MicroUsdPerHour price, const spec::LowMidHigh& discount);

/// What one rented GPU costs per mean month of a horizon of `months`, rounded up to the
/// micro-dollar. on_demand and spot: price x 730 h. reserved_1y: whole years are paid,
/// also past the horizon: price x 730 h x 12 ceil(months / 12) / months.
MicroUsd rental_month(MicroUsdPerHour price, const std::string& term, int months);

/// Notice of `notice_months` of the monthly price after the last month of the horizon,
/// per month of it. A commitment that runs on past the horizon is already paid, so only
/// what exceeds its rest counts; spot and kept capacity have no notice.
MicroUsd notice_month(MicroUsdPerHour price, const std::string& term, int months,
                      double notice_months);

/// Fills price, bill, its parts, its low and high end, notice, extra and arithmetic of
/// an offer to rent.
void fill_rental(Offer& offer, const PriceRange& price, const Scenario& scenario);

/// An offer to build `gpu` in colocation: capex / amortise_months for the months of the
/// horizon that it lasts, averaged over all of them, plus kW x PUE x rent, plus
/// operations. Beside the bill: the unamortised rest at the end of the horizon less
/// what a sale recovers, per month.
Offer built_offer(const spec::BuildGpu& gpu, datasets::GpuId id,
                  const Scenario& scenario);

}  // namespace isochrone::scenarios
