#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "geo/network.h"

namespace isochrone::geo {

/// What cuts take from a strait that others still pass: on the shortest path a parallel
/// cable hides such a cut, but its traffic must fit on the cables that are left.
struct CorridorLoss {
  std::string corridor;   ///< chokepoint/NAME, as a cut would name it
  double lost_share = 0;  ///< of the estimated capacity, 0 .. 1
  std::size_t left = 0;   ///< cable systems and land links that still pass

  /// More is gone than was held in reserve.
  bool exceeds(double reserve_pct) const { return 100 * lost_share > reserve_pct; }
};

/// Chokepoints of which the cuts take some systems and leave some, by name. A cable
/// counts once in each, with its largest class there, and is lost where any of its
/// links there is cut. Capacities are nominal values of four estimated classes: good
/// for "a tenth or a half", not for arithmetic. Throws std::invalid_argument for an
/// unknown cut.
std::vector<CorridorLoss> corridor_losses(const NetworkTables& tables,
                                          std::span<const std::string> cuts);

/// The cuts, and `chokepoint/NAME` for every corridor that they take more of than its
/// reserve: what then does not fit must go the next way, and who plans for everybody
/// counts that way for all. A corridor that is full fills no other. Throws like
/// corridor_losses().
std::vector<std::string> with_full_corridors(const NetworkTables& tables,
                                             std::span<const std::string> cuts,
                                             double reserve_pct);

}  // namespace isochrone::geo
