#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "place/plan_file/atomic_file.h"
#include "sim/calibrate.h"
#include "tools/isochrone/engine_profile.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct CalibrateOptions {
  std::string log;
  std::string start;
  std::string output;
  std::string name = "calibrated";
  EngineOptions engine;
  double from = 0;
  double to = 1;
};

void run_calibrate(const CalibrateOptions& options, Session& session) {
  if (!(options.from < options.to)) {
    throw CLI::ValidationError("--from", "is not below --to");
  }
  if (!options.output.empty()) {
    check_output(options.output, {options.log, options.start, options.engine.meta});
  }
  const sim::RequestLog log = sim::read_request_log(options.log);
  if (!log.measured) {
    throw InputError({{Severity::kError,
                       {options.log, 1, 0},
                       "has no column for the first or the last token",
                       "a trace has no latency to fit"}});
  }
  std::vector<EngineProfile> profiles;
  if (options.start.empty()) {
    for (const datasets::StepProfile& profile : session.catalog().profiles) {
      profiles.push_back(engine_profile(profile));
    }
  } else {
    profiles.push_back(find_engine_profile(options.start, session.catalog()));
  }
  std::vector<sim::ReplayedEngine> starts;
  SettledEngine settled;
  for (const EngineProfile& profile : profiles) {
    settled = settle(profile, options.log, log, options.engine);
    starts.push_back({settled.kind, log.engine_clock ? 0 : profile.front_end_ms});
  }
  const sim::Freedom freedom{settled.kv_blocks_assumed, settled.chunk_tokens_assumed,
                             !log.engine_clock};
  const sim::ReplayedEngine fitted =
      sim::calibrate(log, std::move(starts), freedom, options.from, options.to);
  const double rest = sim::distance(log, fitted, options.from, options.to);
  session.log(fmt::format("{}: {} requests fitted, mean error of the figures {:.1f} %",
                          options.log, log.requests.size(), 100 * std::sqrt(rest)));
  const EngineProfile result{options.name, fitted.kind, fitted.front_end_ms};
  if (options.output.empty()) return print(to_csv(result));
  place::write_file_atomically(options.output, to_csv(result));
}

}  // namespace

void add_calibrate(CLI::App& app, Session& session) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Fit a step profile to an engine's own request log");
  command->add_option("log", options->log, "Measured log: JSON Lines or CSV")
      ->required();
  command->add_option("-o,--output", options->output,
                      "Profile file for `replay --profile`; unset: standard output");
  command->add_option("--start", options->start,
                      "Profile to start from; unset: the nearest of all");
  command->add_option("--name", options->name, "Id of the new profile");
  command
      ->add_option("--from", options->from,
                   "Fit to requests from this share of the log")
      ->check(number_within(0, 1));
  command
      ->add_option("--to", options->to, "... up to this share; all are lived through")
      ->check(number_within(0, 1));
  add_engine_options(*command, options->engine);
  command->callback([options, &session] { run_calibrate(*options, session); });
}

}  // namespace isochrone::tools
