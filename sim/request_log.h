#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine.h"

namespace isochrone::sim {

/// One request of a log or trace; times in ns since the first arrival.
struct LoggedRequest {
  std::int64_t arrival_ns = 0;
  std::int64_t prompt = 1;  ///< tokens
  std::int64_t answer = 1;  ///< tokens
  std::optional<std::int64_t> scheduled_ns;
  std::int64_t first_ns = 0;  ///< first and last token; 0 in a trace
  std::int64_t last_ns = 0;
};

/// What a log says of its engine; whatever it does not say is unset.
struct EngineSettings {
  std::optional<std::int64_t> max_num_seqs;
  std::optional<std::int64_t> chunk_tokens;
  std::optional<std::int64_t> kv_blocks;
  std::optional<std::int64_t> kv_block_tokens;
  std::optional<bool> plans_ahead;
  std::optional<bool> reserves_prompt;
  std::optional<bool> keeps_blocks;
};

/// Requests by arrival. `measured`: first and last tokens are known (else it is a trace
/// of arrivals). `engine_clock`: arrivals are when the engine took a request, so that
/// no front end lies before them.
struct RequestLog {
  std::vector<LoggedRequest> requests;
  bool measured = false;
  bool engine_clock = false;
};

/// Reads JSON Lines (*.jsonl, *.json) or CSV. Known columns:
///   arrival  queued_ts (engine), arrival_time, arrived_at, arrival_s, arrival_ms,
///            timestamp_ms, TIMESTAMP (date and time, as the Azure traces), timestamp
///            (whole milliseconds, as Mooncake's), Timestamp (seconds, as BurstGPT's)
///   prompt   input_toks, input_tokens, prompt_tokens, input_length, ContextTokens,
///            num_prefill_tokens, Request tokens
///   answer   output_toks, output_tokens, completion_tokens, output_length,
///            GeneratedTokens, num_decode_tokens, Response tokens
///   first    first_token_ts, first_token_time (clock of the arrival), ttft_ms, ttft_s
///   last     last_token_ts, last_token_time, finish_time, e2e_ms, e2e_s, latency_ms,
///            latency_s, tpot_ms
///   also     scheduled_ts
/// Requests without an answer are left out. Throws InputError for what cannot be read,
/// for a missing column, for tokens that leave before their request came, and for times
/// that seem to be in another unit: seconds beyond the year 5000, fractions of
/// Mooncake's milliseconds, more than 100,000 requests a second or less than one an
/// hour.
RequestLog read_request_log(const std::string& path);

/// The settings in a meta.json as the benchmark of LLMServingSim writes it beside a log
/// of vLLM. Throws InputError if it cannot be read.
EngineSettings read_engine_settings(const std::string& path);

}  // namespace isochrone::sim
