#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/demand.h"

namespace isochrone::place {

/// What a pool of equal replicas is, for the verifier's own queue model.
struct SlowPool {
  std::vector<double> occupancy;    ///< requests on one replica, ascending
  std::vector<double> residence_s;  ///< mean time in the engine at that occupancy
  std::int64_t slots = 1;           ///< per replica
  std::int64_t replicas = 1;
};

/// Largest mean rate (requests/s) at which at most `wait_share` of the requests wait
/// longer than `budget_s`: the model of place/MODEL.md by another road. The chain is
/// summed in logarithms from its top down and the modulated rate walks through epochs
/// of an own low-discrepancy order, so agreement within a few per cent means the model
/// was followed, not that code was shared.
double slow_carried_rate(const SlowPool& pool, double budget_s, double wait_share,
                         const scenarios::Modulation& modulation);

}  // namespace isochrone::place
