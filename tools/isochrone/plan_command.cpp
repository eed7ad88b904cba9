#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>

#include <fmt/format.h>

#include "base/stopping.h"
#include "place/plan_file/plan_file.h"
#include "place/plan_file/show.h"
#include "place/planner/planner.h"
#include "place/verify/verify.h"
#include "tools/isochrone/plan_ending.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct PlanOptions {
  std::string scenario;
  std::string output = "plan.pb";
  std::optional<double> gap_pct;
  std::optional<double> time_limit_s;
};

/// nullopt where it is cut short: whoever interrupts does not wait for it.
std::optional<verify::Verification> verified(place::Planned& planned,
                                             const scenarios::Scenario& scenario,
                                             const datasets::Catalog& catalog) {
  const StopScope scope(interrupted);
  try {
    stop_if_asked();
    return verify::verify(planned.plan, scenario, catalog);
  } catch (const Stopped&) {
    planned.ending = place::Ending::kInterrupted;
    return std::nullopt;
  }
}

void run_plan(const PlanOptions& options, Session& session) {
  catch_interrupts();
  check_output(options.output, {options.scenario});
  const scenarios::Scenario scenario = session.scenario(options.scenario);
  place::PlannerSettings settings;
  settings.gap_pct = options.gap_pct;
  settings.time_limit_s = options.time_limit_s;
  settings.interrupted = interrupted;
  settings.progress = [&](std::string_view line) { session.log(line); };
  place::Planned planned = place::make_plan(scenario, session.catalog(), settings);
  const bool has_plan = planned.plan.pools_size() > 0;
  std::optional<verify::Verification> checked;
  if (has_plan) checked = verified(planned, scenario, session.catalog());
  // File and terminal are told apart: one that fails must not take the other with it.
  std::exception_ptr unwritten;
  if (has_plan) {
    try {
      place::write_plan(planned.plan, options.output);
    } catch (const std::exception&) {
      unwritten = std::current_exception();
    }
  }
  print(place::show_plan(planned.plan));
  if (has_plan) {
    print(checked
              ? verification_text(*checked)
              : "\ninterrupted: the plan was not verified; `isochrone verify` does");
    if (unwritten) std::rethrow_exception(unwritten);
    print(fmt::format("plan written to {}", options.output));
  }
  session.exit = exit_code(planned, checked.value_or(verify::Verification{}));
}

}  // namespace

int exit_code(const place::Planned& planned, const verify::Verification& checked) {
  if (!checked.faults.empty()) return kVerificationFailed;
  switch (planned.ending) {
    case place::Ending::kInfeasible:
      return kInfeasibleQuestion;
    case place::Ending::kInterrupted:
      return kInterruptedByUser;
    case place::Ending::kUndecided:
      return kUndecidedQuestion;
    case place::Ending::kPlanned:
      break;
  }
  return all_met(planned.plan) ? kDone : kObjectiveMissed;
}

bool all_met(const plan::Plan& plan) {
  const auto met = [](const plan::Cell& cell) { return cell.verdict() == "met"; };
  return std::ranges::all_of(plan.cells(), met) &&
         std::ranges::all_of(plan.drills(), [&](const plan::Drill& drill) {
           return std::ranges::all_of(drill.cells(), met);
         });
}

std::string verification_text(const verify::Verification& checked, std::size_t shown) {
  std::string text;
  if (checked.faults.empty()) {
    text = fmt::format("\nverified: {}\n", fmt::join(checked.checked, ", "));
    for (const std::string& line : checked.rests_on)
      text += "  rests on " + line + "\n";
    return text;
  }
  const std::size_t faults = checked.faults.size();
  text = fmt::format("\nVERIFICATION FAILED, {} fault{}:\n", faults,
                     faults == 1 ? "" : "s");
  for (const verify::Fault& fault : checked.faults | std::views::take(shown)) {
    text += fmt::format("  {}: {}\n", fault.where, fault.message);
  }
  if (faults > shown) {
    text += fmt::format("  and {} more; isochrone verify --all lists them\n",
                        faults - shown);
  }
  return text;
}

void add_plan(CLI::App& app, Session& session) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command =
      app.add_subcommand("plan", "Optimise, prove, verify, simulate; write the plan");
  command->add_option("scenario", options->scenario, "Scenario file")->required();
  command->add_option("-o,--output", options->output, "Plan file")
      ->capture_default_str();
  command
      ->add_option("--gap", options->gap_pct, "Gap to the bound that is good enough, %")
      ->check(number_within(0, 100));
  command
      ->add_option("--time-limit", options->time_limit_s,
                   "Stop the search after so many seconds; the plan is then not "
                   "reproducible")
      ->check(number_within(0.1, 1e6));
  command->callback([options, &session] { run_plan(*options, session); });
}

}  // namespace isochrone::tools
