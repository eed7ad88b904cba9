#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "place/verify/facts.h"
#include "place/verify/faults.h"

namespace isochrone::verify {

// One function per chapter of a plan. Each recomputes its chapter from `facts` and
// reports what differs; none relies on another having passed.

/// Format, scenario, hashes, seed, release, status.
void check_provenance(const Facts& facts, Faults& faults);

/// The expanded demand that the plan repeats, user for user and load for load.
void check_populations(const Facts& facts, Faults& faults);

/// Sites exist and are described as the catalog does; limits on sites are kept.
void check_sites(const Facts& facts, Faults& faults);

/// Offers, requirements, profiles, GPU arithmetic, stock and capacities of the pools.
void check_pools(const Facts& facts, Faults& faults);

/// Batch jobs in the valleys of pools: room, hours, deadline.
void check_valleys(const Facts& facts, Faults& faults);

/// What a plan that fills valleys costs at least: the cheapest pool that could do the
/// jobs of a batch workload. nullopt where no workload could be done so.
std::optional<std::int64_t> least_host(const Facts& facts);

/// Shares, residency, distances, reach and loads.
void check_assignments(const Facts& facts, Faults& faults);

/// The loss of each element, by max-flow in every block.
void check_survival(const Facts& facts, Faults& faults);

/// Penalty of leaving a share of a population out, per month, rounded up.
std::int64_t unserved_price(const Facts& facts, scenarios::PopulationId id,
                            std::int64_t share_ppb);

/// Coverage rows and the price of those left out.
void check_unserved(const Facts& facts, Faults& faults);

/// What coverage below 1 saves and costs, by entry.
void check_coverage(const Facts& facts, Faults& faults);

/// Every line of the bill, the totals, what the spend rests on, provider shares,
/// budget.
void check_bill(const Facts& facts, Faults& faults);

/// Reach and capacity of the tables, worked out by slower methods; notes in `rests_on`
/// what only simulation can tell.
void check_tables(const Facts& facts, Faults& faults,
                  std::vector<std::string>& rests_on);

/// The bound that the plan's certificate proves, in MicroUsd per month; nullopt, with a
/// fault, if the certificate cannot be read.
std::optional<std::int64_t> proven_bound(const Facts& facts, Faults& faults);

/// The claimed bound against the proven one, and the gap.
void check_bound(const Facts& facts, Faults& faults);

/// Every simulated cell follows from what it says was measured, and none is missing.
void check_cells(const Facts& facts, Faults& faults);

/// Every loss is drilled in its worst block, and the cells of each drill.
void check_drills(const Facts& facts, Faults& faults);

/// What the plan would need at both ends of the bands of its step times.
void check_step_times(const Facts& facts, Faults& faults);

/// Assumptions, warnings and reasons, word for word.
void check_words(const Facts& facts, Faults& faults);

/// The cuts that the plan was enlarged for: needs, what is left, and what there would
/// be without them.
void check_repairs(const Facts& facts, Faults& faults);

/// Where the data of each population may be, and by which mechanism.
void check_law(const Facts& facts, Faults& faults);

}  // namespace isochrone::verify
