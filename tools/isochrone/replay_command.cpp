#include <memory>

#include <fmt/format.h>

#include "sim/replay.h"
#include "tools/isochrone/engine_profile.h"
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

void run_replay(const ReplayOptions& options, Session& session) {
  if (!(options.from < options.to))
    throw CLI::ValidationError("--from", "is not below --to");
  const sim::RequestLog log = sim::read_request_log(options.log);
  const EngineProfile profile = find_engine_profile(options.profile, session.catalog());
  const SettledEngine engine = settle(profile, options.log, log, options.engine);
  const double front_end_ms = log.engine_clock ? 0 : profile.front_end_ms;
  const auto outcomes = sim::replay(engine.kind, options.replicas, log.requests);
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
  CLI::App* command = app.add_subcommand(
      "replay", "Live through a request log; simulated against measured latency");
  command->add_option("log", options->log, "Log or trace: JSON Lines or CSV")
      ->required();
  command
      ->add_option("--profile", options->profile,
                   "Step profile: an id of the table, or a file that calibrate wrote")
      ->required();
  command->add_option("--replicas", options->replicas, "Replicas behind the log")
      ->check(CLI::Range(1, 100'000));
  command
      ->add_option("--from", options->from, "Judge requests from this share of the log")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--to", options->to, "... up to this share; all are lived through")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--format", options->format, "table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  add_engine_options(*command, options->engine);
  command->callback([options, &session] { run_replay(*options, session); });
}

}  // namespace isochrone::tools
