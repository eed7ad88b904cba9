#pragma once

#include "base/rng.h"
#include "base/units.h"
#include "sim/deployment.h"
#include "sim/work.h"

namespace isochrone::sim {

/// Where the time of a request goes. Of one request the parts are exact and their sum
/// is its end-to-end time; of a cell they are means.
struct LatencySplit {
  Nanos connection{0};  ///< round trips beyond the first
  Nanos last_mile{0};   ///< access and jitter, one round trip
  Nanos wan{0};
  Nanos transfer{0};
  Nanos front_end{0};
  Nanos queue{0};    ///< until a sequence slot is given
  Nanos prefill{0};  ///< from there to the first token, with interference
  Nanos decode{0};   ///< first token to last

  Nanos ttft() const {
    return connection + last_mile + wan + transfer + front_end + queue + prefill;
  }
  Nanos e2e() const { return ttft() + decode; }
};

/// The parts of one request's latency; draws access time and jitter from `rng`.
LatencySplit latency_of(const Stream& stream, const Pool& pool, const Outcome& outcome,
                        Rng& rng);

/// Value of the metric, in ns; nullopt for TPOT of a one-token answer.
std::optional<std::int64_t> metric_of(Objective::Metric metric,
                                      const LatencySplit& latency,
                                      const Outcome& outcome);

}  // namespace isochrone::sim
