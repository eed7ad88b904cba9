#include "place/planner/live_through.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "place/planner/assemble.h"
#include "place/planner/deploy.h"
#include "place/planner/drills.h"
#include "place/planner/seal.h"
#include "sim/simulate.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kFewestRequests = 1000;  // of a drill

void write_parts(const sim::LatencySplit& mean, plan::Cell& row) {
  std::int64_t sum = 0;
  const auto add = [&](const char* name, Nanos time) {
    plan::Cell::Part& part = *row.add_parts();
    part.set_name(name);
    part.set_ns(time.count());
    sum += time.count();
  };
  add("connection", mean.connection);
  add("last mile", mean.last_mile);
  add("wan", mean.wan);
  add("transfer", mean.transfer);
  add("front end", mean.front_end);
  add("queue", mean.queue);
  add("prefill", mean.prefill);
  row.set_mean_ttft_ns(sum);
  add("decode", mean.decode);
  row.set_mean_e2e_ns(sum);
}

void write_cell(const Question& question, const sim::Cell& cell, plan::Cell& row) {
  row.set_workload(question.workload(cell.workload).name());
  row.set_region(question.demand.regions[cell.region].name);
  row.set_hours(cell.hours);
  row.set_objective(objective_name(cell.objective));
  row.set_limit_ms(static_cast<double>(cell.objective.limit.count()) / 1e6);
  row.set_requests(cell.requests);
  row.set_kept(cell.kept);
  row.set_late(cell.late);
  row.set_unfinished(cell.unfinished);
  row.set_windows(cell.windows);
  row.set_complete(cell.complete);
  row.set_window_share(cell.window_share);
  row.set_control(cell.attained - cell.window_share);
  row.set_attained(cell.attained);
  row.set_low(cell.low);
  row.set_high(cell.high);
  row.set_standard_error(cell.standard_error);
  row.set_degrees(cell.degrees);
  row.set_effective_requests(cell.effective_requests);
  row.set_verdict(sim::to_text(cell.verdict));
  row.set_at_percentile_ms(static_cast<double>(cell.at_percentile.count()) / 1e6);
  write_parts(cell.mean, row);
  if (cell.late + cell.unfinished > 0) {
    for (const double share : cell.missed_by) row.add_missed_by(share);
  }
  seal(row);
}

/// Streams that no table was corrected by, told apart by what was tried before.
std::string streams_of(const plan::Plan& plan) {
  return plan.revisions_size() == 0
             ? "validation"
             : fmt::format("validation {}", plan.revisions_size());
}

sim::SimulationSettings settings_of(const Question& question, const plan::Plan& plan) {
  const spec::Simulate& wish = question.scenario.spec.simulate();
  sim::SimulationSettings settings;
  settings.seed = scenarios::seed(question.scenario);
  settings.stream_name = streams_of(plan);
  settings.blocks = wish.has_hours() ? wish.hours() : settings.blocks;
  settings.max_requests =
      wish.has_max_requests() ? wish.max_requests() : scenarios::kDefaultMaxRequests;
  return settings;
}

/// A run that leaves a cell open is made once more, four times as long and on streams
/// of its own, and only the longer one counts; not where the scenario bounds the
/// requests.
sim::SimulationResult lived(const Question& question, const sim::Deployment& deployment,
                            sim::SimulationSettings settings) {
  sim::SimulationResult result = simulate(deployment, settings);
  const auto open = [](const sim::Cell& cell) {
    return cell.verdict == sim::Verdict::kNotShown;
  };
  const bool bounded = question.scenario.spec.simulate().has_max_requests();
  if (bounded || std::ranges::none_of(result.cells, open)) return result;
  settings.max_requests *= 4;
  settings.stream_name += " longer";
  return simulate(deployment, settings);
}

void live_through_drill(const Question& question, const LossDrill& loss,
                        sim::SimulationSettings settings, plan::Drill& row) {
  settings.max_requests = std::max(kFewestRequests, settings.max_requests / 4);
  settings.stream_name += ", drill " + loss.row.element();
  row = loss.row;
  const sim::SimulationResult result = lived(question, loss.deployment, settings);
  for (const sim::Cell& cell : result.cells) {
    write_cell(question, cell, *row.add_cells());
  }
  row.set_simulated_requests(result.simulated_requests);
}

}  // namespace

void live_through(const Question& question, plan::Plan& plan) {
  const sim::SimulationSettings settings = settings_of(question, plan);
  const spec::Simulate& wish = question.scenario.spec.simulate();
  const bool drills = !wish.has_drills() || wish.drills();
  const auto losses = drills ? loss_drills(question, plan) : std::vector<LossDrill>{};
  plan.clear_cells();
  plan.clear_drills();
  const sim::SimulationResult day = lived(question, deploy(question, plan), settings);
  for (const sim::Cell& cell : day.cells) {
    write_cell(question, cell, *plan.add_cells());
  }
  plan.set_day_requests(day.simulated_requests);
  std::uint64_t simulated = day.simulated_requests;
  for (const LossDrill& loss : losses) {
    plan::Drill& row = *plan.add_drills();
    live_through_drill(question, loss, settings, row);
    simulated += row.simulated_requests();
    if (loss.routed) continue;
    const std::string warning =
        fmt::format("after the loss of {} some users find no place", row.element());
    // A plan that is lived through again has it already.
    if (std::ranges::find(plan.warnings(), warning) == plan.warnings().end()) {
      plan.add_warnings(warning);
    }
  }
  plan.set_simulated_requests(simulated);
  add_step_times(question, plan);
}

}  // namespace isochrone::place
