#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "place/plan.pb.h"

namespace isochrone::place {

/// What changed from one plan to another. Changes are `after` less `before`.
struct PlanDifference {
  bool same = true;           ///< the plans are equal, byte for byte
  bool same_question = true;  ///< scenario, data and release are equal
  int sites_opened = 0;
  int sites_closed = 0;
  int pools_changed = 0;  ///< appeared, gone, or with another size or setting
  std::int64_t gpus = 0;
  std::int64_t bill_usd_micro = 0;
  std::int64_t objective_usd_micro = 0;
  /// Where the difference of the two true optima must lie, from both gaps:
  /// [bound after - objective before, objective after - bound before].
  std::int64_t optimum_low_usd_micro = 0;
  std::int64_t optimum_high_usd_micro = 0;
  bool noise = false;      ///< that interval holds 0: the change is inside the gaps
  double moved_share = 0;  ///< of the traffic (load x share) that changed its site
  int cells_worse = 0;     ///< cells that were met and no longer are
  std::string text;        ///< for a terminal; ends with a line feed
};

/// Compares two plans, of any two scenarios.
PlanDifference diff_plans(const plan::Plan& before, const plan::Plan& after);

}  // namespace isochrone::place
