#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine.h"
#include "sim/work.h"

namespace isochrone::sim {

/// Prefill and decode on replicas of their own: the first emit first tokens, then the
/// KV of the prompt moves to the others, which make the rest of the answer.
struct Disaggregation {
  std::int64_t prefill_replicas = 1;
  std::int64_t decode_replicas = 1;
  Nanos transfer_start{0};  ///< of each transfer
  std::int64_t transfer_ps_per_token =
      0;  ///< of the prompt; transfers do not share a link
};

/// Lives through `requests`, sorted by arrival, until all have ended; each fitted() to
/// a replica. Outcomes by request: assigned by a prefill replica, first token from
/// there, last from a decode replica. A request whose decode replica preempts it is
/// computed there again, prompt and all. Each stage is a PoolRun, so the whole is as
/// exact. The step in which a decode replica takes a request in has a prefill of one
/// token. Throws std::invalid_argument unless the kind batches, check(kind) passes and
/// both stages have a replica.
std::vector<Outcome> live_disaggregated(const PoolKind& kind,
                                        const Disaggregation& split,
                                        const std::vector<Request>& requests);

}  // namespace isochrone::sim
