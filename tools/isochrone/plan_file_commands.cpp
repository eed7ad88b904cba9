#include <memory>

#include <fmt/format.h>

#include "base/stopping.h"
#include "place/plan_file/atomic_file.h"
#include "place/plan_file/diff.h"
#include "place/plan_file/exports.h"
#include "place/plan_file/plan_file.h"
#include "place/plan_file/show.h"
#include "place/planner/planner.h"
#include "place/verify/verify.h"
#include "tools/isochrone/plan_ending.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct FileOptions {
  std::string scenario;
  std::string plan;
  std::string other;
  std::string output;
  std::string format = "json";
  std::string table = "pools";
  bool detail = false;
  bool all = false;
};

/// What a plan is of where that is not the scenario, said before any fault: of another
/// question hardly anything can hold. "" where it is.
std::string stranger_text(const plan::Plan& plan, const scenarios::Scenario& scenario,
                          const FileOptions& options) {
  const std::string& theirs = plan.provenance().scenario_hash();
  if (theirs == scenario.hash && plan.scenario() == scenario.spec.name()) return "";
  constexpr std::size_t kShown = 12;
  return fmt::format(
      "{} is a plan of another scenario:\n"
      "  the plan      \"{}\", SHA-256 {}...\n"
      "  the scenario  \"{}\", SHA-256 {}...\n"
      "If the file was changed since, plan it anew.\n",
      options.plan, plan.scenario(), theirs.substr(0, kShown), scenario.spec.name(),
      scenario.hash.substr(0, kShown));
}

/// Before a plan that was lived through under a scenario that it was not made for.
std::string other_question_text(const plan::Plan& plan,
                                const scenarios::Scenario& scenario) {
  if (plan.provenance().scenario_hash() == scenario.hash) return "";
  return "lived through under a scenario that the plan was not made for: the "
         "attainment "
         "by region and hour is of the scenario as given, all else (users, how full, "
         "bill, bound, what it was made for) of the plan's own\n\n";
}

void run_verify(const FileOptions& options, Session& session) {
  const scenarios::Scenario scenario = session.scenario(options.scenario);
  const plan::Plan plan = place::read_plan(options.plan);
  const verify::Verification checked =
      verify::verify(plan, scenario, session.catalog());
  const std::string all =
      verification_text(checked, options.all ? checked.faults.size() : kFaultsShown);
  print(stranger_text(plan, scenario, options) + all);
  session.exit = checked.faults.empty() ? kDone : kVerificationFailed;
}

void run_simulate(const FileOptions& options, Session& session) {
  catch_interrupts();
  const StopScope scope(interrupted);
  if (!options.output.empty()) check_output(options.output, {options.scenario});
  const scenarios::Scenario scenario = session.scenario(options.scenario);
  plan::Plan plan = place::read_plan(options.plan);
  try {
    place::simulate_plan(plan, scenario, session.catalog());
  } catch (const std::invalid_argument& mismatch) {
    Diagnostics faults;
    faults.error({options.plan, 0, 0}, mismatch.what(),
                 "is it a plan of this scenario?");
    faults.throw_if_errors();
  }
  if (!options.output.empty()) place::write_plan(plan, options.output);
  print(other_question_text(plan, scenario) + place::show_plan(plan));
  session.exit = all_met(plan) ? kDone : kObjectiveMissed;
}

void run_diff(const FileOptions& options, Session& session) {
  const auto difference = place::diff_plans(place::read_plan(options.plan),
                                            place::read_plan(options.other));
  print(difference.text);
  session.exit = difference.same ? kDone : 1;
}

void run_export(const FileOptions& options) {
  const plan::Plan plan = place::read_plan(options.plan);
  const std::string text = options.format == "json" ? place::to_json(plan)
                           : options.format == "csv"
                               ? place::to_csv(plan, options.table)
                           : options.format == "geojson" ? place::to_geojson(plan)
                                                         : place::to_textproto(plan);
  if (options.output.empty()) {
    print(text);
  } else {
    check_output(options.output, {options.plan});
    place::write_file_atomically(options.output, text);
  }
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command =
      app.add_subcommand("verify", "Check every constraint and every dollar of a plan");
  command->add_option("scenario", options->scenario, "Scenario file")->required();
  command->add_option("plan", options->plan, "Plan file")->required();
  command->add_flag("--all", options->all,
                    fmt::format("List every fault, not the first {}", kFaultsShown));
  command->callback([options, &session] { run_verify(*options, session); });
}

void add_simulate(CLI::App& app, Session& session) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand("simulate", "Live through a given plan");
  command->add_option("scenario", options->scenario, "Scenario file")->required();
  command->add_option("--plan", options->plan, "Plan file (.pb, .json or .textproto)")
      ->required();
  command->add_option("-o,--output", options->output, "Write the plan with its cells");
  command->callback([options, &session] { run_simulate(*options, session); });
}

void add_show(CLI::App& app, Session&) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand("show", "A plan as a table");
  command->add_option("plan", options->plan, "Plan file")->required();
  command->add_flag("--detail", options->detail, "Who is served where by country");
  command->callback([options] {
    print(place::show_plan(place::read_plan(options->plan), options->detail));
  });
}

void add_diff(CLI::App& app, Session& session) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand(
      "diff", "Compare two plans; ends with 0 if they are equal, 1 if not");
  command->add_option("before", options->plan, "Plan file")->required();
  command->add_option("after", options->other, "Plan file")->required();
  command->callback([options, &session] { run_diff(*options, session); });
}

void add_export(CLI::App& app, Session&) {
  auto options = std::make_shared<FileOptions>();
  CLI::App* command = app.add_subcommand("export", "A plan for other programs");
  command->add_option("plan", options->plan, "Plan file")->required();
  command->add_option("--format", options->format, "json, csv, geojson or textproto")
      ->check(CLI::IsMember({"json", "csv", "geojson", "textproto"}))
      ->capture_default_str();
  const auto tables = place::csv_tables();
  command->add_option("--table", options->table, "csv: which table")
      ->check(CLI::IsMember(std::vector<std::string>(tables.begin(), tables.end())))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "File; unset: standard output");
  command->callback([options] { run_export(*options); });
}

}  // namespace isochrone::tools
