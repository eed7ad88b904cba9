#include "place/verify/verify.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "place/verify/checks.h"

namespace isochrone::verify {
namespace {

bool lived_through(const plan::Plan& plan) { return plan.status() == "planned"; }

bool has_a_plan(const plan::Plan& plan) {
  return plan.status() == "planned" || plan.status() == "interrupted";
}

/// What nobody has lived through has nothing to show for it.
void check_nothing_lived(const plan::Plan& plan, Faults& faults) {
  if (plan.cells_size() > 0 || plan.drills_size() > 0) {
    faults.add("status", "interrupted, but there are simulated cells or drills");
  }
  faults.equal("simulated_requests", plan.simulated_requests(), std::uint64_t{0});
  faults.equal("day_requests", plan.day_requests(), std::uint64_t{0});
  if (plan.reproducible()) faults.add("reproducible", "an interrupted plan is not");
}

void say_what_was_checked(const plan::Plan& plan, std::vector<std::string>& checked) {
  checked.push_back("scenario, data, tables and release are those that the plan names");
  if (!has_a_plan(plan)) return;
  checked.push_back(
      fmt::format("{} populations and their loads", plan.populations_size()));
  checked.push_back(
      fmt::format("{} sites and {} pools: offers, prices, stock, lead times, "
                  "requirements, capacities",
                  plan.sites_size(), plan.pools_size()));
  checked.push_back(
      fmt::format("{} assignments: shares, residency, round trips, reach, "
                  "loads in every block",
                  plan.assignments_size()));
  if (plan.valleys_size() > 0) {
    checked.push_back(fmt::format(
        "{} batch workloads in valleys: room in every block, hours, deadline",
        plan.valleys_size()));
  }
  checked.push_back("every loss that must be survived, in every block, by max-flow");
  checked.push_back(
      fmt::format("{} lines of the bill, totals, spend", plan.bill_size()));
  checked.push_back(fmt::format("{} tables: reach and capacity by slower methods",
                                plan.tables_size()));
  checked.push_back(fmt::format("the bound, from {} prices and {} survival rows",
                                plan.certificate().prices_size(),
                                plan.certificate().rows_size()));
  checked.push_back(
      lived_through(plan)
          ? fmt::format("{} simulated cells and {} drills: verdicts, none missing",
                        plan.cells_size(), plan.drills_size())
          : "BUT it was interrupted before it was lived through: nothing shows that "
            "objectives are met");
  checked.push_back(fmt::format("{} assumptions and {} warnings, word for word",
                                plan.assumptions_size(), plan.warnings_size()));
  if (plan.step_times_size() > 0) {
    checked.push_back("sizes and bill at both ends of the bands of step times");
  }
}

/// An unplanned answer has conflicts to show and nothing to add up.
void check_refusal(const plan::Plan& plan, Faults& faults) {
  if (plan.status() == "infeasible" && plan.conflicts_size() == 0) {
    faults.add("conflicts", "infeasible, but no conflict is told");
  }
}

}  // namespace

Verification verify(const plan::Plan& plan, const scenarios::Scenario& scenario,
                    const datasets::Catalog& catalog) {
  const Facts facts(plan, scenario, catalog);
  Faults faults;
  Verification result;
  check_provenance(facts, faults);
  if (has_a_plan(plan)) {
    check_populations(facts, faults);
    check_sites(facts, faults);
    check_pools(facts, faults);
    check_valleys(facts, faults);
    check_assignments(facts, faults);
    check_survival(facts, faults);
    check_unserved(facts, faults);
    check_coverage(facts, faults);
    check_bill(facts, faults);
    check_tables(facts, faults, result.rests_on);
    check_bound(facts, faults);
    if (lived_through(plan)) {
      check_cells(facts, faults);
      check_drills(facts, faults);
    } else {
      check_nothing_lived(plan, faults);
    }
    check_repairs(facts, faults);
    if (lived_through(plan)) check_step_times(facts, faults);
    check_law(facts, faults);
    check_words(facts, faults);
  } else {
    check_refusal(plan, faults);
  }
  say_what_was_checked(plan, result.checked);
  result.faults = faults.take();
  return result;
}

}  // namespace isochrone::verify
