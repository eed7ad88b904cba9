#include "tools/isochrone/explain_infeasible.h"

#include <optional>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/stopping.h"
#include "base/units.h"
#include "place/plan_file/show.h"
#include "place/planner/planner.h"
#include "place/planner/relaxations.h"
#include "place/verify/verify.h"
#include "tools/isochrone/plan_ending.h"

namespace isochrone::tools {
namespace {

place::PlannerSettings watched() {
  place::PlannerSettings settings;
  settings.interrupted = interrupted;
  return settings;
}

std::string bill_of(const plan::Plan& plan) {
  return to_text(MicroUsd::of(plan.totals().bill_usd_micro())) + " a month";
}

/// The first step that helps, in words; what was tried, if none does.
std::string try_out(const place::Relaxation& relaxation, const std::string& path,
                    Session& session) {
  std::string last;
  for (const place::Relaxation::Step& step : relaxation.steps) {
    stop_if_asked();
    session.log(fmt::format("trying {}: {}", relaxation.name, step.told));
    try {
      const scenarios::Scenario eased = session.scenario_with(path, step.setting);
      const place::Planned planned = place::decide(eased, session.catalog(), watched());
      stop_if_asked();
      if (planned.ending == place::Ending::kPlanned) {
        return fmt::format("  {}: {} would do, for {}\n", relaxation.name, step.told,
                           bill_of(planned.plan));
      }
      last = step.told;
    } catch (const InputError&) {
      break;  // the field goes no further
    }
  }
  if (last.empty()) return "";
  return fmt::format("  {}: does not help alone, tried up to {}\n", relaxation.name,
                     last);
}

}  // namespace

void explain_infeasible(const std::string& path, Session& session) {
  catch_interrupts();
  const StopScope scope(interrupted);
  session.settings.push_back("optimize.work=quick");
  const scenarios::Scenario scenario = session.scenario(path);
  const place::Planned refused = place::decide(scenario, session.catalog(), watched());
  stop_if_asked();
  if (refused.ending == place::Ending::kPlanned) {
    print(fmt::format(
        "{}: there is a plan, for {} (by theory's tables, not lived through)",
        scenario.spec.name(), bill_of(refused.plan)));
    return;
  }
  print(place::show_plan(refused.plan));
  std::string text;
  for (const place::Relaxation& relaxation :
       place::relaxations(scenario, refused.plan)) {
    text += try_out(relaxation, path, session);
  }
  print("\neased alone, tried with quick effort and not lived through:\n" +
        (text.empty() ? "  there is no single field to ease\n" : text));
  session.exit = exit_code(refused, {});
}

}  // namespace isochrone::tools
