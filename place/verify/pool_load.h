#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "place/verify/facts.h"

namespace isochrone::verify {

/// What comes to a pool in each block: exactly, and with each part rounded up.
struct PoolLoad {
  std::array<Wide, scenarios::kBlocks> scaled{};  // micro-rps times kWholeShare
  std::array<std::int64_t, scenarios::kBlocks> rounded{};
};

/// Of each pool of the plan, by its assignments and the loads of the scenario.
std::vector<PoolLoad> pool_loads(const Facts& facts);

}  // namespace isochrone::verify
