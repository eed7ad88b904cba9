#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/parallel.h"
#include "sim/disaggregation.h"
#include "sim/replay.h"
#include "tools/isochrone/engine_profile.h"
#include "tools/isochrone/load_test_table.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct ReplayOptions {
  std::string log;
  std::string profile;
  EngineOptions engine;
  std::int64_t replicas = 1;
  double from = 0;
  double to = 1;
  std::string format = "table";
  std::string load_engine;
  std::string routing = "shared";
  double age_ms = 0;
  std::int64_t prefill_replicas = 0;  ///< 0: every replica does both
  double transfer_ms = 0;
  double transfer_us_per_token = 0;
};

struct Line {
  std::string metric;
  std::string statistic;
  double simulated = 0;
  std::optional<double> measured;

  double error_pct() const { return 100 * (simulated / *measured - 1); }
};

std::vector<Line> lines_of(const std::vector<sim::LatencyPair>& pairs) {
  std::vector<Line> lines;
  for (const sim::LatencyPair& pair : pairs) {
    if (pair.simulated_ms.empty()) continue;
    const sim::LatencySummary lived = sim::summarise(pair.simulated_ms);
    const sim::LatencySummary seen = sim::summarise(pair.measured_ms);
    const auto add = [&](const char* statistic, double sim::LatencySummary::*value) {
      Line line{pair.name, statistic, lived.*value, std::nullopt};
      if (!pair.measured_ms.empty()) line.measured = seen.*value;
      lines.push_back(line);
    };
    add("mean", &sim::LatencySummary::mean);
    add("p50", &sim::LatencySummary::p50);
    add("p90", &sim::LatencySummary::p90);
    add("p99", &sim::LatencySummary::p99);
  }
  return lines;
}

std::string to_table(const std::vector<Line>& lines) {
  std::string text = "ms         simulated   measured     error\n";
  for (const Line& line : lines) {
    text += fmt::format("{:<4} {:<4} {:>10.1f}", line.metric, line.statistic,
                        line.simulated);
    if (line.measured) {
      text += fmt::format(" {:>10.1f} {:>+7.1f} %", *line.measured, line.error_pct());
    }
    text += '\n';
  }
  return text;
}

std::string to_csv(const std::vector<Line>& lines) {
  std::string text = "metric,statistic,simulated_ms,measured_ms,error_pct\n";
  for (const Line& line : lines) {
    text += fmt::format("{},{},{:.3f},", line.metric, line.statistic, line.simulated);
    if (line.measured) {
      text += fmt::format("{:.3f},{:.2f}", *line.measured, line.error_pct());
    } else {
      text += ",";
    }
    text += '\n';
  }
  return text;
}

std::string to_json(const std::vector<Line>& lines) {
  std::string text = "[";
  for (const Line& line : lines) {
    text += fmt::format(
        "{}\n  {{\"metric\": \"{}\", \"statistic\": \"{}\", \"simulated_ms\": {:.3f}",
        text.size() > 1 ? "," : "", line.metric, line.statistic, line.simulated);
    if (line.measured) {
      text += fmt::format(", \"measured_ms\": {:.3f}, \"error_pct\": {:.2f}",
                          *line.measured, line.error_pct());
    }
    text += '}';
  }
  return text + "\n]\n";
}

// --- load tests ---------------------------------------------------------------------

/// vLLM's budget where it serves from GPUs of 70 GB and more.
constexpr std::int64_t kServerChunkTokens = 8192;

std::string load_test_key(const MeasuredLoadTest& row) {
  return row.profile + (row.engine.empty() ? "" : "  " + row.engine);
}

std::string load_test_rows(const std::vector<MeasuredLoadTest>& rows,
                           const std::vector<sim::LoadTestResult>& lived) {
  std::string text =
      "profile,engine,input_tokens,output_tokens,in_flight,simulated_ttft_ms,ttft_ms,"
      "simulated_tpot_ms,tpot_ms\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MeasuredLoadTest& row = rows[i];
    text += fmt::format("{},{},{},{},{},{:.2f},{:.2f},{:.3f},{:.3f}\n", row.profile,
                        row.engine, row.test.input, row.test.output, row.test.in_flight,
                        lived[i].ttft_ms, row.ttft_ms, lived[i].tpot_ms, row.tpot_ms);
  }
  return text;
}

std::string load_test_errors(const std::vector<MeasuredLoadTest>& rows,
                             const std::vector<sim::LoadTestResult>& lived) {
  struct Sum {
    int rows = 0;
    double tpot = 0, tpot_bias = 0, ttft = 0, ttft_bias = 0;
  };
  std::map<std::string, Sum> sums;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double tpot = 100 * (lived[i].tpot_ms / rows[i].tpot_ms - 1);
    const double ttft = 100 * (lived[i].ttft_ms / rows[i].ttft_ms - 1);
    for (const std::string& key : {load_test_key(rows[i]), std::string("~ all")}) {
      Sum& sum = sums[key];
      ++sum.rows;
      sum.tpot += std::abs(tpot);
      sum.tpot_bias += tpot;
      sum.ttft += std::abs(ttft);
      sum.ttft_bias += ttft;
    }
  }
  std::string text = fmt::format("{:<50} rows  TPOT error (bias)   TTFT error (bias)\n",
                                 "mean absolute errors, %");
  for (const auto& [key, sum] : sums) {
    text += fmt::format("{:<50} {:>4}  {:>6.1f} ({:+.1f})       {:>6.1f} ({:+.1f})\n",
                        key.starts_with('~') ? "all" : key, sum.rows,
                        sum.tpot / sum.rows, sum.tpot_bias / sum.rows,
                        sum.ttft / sum.rows, sum.ttft_bias / sum.rows);
  }
  return text;
}

void replay_load_tests(const CsvTable& table, const ReplayOptions& options,
                       Session& session) {
  std::vector<MeasuredLoadTest> rows;
  std::vector<EngineProfile> profiles;
  std::map<std::string, int> without;
  const auto known = [&](const std::string& id) {
    return std::ranges::find(session.catalog().profiles, id,
                             &datasets::StepProfile::id) !=
           session.catalog().profiles.end();
  };
  for (MeasuredLoadTest& row : read_load_tests(table, session.catalog())) {
    if (!options.load_engine.empty() && row.engine != options.load_engine) continue;
    if (!options.profile.empty()) row.profile = options.profile;
    if (options.profile.empty() && !known(row.profile)) {
      ++without[row.profile];
      continue;
    }
    EngineProfile profile = find_engine_profile(row.profile, session.catalog());
    EngineOptions engine = options.engine;
    if (engine.chunk_tokens == 0) engine.chunk_tokens = kServerChunkTokens;
    if (engine.scheduling.empty()) engine.scheduling = "sync";
    profile.kind = settle(profile, "", {}, engine).kind;
    profiles.push_back(std::move(profile));
    rows.push_back(std::move(row));
  }
  for (const auto& [id, count] : without) {
    session.log(fmt::format("{} rows left out: no step profile {}", count, id));
  }
  const auto lived = parallel_map(rows.size(), [&](std::size_t i) {
    return sim::run_load_test(profiles[i].kind, rows[i].test, profiles[i].front_end_ms);
  });
  print(options.format == "csv" ? load_test_rows(rows, lived)
                                : load_test_errors(rows, lived));
}

/// Prefill on replicas of its own; `--replicas` decode.
std::vector<sim::Outcome> live_split(const ReplayOptions& options,
                                     const sim::PoolKind& kind,
                                     const sim::RequestLog& log) {
  const std::int64_t limit = sim::token_limit(kind);
  std::vector<sim::Request> requests;
  for (const sim::LoggedRequest& one : log.requests) {
    requests.push_back(
        {requests.size(), one.arrival_ns, sim::fitted(one.prompt, one.answer, limit)});
  }
  return sim::live_disaggregated(kind,
                                 {options.prefill_replicas, options.replicas,
                                  Nanos{std::llround(options.transfer_ms * 1e6)},
                                  std::llround(options.transfer_us_per_token * 1e6)},
                                 requests);
}

std::vector<sim::Outcome> live(const ReplayOptions& options, const sim::PoolKind& kind,
                               const sim::RequestLog& log, std::uint64_t seed) {
  if (options.prefill_replicas > 0) return live_split(options, kind, log);
  if (options.routing == "shared") {
    return sim::replay(kind, options.replicas, log.requests);
  }
  const sim::Routing routing =
      options.routing == "round-robin"    ? sim::Routing::kRoundRobin
      : options.routing == "power-of-two" ? sim::Routing::kPowerOfTwo
                                          : sim::Routing::kLeastLoaded;
  return sim::replay_routed(kind, options.replicas, routing,
                            std::llround(options.age_ms * 1e6), seed, log.requests);
}

void run_replay(const ReplayOptions& options, Session& session) {
  if (const auto table = load_test_table(options.log)) {
    return replay_load_tests(*table, options, session);
  }
  if (options.profile.empty()) throw CLI::RequiredError("--profile");
  if (!(options.from < options.to))
    throw CLI::ValidationError("--from", "is not below --to");
  const sim::RequestLog log = sim::read_request_log(options.log);
  const EngineProfile profile = find_engine_profile(options.profile, session.catalog());
  const SettledEngine engine = settle(profile, options.log, log, options.engine);
  const double front_end_ms = log.engine_clock ? 0 : profile.front_end_ms;
  const auto outcomes = live(options, engine.kind, log, session.seed.value_or(42));
  const auto lines =
      lines_of(sim::compare(log, outcomes, front_end_ms, options.from, options.to));
  if (options.format == "csv") return print(to_csv(lines));
  if (options.format == "json") return print(to_json(lines));
  print(fmt::format("{}: {} requests{} on {}\n{}, front end {} ms\n{}", options.log,
                    log.requests.size(), log.measured ? "" : " of a trace", profile.id,
                    engine.origin, front_end_ms, to_table(lines)));
}

}  // namespace

void add_engine_options(CLI::App& command, EngineOptions& options) {
  command.add_option("--meta", options.meta,
                     "The engine's settings; unset: meta.json beside the log");
  command
      .add_option("--max-num-seqs", options.max_num_seqs, "Sequences that run at once")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--chunk-tokens", options.chunk_tokens, "Token budget of a step")
      ->check(CLI::Range(1, 100'000'000));
  command.add_option("--kv-blocks", options.kv_blocks, "KV blocks of a replica")
      ->check(CLI::Range(1, 1'000'000'000));
  command
      .add_option("--scheduling", options.scheduling,
                  "async: steps are planned one ahead, as vLLM does since 0.14; sync")
      ->check(CLI::IsMember({"async", "sync"}));
}

void add_replay(CLI::App& app, Session& session) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay",
                                         "Live through a request log or closed-loop "
                                         "load tests; simulated against measured");
  command->add_option("log", options->log, "Log or trace: JSON Lines or CSV")
      ->required();
  command->add_option(
      "--profile", options->profile,
      "Step profile: an id of the table, or a file that calibrate wrote; "
      "unset only for load tests that name theirs");
  command->add_option("--replicas", options->replicas, "Replicas behind the log")
      ->check(CLI::Range(1, 100'000));
  command
      ->add_option("--from", options->from, "Judge requests from this share of the log")
      ->check(number_within(0, 1));
  command
      ->add_option("--to", options->to, "... up to this share; all are lived through")
      ->check(number_within(0, 1));
  command->add_option("--format", options->format, "table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  command
      ->add_option("--routing", options->routing,
                   "Among replicas: shared (one queue), least-loaded, round-robin, "
                   "power-of-two")
      ->check(CLI::IsMember({"shared", "least-loaded", "round-robin", "power-of-two"}));
  command
      ->add_option("--load-age-ms", options->age_ms,
                   "How old the loads are that a router knows")
      ->check(number_within(0, 1e7));
  command
      ->add_option("--prefill-replicas", options->prefill_replicas,
                   "Replicas that do nothing but prefill; --replicas then decode")
      ->check(CLI::Range(1, 100'000));
  command
      ->add_option("--kv-transfer-ms", options->transfer_ms,
                   "Start of each move of KV from prefill to decode")
      ->check(number_within(0, 1e6));
  command
      ->add_option("--kv-transfer-us-token", options->transfer_us_per_token,
                   "... and its time per prompt token: KV bytes over the link's rate")
      ->check(number_within(0, 1e6));
  command->add_option("--engine", options->load_engine,
                      "Only load tests of this engine");
  add_engine_options(*command, options->engine);
  command->callback([options, &session] { run_replay(*options, session); });
}

}  // namespace isochrone::tools
