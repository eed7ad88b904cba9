#include <cstdint>

#include <fmt/format.h>

#include "place/verify/cell.h"
#include "place/verify/checks.h"

namespace isochrone::verify {

void check_cells(const Facts& facts, Faults& faults) {
  const ServedLoads served = served_loads(facts);
  check_cell_list(facts.plan.cells(), asked_of_day(facts, served), "cells", faults);
  const std::uint64_t shown = requests_shown(facts.plan.cells());
  if (facts.plan.day_requests() < shown) {
    faults.add("day_requests",
               fmt::format("{}, the cells show {}", facts.plan.day_requests(), shown));
  }
  std::uint64_t sum = facts.plan.day_requests();
  for (const plan::Drill& drill : facts.plan.drills()) {
    sum += drill.simulated_requests();
  }
  if (facts.plan.simulated_requests() != sum) {
    faults.add("simulated_requests", fmt::format("{}, day and drills make {}",
                                                 facts.plan.simulated_requests(), sum));
  }
}

}  // namespace isochrone::verify
