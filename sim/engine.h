#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "datasets/catalog.h"
#include "sim/law.h"

namespace isochrone::sim {

/// A continuous-batching engine (vLLM v1 semantics): decode first, chunked prefill under
/// a token budget, at most max_num_seqs running, paged KV with preemption by
/// recomputation, FCFS.
struct BatchingEngine {
  datasets::StepTimes step;
  std::int64_t kv_block_tokens = 16;
  std::int64_t kv_blocks = 0;
  std::int64_t chunk_tokens = 8192;
};

/// Fixed pace: `streams` slots per GPU, each request holds one for prompt / prefill rate
/// + answer tokens / pace (rate view) or for its service time (service view).
struct SlotEngine {
  std::int64_t picos_per_prompt_token = 0;
  std::int64_t picos_per_token = 0;  ///< 0: service_ns law instead of tokens
};

/// What a pool runs, independent of where it stands. Exactly one engine is set.
struct PoolKind {
  std::optional<BatchingEngine> batching;
  std::optional<SlotEngine> slots;
  std::int64_t max_num_seqs = 1;  ///< B per replica; slots: streams per GPU
  IntegerLaw prompt_tokens = IntegerLaw::constant(1);
  IntegerLaw answer_tokens = IntegerLaw::constant(1);
  IntegerLaw service_ns = IntegerLaw::constant(1);
  double prefix_hit_share = 0;
};

/// Service quantiles of a pool kind with exactly max_num_seqs requests always in flight
/// on one replica (closed loop): the worst occupancy that the enforced cap admits, so
/// the laws hold at any lower load. Grid: kServiceGrid probabilities.
struct ServiceLaw {
  std::vector<Nanos> first_token;  ///< admission to first token (or to the end: service)
  std::vector<Nanos> last_token;   ///< admission to last token
  std::vector<Nanos> tpot;         ///< (last - first) / (n - 1), answers of 2 and more
  /// Mean time in the engine when b requests are in flight, b = 1 .. max_num_seqs at
  /// the points of `occupancy`; drives mu(k).
  double mean_residence_s = 0;
  std::uint64_t requests = 0;
  double preemption_share = 0;
};

/// Probabilities of the grids of ServiceLaw: .02 .. .98 by .02, then .985, .99, .9925,
/// .995, .9975, .999, .9995, 1.
const std::vector<double>& service_grid();

/// Closed loop at `in_flight` requests (<= max_num_seqs) on one replica, `requests`
/// measured after a warm-up of as many. Deterministic.
ServiceLaw measure_service(const PoolKind& kind, std::int64_t in_flight,
                           std::uint64_t requests, std::uint64_t seed);

}  // namespace isochrone::sim
