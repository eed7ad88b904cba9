#pragma once

#include <cstdint>

#include "sim/engine.h"

namespace isochrone::sim {

/// A closed-loop load test as generators run it: `in_flight` clients send at once, each
/// sends again when its answer is complete, until ten requests per client have been
/// answered; all count. Outputs are spread by 10 % around their mean, because equal
/// ones would march in step for ever, which no real test shows.
struct LoadTest {
  std::int64_t input = 1;
  std::int64_t output = 2;
  std::int64_t in_flight = 1;
};

struct LoadTestResult {
  double ttft_ms = 0;  ///< mean
  double tpot_ms = 0;  ///< mean of (last - first) / (n - 1)
};

/// On one replica. `front_end_ms` lies between the sending of a request and its coming
/// to the engine. Deterministic.
LoadTestResult run_load_test(const PoolKind& kind, const LoadTest& test,
                             double front_end_ms);

}  // namespace isochrone::sim
