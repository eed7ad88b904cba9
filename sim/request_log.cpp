#include "sim/request_log.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "base/diagnostics.h"
#include "base/read_file.h"
#include "sim/number_table.h"

namespace isochrone::sim {
namespace {

struct Column {
  std::string_view name;
  double ns = 1;  // per unit
  bool since_arrival = false;
};

struct Found {
  std::size_t index;
  Column column;
};

constexpr Column kArrival[] = {
    {"queued_ts", 1e9}, {"arrival_time", 1e9}, {"arrived_at", 1e9},
    {"arrival_s", 1e9}, {"arrival_ms", 1e6},   {"timestamp_ms", 1e6},
    {"TIMESTAMP", 1e9}, {"timestamp", 1e6},    {"Timestamp", 1e9}};
constexpr Column kPrompt[] = {
    {"input_toks"},    {"input_tokens"},       {"prompt_tokens"}, {"input_length"},
    {"ContextTokens"}, {"num_prefill_tokens"}, {"Request tokens"}};
constexpr Column kAnswer[] = {{"output_toks"},       {"output_tokens"},
                              {"completion_tokens"}, {"output_length"},
                              {"GeneratedTokens"},   {"num_decode_tokens"},
                              {"Response tokens"}};
constexpr Column kFirst[] = {{"first_token_ts", 1e9},
                             {"first_token_time", 1e9},
                             {"ttft_ms", 1e6, true},
                             {"ttft_s", 1e9, true}};
constexpr Column kLast[] = {{"last_token_ts", 1e9},  {"last_token_time", 1e9},
                            {"finish_time", 1e9},    {"e2e_ms", 1e6, true},
                            {"e2e_s", 1e9, true},    {"latency_ms", 1e6, true},
                            {"latency_s", 1e9, true}};

[[noreturn]] void refuse(const std::string& file, int line, const std::string& why,
                         const std::string& hint = "") {
  throw InputError({{Severity::kError, {file, line, 0}, why, hint}});
}

template <std::size_t N>
std::optional<Found> find(const NumberTable& table, const Column (&columns)[N]) {
  for (const Column& column : columns) {
    if (const auto index = table.column(column.name)) return Found{*index, column};
  }
  return std::nullopt;
}

template <std::size_t N>
Found require(const NumberTable& table, const Column (&columns)[N],
              const std::string& path, const char* what) {
  if (const auto found = find(table, columns)) return *found;
  std::string known;
  for (const Column& column : columns) {
    known += (known.empty() ? "" : ", ") + std::string(column.name);
  }
  refuse(path, 1, std::string("has no column for the ") + what, "known: " + known);
}

class Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path),
        table_(NumberTable::read(path)),
        arrival_(require(table_, kArrival, path, "arrival")),
        prompt_(require(table_, kPrompt, path, "prompt")),
        answer_(require(table_, kAnswer, path, "answer")),
        first_(find(table_, kFirst)),
        last_(find(table_, kLast)),
        tpot_(table_.column("tpot_ms")),
        scheduled_(table_.column("scheduled_ts")) {
    for (std::size_t row = 0; row < table_.size(); ++row) {
      const double at = number(row, arrival_.index, "arrival");
      check_unit(row, at);
      origin_ = row == 0 ? at : std::min(origin_, at);
    }
  }

  RequestLog read() const {
    RequestLog log;
    log.measured = first_ && (last_ || tpot_);
    log.engine_clock = arrival_.column.name == "queued_ts";
    for (std::size_t row = 0; row < table_.size(); ++row) {
      const double answer = number(row, answer_.index, "answer");
      if (answer < 1) continue;
      log.requests.push_back(request(row, answer, log.measured));
    }
    if (log.requests.empty()) refuse(path_, 1, "holds no request with an answer");
    std::ranges::stable_sort(log.requests, {}, &LoggedRequest::arrival_ns);
    check_rate(log);
    return log;
  }

 private:
  double number(std::size_t row, std::size_t column, const char* what) const {
    const auto value = table_.at(row, column);
    if (!value) refuse(path_, table_.line(row), std::string(what) + " is no number");
    return *value;
  }

  std::int64_t tokens(std::size_t row, double value, const char* what) const {
    if (!(value >= 0 && value <= 1e8) || value != std::floor(value)) {
      refuse(path_, table_.line(row), std::string(what) + " is no count of tokens");
    }
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(value));
  }

  std::int64_t time(std::size_t row, const Found& found, std::int64_t arrival) const {
    const double value = number(row, found.index, "time");
    return found.column.since_arrival ? arrival + std::llround(value * found.column.ns)
                                      : since_origin(value, found.column.ns);
  }

  /// Differences first: a double holds the seconds since 1970 to a quarter of a
  /// microsecond, their product with 1e9 is rounded again.
  std::int64_t since_origin(double value, double ns) const {
    const double ratio = ns / arrival_.column.ns;
    return std::llround((value * ratio - origin_) * arrival_.column.ns);
  }

  LoggedRequest request(std::size_t row, double answer, bool measured) const {
    LoggedRequest one;
    one.arrival_ns =
        since_origin(number(row, arrival_.index, "arrival"), arrival_.column.ns);
    one.prompt = tokens(row, number(row, prompt_.index, "prompt"), "prompt");
    one.answer = tokens(row, answer, "answer");
    if (scheduled_ && arrival_.column.name == "queued_ts") {
      one.scheduled_ns = time(row, {*scheduled_, {"scheduled_ts", 1e9}}, 0);
    }
    if (!measured) return one;
    one.first_ns = time(row, *first_, one.arrival_ns);
    if (last_) {
      one.last_ns = time(row, *last_, one.arrival_ns);
    } else {
      const double decode = number(row, *tpot_, "tpot_ms") * 1e6;
      one.last_ns =
          one.first_ns + std::llround(decode * static_cast<double>(one.answer - 1));
    }
    if (one.first_ns <= one.arrival_ns || one.last_ns < one.first_ns) {
      refuse(path_, table_.line(row),
             "a token leaves before its request came, or before an earlier one",
             "arrival and tokens must be read off one clock");
    }
    return one;
  }

  void check_unit(std::size_t row, double at) const {
    const std::string name(arrival_.column.name);
    if (arrival_.column.ns == 1e9 && at > 1e11) {
      refuse(path_, table_.line(row), name + " is read in seconds: this is no date",
             "milliseconds are called timestamp_ms or arrival_ms");
    }
    if (name == "timestamp" && at != std::floor(at)) {
      refuse(path_, table_.line(row), "timestamp is read in whole milliseconds",
             "seconds are called Timestamp, arrived_at or arrival_s");
    }
  }

  void check_rate(const RequestLog& log) const {
    const auto count = static_cast<double>(log.requests.size());
    const double seconds = static_cast<double>(log.requests.back().arrival_ns) / 1e9;
    if (log.requests.size() < 10) return;
    if (seconds * 100'000 < count || seconds > count * 3600) {
      refuse(path_, 1,
             "requests arrive at " + std::to_string(count / std::max(seconds, 1e-9)) +
                 " a second",
             std::string(arrival_.column.name) + " is read in " +
                 (arrival_.column.ns == 1e6 ? "milliseconds" : "seconds"));
    }
  }

  std::string path_;
  NumberTable table_;
  Found arrival_, prompt_, answer_;
  std::optional<Found> first_, last_;
  std::optional<std::size_t> tpot_, scheduled_;
  double origin_ = 0;  // first arrival, in the unit of its column
};

using google::protobuf::Struct;
using google::protobuf::Value;

/// The value at a path of names; nullptr if a name is missing.
const Value* inside(const Struct& object, std::initializer_list<const char*> names) {
  const Struct* here = &object;
  const Value* value = nullptr;
  for (const char* name : names) {
    if (here == nullptr) return nullptr;
    const auto found = here->fields().find(name);
    if (found == here->fields().end()) return nullptr;
    value = &found->second;
    here = value->has_struct_value() ? &value->struct_value() : nullptr;
  }
  return value;
}

std::optional<std::int64_t> count_in(const Struct& object,
                                     std::initializer_list<const char*> names) {
  const Value* value = inside(object, names);
  if (value == nullptr || value->kind_case() != Value::kNumberValue)
    return std::nullopt;
  return std::llround(value->number_value());
}

std::optional<bool> flag_in(const Struct& object,
                            std::initializer_list<const char*> names) {
  const Value* value = inside(object, names);
  if (value == nullptr || value->kind_case() != Value::kBoolValue) return std::nullopt;
  return value->bool_value();
}

}  // namespace

RequestLog read_request_log(const std::string& path) { return Reader(path).read(); }

EngineSettings read_engine_settings(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  Struct meta;
  if (!google::protobuf::util::JsonStringToMessage(read_file(path, kMostBytes), &meta)
           .ok()) {
    refuse(path, 0, "is no JSON object");
  }
  EngineSettings settings;
  settings.max_num_seqs = count_in(meta, {"engine_kwargs", "max_num_seqs"});
  settings.chunk_tokens = count_in(meta, {"engine_kwargs", "max_num_batched_tokens"});
  settings.kv_blocks = count_in(meta, {"kv_cache", "num_gpu_blocks"});
  settings.kv_block_tokens = count_in(meta, {"kv_cache", "block_size"});
  settings.keeps_blocks = flag_in(meta, {"kv_cache", "enable_prefix_caching"});
  settings.plans_ahead =
      flag_in(meta, {"resolved_config", "scheduler_config", "async_scheduling"});
  settings.reserves_prompt = flag_in(
      meta, {"resolved_config", "scheduler_config", "scheduler_reserve_full_isl"});
  return settings;
}

}  // namespace isochrone::sim
