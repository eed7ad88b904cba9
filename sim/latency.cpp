#include "sim/latency.h"

#include <cmath>

#include "geo/jitter.h"

namespace isochrone::sim {

LatencySplit latency_of(const Stream& stream, const Pool& pool, const Outcome& outcome,
                        Rng& rng) {
  const double access_ms = stream.access.quantile_ms(rng.uniform());
  const double jitter_ms = stream.access.none()
                               ? geo::backbone_jitter_quantile_ms(rng.uniform())
                               : geo::jitter_quantile_ms(rng.uniform());
  LatencySplit split;
  split.last_mile = Nanos{std::llround((access_ms + jitter_ms) * 1e6)};
  split.wan = stream.rtt;
  split.connection = (stream.connection_trips - 1) * (split.wan + split.last_mile);
  split.transfer = stream.transfer;
  split.front_end = pool.front_end;
  split.queue = Nanos{outcome.assigned_ns - outcome.arrival_ns};
  split.prefill = Nanos{outcome.first_ns - outcome.assigned_ns};
  split.decode = Nanos{outcome.last_ns - outcome.first_ns};
  return split;
}

std::optional<std::int64_t> metric_of(Objective::Metric metric,
                                      const LatencySplit& latency,
                                      const Outcome& outcome) {
  switch (metric) {
    case Objective::Metric::kTtft:
      return latency.ttft().count();
    case Objective::Metric::kE2e:
      return latency.e2e().count();
    case Objective::Metric::kTpot:
      break;
  }
  if (outcome.answer < 2) return std::nullopt;
  const std::int64_t steps = outcome.answer - 1;
  return (latency.decode.count() + steps - 1) / steps;
}

}  // namespace isochrone::sim
