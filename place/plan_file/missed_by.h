#pragma once

#include <span>
#include <string>

#include "place/plan.pb.h"

namespace isochrone::place {

/// "queue 71, prefill 29 %": what misses are charged to, from the shares of network,
/// queue, prefill and decode, the largest first, none below half a per cent. Empty for
/// no shares.
std::string missed_by(std::span<const double> shares);
std::string missed_by(const plan::Cell& cell);

}  // namespace isochrone::place
