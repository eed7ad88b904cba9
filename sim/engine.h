#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "datasets/catalog.h"
#include "sim/law.h"

namespace isochrone::sim {

/// A continuous-batching engine (vLLM v1 semantics): decode first, chunked prefill
/// under a token budget, at most max_num_seqs running, paged KV with preemption by
/// recomputation, FCFS. `chunk_tokens` is at least max_num_seqs.
///
/// Three habits of recent releases are switches: `plans_ahead` (asynchronous
/// scheduling: a step is planned while the one before it runs, so whoever comes to a
/// busy replica joins one step later), `reserves_prompt` (nobody is admitted unless the
/// whole prompt finds free blocks, not only its first chunk), `keeps_blocks` (prefix
/// caching: blocks of a preempted request serve it again unless somebody took them).
struct BatchingEngine {
  datasets::StepTimes step;
  std::int64_t kv_block_tokens = 16;
  std::int64_t kv_blocks = 0;
  std::int64_t chunk_tokens = 8192;
  bool plans_ahead = false;
  bool reserves_prompt = false;
  bool keeps_blocks = false;
};

/// Fixed pace. Rate view: the first token leaves when the prompt has been read (at once
/// where its pace is not given), the others one `picos_per_token` apart, and the slot
/// is held to the last one. Service view (picos_per_token = 0): the whole answer leaves
/// after a draw of service_ns.
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
/// the laws hold at any lower load. Times start when a request is given a sequence
/// slot; the rest of the step that is running then belongs to them, not to the wait.
/// Grid: service_grid(); quantiles are rounded up to an observed value.
struct ServiceLaw {
  std::vector<Nanos> first_token;  ///< to the first token (or to the end: service)
  std::vector<Nanos> last_token;   ///< to the last token
  /// (last - first) / (n - 1) over answers of 2 and more tokens; empty if there is
  /// none.
  std::vector<Nanos> tpot;
  double mean_residence_s = 0;  ///< mean time in the slot; drives mu(k)
  std::uint64_t requests = 0;
  double preemption_share = 0;  ///< of the requests, preempted at least once
};

/// Probabilities of the grids of ServiceLaw: .02 .. .98 by .02, then .985, .99, .9925,
/// .995, .9975, .999, .9995, 1.
const std::vector<double>& service_grid();

/// Closed loop at `in_flight` requests on one replica (1 .. max_num_seqs), `requests`
/// measured after a warm-up of as many. A finished request is replaced after a uniform
/// pause of at most one decode step, so that arrivals do not march in step with the
/// engine. Lengths are dealt in rounds of `requests` that hold every quantile once, so
/// the mean work is exact and residence varies by 0.3 % and less between seeds.
/// Deterministic.
ServiceLaw measure_service(const PoolKind& kind, std::int64_t in_flight,
                           std::uint64_t requests, std::uint64_t seed);

/// Throws std::invalid_argument that names what cannot be run: no engine or two, a
/// batch below 1, a chunk budget below the batch, no KV.
void check(const PoolKind& kind);

}  // namespace isochrone::sim
