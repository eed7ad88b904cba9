#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "sim/engine.h"

namespace isochrone::sim {

/// What one request asks of a replica.
struct Work {
  std::int64_t prompt = 1;      ///< tokens
  std::int64_t answer = 1;      ///< tokens
  std::int64_t service_ns = 1;  ///< service view only
  /// Prompt tokens found in the prefix cache; negative: the hit share of the pool.
  std::int64_t cached = -1;
  /// These came from another replica and are gone after a preemption.
  bool handed_over = false;
};

/// A request on its way through a pool. `tag` is the caller's.
struct Request {
  std::uint64_t tag = 0;
  std::int64_t arrival_ns = 0;
  Work work;
};

/// When a request passed the stations of its life, arrival <= assigned <= first <=
/// last.
struct Outcome {
  std::uint64_t tag = 0;
  std::int64_t arrival_ns = 0;
  std::int64_t assigned_ns = 0;  ///< given a sequence slot; before it lies the queue
  std::int64_t first_ns = 0;     ///< first token
  std::int64_t last_ns = 0;      ///< last token
  std::int64_t answer = 1;
  bool preempted = false;
};

/// Tokens of prompt and answer together that one request can have: what the KV of a
/// replica holds; slots hold 2^40.
std::int64_t token_limit(const PoolKind& kind);

/// A request cut to what a replica could hold, as engines refuse or truncate it.
Work fitted(std::int64_t prompt, std::int64_t answer, std::int64_t token_limit);

/// Draws requests of a pool kind: prompt, then answer, fitted() to it; or the service
/// time.
class WorkSampler {
 public:
  explicit WorkSampler(const PoolKind& kind);

  Work draw(Rng& rng) const;
  /// The request at two quantiles in (0, 1): of prompt and answer, or of the service
  /// time and unused.
  Work at(double first, double second) const;
  /// What is left of a request that is met in the middle of its life: a length drawn in
  /// proportion to itself, of which a uniform part is still to come, the prompt read.
  Work draw_residual(Rng& rng) const;

 private:
  const PoolKind* kind_;
  bool service_;
  std::int64_t token_limit_;                 // prompt + answer
  std::vector<std::int64_t> length_before_;  // running sum over the cells of the law
};

}  // namespace isochrone::sim
