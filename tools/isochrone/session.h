#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "datasets/catalog.h"
#include "place/plan.pb.h"
#include "scenarios/scenario.h"

namespace isochrone::tools {

/// How the process ends (DESIGN of the command; the README lists them).
enum Exit : int {
  kDone = 0,
  kInternal = 1,
  kBadInput = 2,
  kInfeasibleQuestion = 3,
  kObjectiveMissed = 4,
  kPointsFailed = 5,
  kUndecidedQuestion = 6,
  kVerificationFailed = 7,
  kInterruptedByUser = 130,
};

/// Options that every command understands, and what commands share. Results go to
/// stdout, progress and warnings to stderr.
class Session {
 public:
  bool quiet = false;
  std::size_t threads = 0;
  std::vector<std::string> settings;  ///< --set path=value
  std::optional<std::uint64_t> seed;
  std::string format = "table";

  int exit = kDone;

  /// Loaded on first use.
  const datasets::Catalog& catalog();
  /// --set and --seed, in this order. Throws InputError where one has no `=`.
  std::vector<scenarios::Setting> overrides() const;
  /// Reads a scenario with --set and --seed applied; prints its warnings.
  scenarios::Scenario scenario(const std::string& path);
  /// The same with one more field set, and no warnings.
  scenarios::Scenario scenario_with(const std::string& path,
                                    const scenarios::Setting& setting);
  /// A line to stderr, unless --quiet.
  void log(std::string_view line) const;

 private:
  std::optional<datasets::Catalog> catalog_;
};

/// True after the first Ctrl-C; the second one ends the process at once.
bool interrupted();
void catch_interrupts();

/// A line to stderr, printable(). Never fails: what cannot be told must not end a run.
void complain(std::string_view words);

/// Throws InputError for words of the command line that mean nothing.
[[noreturn]] void usage_error(std::string message, std::string hint = "");

/// Which code a word means that is none, as `did you mean "DE"?` for Germany, or "".
std::string country_hint(const std::string& word, const datasets::Catalog& catalog);

/// Throws InputError if the output is one of the inputs (by any name), a folder, or in
/// no folder: before the work is done, and before an input is lost.
void check_output(const std::string& output, const std::vector<std::string>& inputs);

/// Numbers from `least` to `most`, and no NaN, which CLI::Range lets pass.
CLI::Validator number_within(double least, double most);
/// Whole numbers, told apart from those that do not fit.
CLI::Validator whole_within(std::uint64_t least, std::uint64_t most);

/// The words, printable(), to stdout, ended with a newline. Throws std::runtime_error
/// (exit 1) if stdout cannot take them.
void print(std::string_view words);

/// One function per command: adds its subcommand, whose callback sets session.exit.
void add_validate(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);
void add_simulate(CLI::App& app, Session& session);
void add_what_if(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_diff(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_catalog(CLI::App& app, Session& session);
void add_rtt(CLI::App& app, Session& session);
void add_calibrate(CLI::App& app, Session& session);
void add_replay(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_init(CLI::App& app, Session& session);
void add_help(CLI::App& app, Session& session);

}  // namespace isochrone::tools
