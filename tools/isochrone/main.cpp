#include <algorithm>
#include <exception>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "base/stopping.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

/// 2^53: what the format allows, so that JSON holds it exactly.
constexpr std::uint64_t kLargestSeed = 9007199254740992;

/// CLI11 suggests nothing for a misspelt word; do it here, before it parses.
bool known_command(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  const auto word = std::ranges::find_if(
      words, [](const std::string& w) { return !w.starts_with('-'); });
  if (word == words.end() || std::ranges::count(names, *word) > 0) return true;
  complain(fmt::format("isochrone: \"{}\" is not a command; {}", *word,
                       nearest(*word, names)
                           ? did_you_mean(*word, names)
                           : fmt::format("there are {}", fmt::join(names, ", "))));
  return false;
}

/// What an option that scenarios have no field for would be: read and forgotten.
bool reads_scenario(const CLI::App& command) {
  static const std::set<std::string> names = {"validate", "plan",    "simulate",
                                              "verify",   "explain", "sweep"};
  return names.contains(command.get_name());
}

void add_common_options(CLI::App& command, Session& session) {
  command.add_flag("-q,--quiet", session.quiet, "No progress, no warnings on stderr");
  command
      .add_option("--threads", session.threads,
                  "Threads; 0 = all. Never changes a result")
      ->check(CLI::Range(0, 1024));
  if (reads_scenario(command) || command.get_name() == "replay") {
    command
        .add_option("--seed", session.seed,
                    "Root of the random streams, instead of the scenario's")
        ->check(whole_within(0, kLargestSeed));
  }
  if (!reads_scenario(command)) return;
  command
      .add_option("--set", session.settings,
                  "path=value: overrides a scenario field (repeatable)")
      ->allow_extra_args(false);
}

int run(int argc, char** argv) {
  Session session;
  CLI::App app(
      "isochrone: GPU sites that meet latency objectives and residency at "
      "minimum cost, with a proven bound");
  app.set_version_flag("--version", std::string("isochrone ") + ISOCHRONE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 internal or I/O, 2 wrong usage or input, 3 proven\n"
      "infeasible, 4 an objective missed or not shown, 5 a sweep with failed points,\n"
      "6 undecided, 7 verification failed, 130 interrupted.");
  for (const auto add :
       {add_validate, add_plan, add_simulate, add_what_if, add_verify, add_explain,
        add_sweep, add_replay, add_calibrate, add_show, add_diff, add_export, add_rtt,
        add_catalog, add_init, add_help}) {
    add(app, session);
  }
  for (CLI::App* command : app.get_subcommands({})) {
    add_common_options(*command, session);
    command->parse_complete_callback([&session] { set_thread_count(session.threads); });
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!known_command(app, words)) return kBadInput;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    // Help and version end well; everything else is wrong usage.
    std::ostringstream asked;
    std::ostringstream complaint;
    const bool done = app.exit(fault, asked, complaint) == 0;
    if (!asked.str().empty()) print(asked.str());
    if (!complaint.str().empty()) complain(complaint.str());
    return done ? kDone : kBadInput;
  }
  return session.exit;
}

}  // namespace
}  // namespace isochrone::tools

int main(int argc, char** argv) {
  using namespace isochrone::tools;
  try {
    return run(argc, argv);
  } catch (const isochrone::Stopped&) {
    complain("isochrone: interrupted");
    return kInterruptedByUser;
  } catch (const isochrone::InputError& fault) {
    complain(fault.what());
    return kBadInput;
  } catch (const std::system_error& fault) {
    complain(std::string("isochrone: ") + fault.what());
    return kInternal;
  } catch (const std::exception& fault) {
    complain(std::string("isochrone: ") + fault.what());
    return kInternal;
  }
}
