#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/deployment.h"
#include "sim/latency.h"
#include "sim/work.h"

namespace isochrone::sim {

/// What a missed request is charged to, in the order of its life.
enum class Culprit : std::uint8_t { kNetwork, kQueue, kPrefill, kDecode };
inline constexpr std::size_t kCulprits = 4;

/// What the engine needs for a request that it has to itself, from an idle start.
struct AloneTimes {
  Nanos prefill{0};
  Nanos decode{0};
};

/// Of the work on one replica of the kind; a pure function of the step times. Slots
/// have no company inside, so there it is what every request takes.
AloneTimes alone(const PoolKind& kind, const Work& work);

/// The part of a late request that took the most beyond what the same request would
/// take alone, over a path with median last mile; the earlier among equals. Where even
/// that life would be late, its longest part. Network is all that lies outside the
/// pool, the front end included. Only parts that the metric contains are charged.
Culprit culprit_of(const Objective& objective, const Stream& stream, const Pool& pool,
                   const Work& work, const LatencySplit& latency);

/// The same for a request that was given up and ended later; its network is not known.
Culprit culprit_of_unfinished(const PoolKind& kind, const Work& work,
                              const Outcome& outcome);

}  // namespace isochrone::sim
