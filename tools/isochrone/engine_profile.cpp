#include "tools/isochrone/engine_profile.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/diagnostics.h"
#include "sim/replay.h"

namespace isochrone::tools {
namespace {

const std::vector<std::string> kColumns{
    "id",           "t0_ps",           "b_ps",
    "c_ps",         "t0_prefill_ps",   "a_ps",
    "f_ps",         "b_prefill_ps",    "c_prefill_ps",
    "d_ps",         "kv_block_tokens", "kv_blocks",
    "chunk_tokens", "max_num_seqs",    "front_end_ms"};

sim::PoolKind kind_of(const datasets::StepTimes& step, std::int64_t block_tokens,
                      std::int64_t blocks, std::int64_t chunk_tokens,
                      std::int64_t sequences) {
  sim::PoolKind kind;
  kind.batching = sim::BatchingEngine{.step = step,
                                      .kv_block_tokens = block_tokens,
                                      .kv_blocks = blocks,
                                      .chunk_tokens = chunk_tokens,
                                      .plans_ahead = true,
                                      .reserves_prompt = true,
                                      .keeps_blocks = true};
  kind.max_num_seqs = sequences;
  return kind;
}

EngineProfile read_file(const std::string& path) {
  const CsvTable table = CsvTable::read(path, kColumns);
  Diagnostics faults;
  if (table.size() != 1) faults.error({path, 1, 0}, "a profile file has one row");
  faults.throw_if_errors();
  const auto whole = [&](const char* column, double low) {
    return static_cast<std::int64_t>(table.number_in(0, column, low, 1e15, faults));
  };
  EngineProfile profile;
  profile.id = table.text(0, "id");
  const datasets::StepTimes step{
      whole("t0_ps", 1),         whole("b_ps", 0),         whole("c_ps", 0),
      whole("t0_prefill_ps", 1), whole("a_ps", 0),         whole("f_ps", 0),
      whole("b_prefill_ps", 0),  whole("c_prefill_ps", 0), whole("d_ps", 0)};
  profile.kind = kind_of(step, whole("kv_block_tokens", 1), whole("kv_blocks", 1),
                         whole("chunk_tokens", 1), whole("max_num_seqs", 1));
  profile.front_end_ms = table.number_in(0, "front_end_ms", 0, 1e5, faults);
  faults.throw_if_errors();
  return profile;
}

std::int64_t most_running(const sim::RequestLog& log) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const sim::LoggedRequest& request : log.requests) {
    changes.emplace_back(*request.scheduled_ns, 1);
    changes.emplace_back(request.last_ns, -1);
  }
  std::ranges::sort(changes);
  std::int64_t running = 0, most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, running += change);
  return most;
}

/// Requests that waited long for a slot show that the engine was full, and how many it
/// then ran.
std::optional<std::int64_t> sequences_shown(const sim::RequestLog& log) {
  bool waited = false;
  for (const sim::LoggedRequest& request : log.requests) {
    if (!request.scheduled_ns) return std::nullopt;
    waited = waited || *request.scheduled_ns - request.arrival_ns > 1'000'000'000;
  }
  if (!log.measured || !waited) return std::nullopt;
  return most_running(log);
}

}  // namespace

EngineProfile engine_profile(const datasets::StepProfile& profile) {
  return {profile.id,
          kind_of(profile.step, profile.kv_block_tokens, profile.kv_blocks,
                  profile.chunk_tokens, kDefaultSequences),
          profile.front_end_ms};
}

EngineProfile find_engine_profile(const std::string& id_or_path,
                                  const datasets::Catalog& catalog) {
  std::vector<std::string> known;
  for (const datasets::StepProfile& profile : catalog.profiles) {
    if (profile.id == id_or_path) return engine_profile(profile);
    known.push_back(profile.id);
  }
  if (std::filesystem::is_regular_file(id_or_path)) return read_file(id_or_path);
  throw InputError({{Severity::kError,
                     {},
                     fmt::format("\"{}\" is no step profile and no file", id_or_path),
                     did_you_mean(id_or_path, known)}});
}

std::string to_csv(const EngineProfile& profile) {
  const sim::BatchingEngine& engine = *profile.kind.batching;
  const datasets::StepTimes& s = engine.step;
  return fmt::format("{}\n{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                     fmt::join(kColumns, ","), profile.id, s.t0, s.b, s.c, s.t0_prefill,
                     s.a, s.f, s.b_prefill, s.c_prefill, s.d, engine.kv_block_tokens,
                     engine.kv_blocks, engine.chunk_tokens, profile.kind.max_num_seqs,
                     profile.front_end_ms);
}

SettledEngine settle(const EngineProfile& profile, const std::string& log,
                     const sim::RequestLog& requests, const EngineOptions& options) {
  std::string meta = options.meta;
  if (meta.empty() && !log.empty()) {
    const auto beside = std::filesystem::path(log).parent_path() / "meta.json";
    if (std::filesystem::is_regular_file(beside)) meta = beside.string();
  }
  sim::EngineSettings said;
  if (!meta.empty()) said = sim::read_engine_settings(meta);

  SettledEngine settled{profile.kind, "engine:"};
  // Each of the three numbers: the option, else the log's own, else the profile's.
  const auto choose = [&](const char* name, std::int64_t option,
                          std::optional<std::int64_t>& value, std::int64_t otherwise,
                          std::optional<std::int64_t> shown = std::nullopt) {
    const char* from = "profile";
    if (option > 0) {
      value = option;
      from = "option";
    } else if (value) {
      from = "meta.json";
    } else if (shown) {
      value = shown;
      from = "most that ran at once in the log";
    }
    settled.origin +=
        fmt::format(" {} {} ({}),", name, value.value_or(otherwise), from);
  };
  const sim::BatchingEngine& engine = *profile.kind.batching;
  settled.chunk_tokens_assumed = options.chunk_tokens == 0 && !said.chunk_tokens;
  settled.kv_blocks_assumed = options.kv_blocks == 0 && !said.kv_blocks;
  choose("max_num_seqs", options.max_num_seqs, said.max_num_seqs,
         profile.kind.max_num_seqs, sequences_shown(requests));
  choose("chunk_tokens", options.chunk_tokens, said.chunk_tokens, engine.chunk_tokens);
  choose("kv_blocks", options.kv_blocks, said.kv_blocks, engine.kv_blocks);
  if (!options.scheduling.empty()) said.plans_ahead = options.scheduling == "async";
  settled.kind = sim::with_settings(profile.kind, said);
  settled.origin += settled.kind.batching->plans_ahead ? " async" : " sync";
  // A budget below the batch would leave decodes out, which no engine does.
  settled.kind.batching->chunk_tokens =
      std::max(settled.kind.batching->chunk_tokens, settled.kind.max_num_seqs);
  return settled;
}

}  // namespace isochrone::tools
