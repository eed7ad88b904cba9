#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/parallel_in_order.h"
#include "base/stopping.h"
#include "place/plan_file/plan_file.h"
#include "place/planner/planner.h"
#include "place/verify/verify.h"
#include "tools/isochrone/plan_ending.h"
#include "tools/isochrone/session.h"
#include "tools/isochrone/sweep.h"
#include "tools/isochrone/sweep_results.h"

namespace isochrone::tools {
namespace {

struct SweepOptions {
  std::string sweep;
  std::string output;
};

/// What results.csv says of one point.
struct PointRow {
  std::string ending;
  int exit = kInternal;
  std::string cells;  ///< the numbers, as CSV
  std::string message;
};

/// Of all cells, those of the drills too: what all_met() judges.
double worst_attained(const plan::Plan& plan) {
  double worst = 1;
  const auto count = [&](const auto& cells) {
    for (const plan::Cell& cell : cells) worst = std::min(worst, cell.attained());
  };
  count(plan.cells());
  for (const plan::Drill& drill : plan.drills()) count(drill.cells());
  return worst;
}

/// The lines of a text as one, so that a point is one line of the table.
std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (!part.empty() && !line.empty()) line += line.ends_with(':') ? " " : "; ";
    line += part;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return line;
}

/// What went wrong at a point, without the lines of the scenario.
std::string complaint(const std::exception& fault) {
  const auto* input = dynamic_cast<const InputError*>(&fault);
  if (input == nullptr) return fault.what();
  std::vector<std::string> texts;
  for (const Diagnostic& diagnostic : input->diagnostics()) {
    texts.push_back(render(diagnostic, ""));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string header(const Sweep& sweep) {
  std::string csv = "point";
  for (const SweepAxis& axis : sweep.grid) csv += "," + csv_cell(axis.path);
  return csv +
         ",status,exit,bill_usd_month,objective_usd_month,bound_usd_month,gap_pct,"
         "sites,"
         "gpus,worst_attained,plan,message\n";
}

std::string line_of(const Sweep& sweep, std::size_t point, const PointRow& row) {
  std::string csv = std::to_string(point);
  for (const auto& setting : sweep.settings(point))
    csv += "," + csv_cell(setting.value);
  return csv + fmt::format(",{},{},{},{}\n", row.ending, row.exit,
                           row.cells.empty() ? ",,,,,,," : row.cells,
                           csv_cell(one_line(row.message)));
}

/// Of a point that somebody did not wait for.
PointRow not_run() {
  PointRow row;
  row.ending = "not run";
  row.exit = kInterruptedByUser;
  return row;
}

PointRow plan_point(const Sweep& sweep, std::size_t point, const SweepResults& results,
                    std::vector<scenarios::Setting> settings,
                    const datasets::Catalog& catalog) {
  PointRow row;
  try {
    if (interrupted()) return not_run();
    for (auto& setting : sweep.settings(point)) settings.push_back(std::move(setting));
    const auto scenario = scenarios::read_scenario(sweep.scenario, catalog, settings);
    place::PlannerSettings how;
    how.interrupted = interrupted;
    const place::Planned planned = place::make_plan(scenario, catalog, how);
    if (planned.ending == place::Ending::kInterrupted) return not_run();
    const StopScope scope(interrupted);
    verify::Verification checked;
    row.ending = planned.plan.status();
    if (planned.plan.pools_size() > 0) {
      checked = verify::verify(planned.plan, scenario, catalog);
      place::write_plan(planned.plan, results.plan_path(point));
      const plan::Totals& totals = planned.plan.totals();
      row.cells = fmt::format(
          "{:.2f},{:.2f},{:.2f},{:.4f},{},{},{:.6f},{}",
          static_cast<double>(totals.bill_usd_micro()) / 1e6,
          static_cast<double>(totals.objective_usd_micro()) / 1e6,
          static_cast<double>(planned.plan.bound().objective_usd_micro()) / 1e6,
          static_cast<double>(planned.plan.bound().gap_ppm()) / 1e4,
          planned.plan.sites_size(), totals.gpus(), worst_attained(planned.plan),
          SweepResults::plan_name(point));
    }
    row.exit = exit_code(planned, checked);
    for (const plan::Conflict& conflict : planned.plan.conflicts()) {
      if (row.message.empty()) row.message = conflict.text();
    }
  } catch (const Stopped&) {
    return not_run();
  } catch (const std::exception& fault) {
    row.ending = "failed";
    row.exit =
        dynamic_cast<const InputError*>(&fault) != nullptr ? kBadInput : kInternal;
    row.message = complaint(fault);
  }
  return row;
}

void run_sweep(const SweepOptions& options, Session& session) {
  catch_interrupts();
  const Sweep sweep = read_sweep(options.sweep);
  const datasets::Catalog& catalog = session.catalog();
  const auto overrides = session.overrides();
  // What is wrong with the scenario or the grid is told once, not once per point.
  session.scenario(sweep.scenario);
  check_grid(sweep, overrides, catalog);
  SweepResults results(options.output, header(sweep));
  if (results.removed() > 0) {
    session.log(fmt::format("{}: {} files of an earlier sweep removed", options.output,
                            results.removed()));
  }
  session.log(fmt::format("{}: {} points", sweep.name, sweep.points()));
  std::vector<PointRow> rows(sweep.points());
  parallel_in_order(
      rows.size(),
      [&](std::size_t point) {
        rows[point] = plan_point(sweep, point, results, overrides, catalog);
      },
      [&](std::size_t point) {
        const PointRow& row = rows[point];
        results.add(line_of(sweep, point, row));
        session.log(fmt::format("point {}: {}", point, row.ending));
        const bool answered = row.exit == kDone || row.exit == kInfeasibleQuestion ||
                              row.exit == kObjectiveMissed;
        if (!answered) session.exit = kPointsFailed;
      });
  if (interrupted()) session.exit = kInterruptedByUser;
  print(
      fmt::format("{} points, results in {}/results.csv", rows.size(), options.output));
}

}  // namespace

void add_sweep(CLI::App& app, Session& session) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* sweep = app.add_subcommand("sweep", "What-ifs in batches");
  sweep->require_subcommand(1);
  CLI::App* run = sweep->add_subcommand(
      "run",
      "Plan every point of a grid over scenario fields: one row in results.csv "
      "and one plan per point");
  run->add_option("sweep", options->sweep, "Sweep file: name, scenario, grid")
      ->required();
  run->add_option("-o,--output", options->output, "Folder of the results")->required();
  run->fallthrough();
  run->callback([options, &session] { run_sweep(*options, session); });
}

}  // namespace isochrone::tools
