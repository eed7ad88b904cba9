#pragma once

#include <vector>

#include "sim/engine.h"
#include "sim/work.h"

namespace isochrone::sim {

/// The same pool as PoolRun, simulated the slow way: every replica runs every step by
/// itself, every request is moved token by token, blocks are handed out one by one.
/// Shares no code with it but the types. `requests` is sorted by arrival. Outcomes in
/// the order of their tags.
std::vector<Outcome> reference_outcomes(const PoolKind& kind, std::int64_t replicas,
                                        const std::vector<Request>& requests);

}  // namespace isochrone::sim
