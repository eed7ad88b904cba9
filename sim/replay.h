#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine.h"
#include "sim/request_log.h"
#include "sim/routing.h"
#include "sim/work.h"

namespace isochrone::sim {

/// The engine of a replay: what the log says, else what the caller's kind has.
PoolKind with_settings(PoolKind kind, const EngineSettings& settings);

/// Lives through a log: every request is offered when it came, to `replicas` replicas.
/// Outcomes in the order of the log, times since its first arrival. A prompt and answer
/// that no replica could hold are cut by fitted().
std::vector<Outcome> replay(const PoolKind& kind, std::int64_t replicas,
                            const std::vector<LoggedRequest>& requests);

/// The same behind a router that knows loads as old as `age_ns`; see RoutedRun.
std::vector<Outcome> replay_routed(const PoolKind& kind, std::int64_t replicas,
                                   Routing routing, std::int64_t age_ns,
                                   std::uint64_t seed,
                                   const std::vector<LoggedRequest>& requests);

/// Mean and quantiles of one latency in ms; quantiles interpolate between ranks.
struct LatencySummary {
  double mean = 0;
  double p50 = 0, p90 = 0, p99 = 0;
};
LatencySummary summarise(std::vector<double> values_ms);

/// One latency, simulated and measured, over the same requests in the same order.
struct LatencyPair {
  std::string name;  ///< TTFT, TPOT, E2E
  std::vector<double> simulated_ms;
  std::vector<double> measured_ms;
};

/// TTFT, TPOT (answers of two and more tokens) and E2E of the requests whose rank by
/// arrival lies in [from, to) shares of the log. `front_end_ms` is added to simulated
/// TTFT and E2E. Measured values are left empty for a trace.
std::vector<LatencyPair> compare(const RequestLog& log,
                                 const std::vector<Outcome>& outcomes,
                                 double front_end_ms, double from, double to);

}  // namespace isochrone::sim
