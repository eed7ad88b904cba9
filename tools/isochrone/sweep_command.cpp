#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/parallel.h"
#include "place/plan_file/atomic_file.h"
#include "place/plan_file/plan_file.h"
#include "place/planner/planner.h"
#include "place/verify/verify.h"
#include "tools/isochrone/plan_ending.h"
#include "tools/isochrone/session.h"
#include "tools/isochrone/sweep.h"

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

std::string plan_name(std::size_t point) {
  return fmt::format("point-{:05}.pb", point);
}

double worst_attained(const plan::Plan& plan) {
  double worst = 1;
  for (const plan::Cell& cell : plan.cells()) worst = std::min(worst, cell.attained());
  return worst;
}

PointRow plan_point(const Sweep& sweep, std::size_t point, const std::string& folder,
                    const Session& session, const datasets::Catalog& catalog) {
  PointRow row;
  try {
    if (interrupted()) {
      row.ending = "not run";
      row.exit = kInterruptedByUser;
      return row;
    }
    auto settings = sweep.settings(point);
    if (session.seed) settings.push_back({"seed", std::to_string(*session.seed)});
    const auto scenario = scenarios::read_scenario(sweep.scenario, catalog, settings);
    place::PlannerSettings how;
    how.interrupted = interrupted;
    const place::Planned planned = place::make_plan(scenario, catalog, how);
    verify::Verification checked;
    row.ending = planned.plan.status();
    if (planned.plan.pools_size() > 0) {
      checked = verify::verify(planned.plan, scenario, catalog);
      place::write_plan(planned.plan, folder + "/" + plan_name(point));
      const plan::Totals& totals = planned.plan.totals();
      row.cells = fmt::format(
          "{:.2f},{:.2f},{:.2f},{:.4f},{},{},{:.6f},{}",
          static_cast<double>(totals.bill_usd_micro()) / 1e6,
          static_cast<double>(totals.objective_usd_micro()) / 1e6,
          static_cast<double>(planned.plan.bound().objective_usd_micro()) / 1e6,
          static_cast<double>(planned.plan.bound().gap_ppm()) / 1e4,
          planned.plan.sites_size(), totals.gpus(), worst_attained(planned.plan),
          plan_name(point));
    }
    row.exit = exit_code(planned, checked);
    for (const plan::Conflict& conflict : planned.plan.conflicts()) {
      if (row.message.empty()) row.message = conflict.text();
    }
  } catch (const std::exception& fault) {
    row.ending = "failed";
    row.exit =
        dynamic_cast<const InputError*>(&fault) != nullptr ? kBadInput : kInternal;
    row.message = fault.what();
  }
  return row;
}

void run_sweep(const SweepOptions& options, Session& session) {
  catch_interrupts();
  const Sweep sweep = read_sweep(options.sweep);
  const datasets::Catalog& catalog = session.catalog();
  // A mistake of the scenario itself is told once, not once per point.
  scenarios::read_scenario(sweep.scenario, catalog, {});
  std::filesystem::create_directories(options.output);
  session.log(fmt::format("{}: {} points", sweep.name, sweep.points()));
  const auto rows = parallel_map(sweep.points(), [&](std::size_t point) {
    PointRow row = plan_point(sweep, point, options.output, session, catalog);
    session.log(fmt::format("point {}: {}", point, row.ending));
    return row;
  });
  std::string csv = "point";
  for (const SweepAxis& axis : sweep.grid) csv += "," + csv_cell(axis.path);
  csv +=
      ",status,exit,bill_usd_month,objective_usd_month,bound_usd_month,gap_pct,sites,"
      "gpus,worst_attained,plan,message\n";
  for (std::size_t point = 0; point < rows.size(); ++point) {
    csv += std::to_string(point);
    for (const auto& setting : sweep.settings(point))
      csv += "," + csv_cell(setting.value);
    const PointRow& row = rows[point];
    csv +=
        fmt::format(",{},{},{},{}\n", row.ending, row.exit,
                    row.cells.empty() ? ",,,,,,," : row.cells, csv_cell(row.message));
    const bool answered = row.exit == kDone || row.exit == kInfeasibleQuestion ||
                          row.exit == kObjectiveMissed;
    if (!answered) session.exit = kPointsFailed;
  }
  place::write_file_atomically(options.output + "/results.csv", csv);
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
