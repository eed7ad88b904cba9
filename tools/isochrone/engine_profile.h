#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "datasets/catalog.h"
#include "sim/engine.h"
#include "sim/request_log.h"

namespace isochrone::tools {

/// An engine set-up to replay logs on: a shipped step profile or a row of a file that
/// `calibrate` wrote. The kind has the habits of vLLM since 0.14: asynchronous
/// scheduling, prompts reserved in full, blocks of preempted requests kept.
struct EngineProfile {
  std::string id;
  sim::PoolKind kind;
  double front_end_ms = 0;
};

/// vLLM's default.
inline constexpr std::int64_t kDefaultSequences = 256;

EngineProfile engine_profile(const datasets::StepProfile& profile);

/// By the id of a shipped profile, or the path of a file with exactly one row. Throws
/// InputError that suggests the nearest id.
EngineProfile find_engine_profile(const std::string& id_or_path,
                                  const datasets::Catalog& catalog);

/// One row, under the columns of step_profiles.csv that matter and max_num_seqs.
std::string to_csv(const EngineProfile& profile);

/// Options that override what a log says of its engine.
struct EngineOptions {
  std::string meta;  ///< unset: meta.json beside the log, if there is one
  std::int64_t max_num_seqs = 0;
  std::int64_t chunk_tokens = 0;
  std::int64_t kv_blocks = 0;
  std::string scheduling;  ///< "", async, sync
};

/// The kind with the settings of the log's meta.json and of the options, and a line
/// that says where each comes from.
struct SettledEngine {
  sim::PoolKind kind;
  std::string origin;
  bool chunk_tokens_assumed = false;  ///< neither the log nor an option says
  bool kv_blocks_assumed = false;
};
void add_engine_options(CLI::App& command, EngineOptions& options);
SettledEngine settle(const EngineProfile& profile, const std::string& log,
                     const sim::RequestLog& requests, const EngineOptions& options);

}  // namespace isochrone::tools
