#pragma once

#include <cstddef>
#include <vector>

#include "sim/engine.h"
#include "sim/request_log.h"

namespace isochrone::sim {

/// An engine with a front end, as a replay needs it.
struct ReplayedEngine {
  PoolKind kind;
  double front_end_ms = 0;
};

/// What of an engine may change while it is fitted; step times always may.
struct Freedom {
  bool kv_blocks = false;
  bool chunk_tokens = false;  ///< among powers of two, 512 .. 16,384
  bool front_end = false;
};

/// How far a replay is from a log over the requests whose rank by arrival lies in
/// [from, to): squared logarithms of the ratios of mean, p50, p90 and p99 of TTFT, TPOT
/// and E2E, and of the E2E of single requests. 0 is equality; 1e-4 is about 1 %.
double distance(const RequestLog& log, const ReplayedEngine& engine, double from,
                double to);

/// Fits an engine to a share of a measured log by compass search in the simulator, from
/// the nearest few of `starts`. What the log does not tell stays near its start. Takes
/// about 20 million simulated requests. Deterministic.
ReplayedEngine calibrate(const RequestLog& log, std::vector<ReplayedEngine> starts,
                         Freedom freedom, double from, double to);

}  // namespace isochrone::sim
