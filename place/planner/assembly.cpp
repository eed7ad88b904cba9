#include "place/planner/assembly.h"

#include <algorithm>

#include "base/diagnostics.h"

namespace isochrone::place {

const Option& Assembly::option_of(const Choice& choice) const {
  return built.instance.sites[static_cast<std::size_t>(choice.site)]
      .options[static_cast<std::size_t>(choice.option)];
}

const OptionMeaning& Assembly::meaning_of(const Choice& choice) const {
  return built.meaning[option_of(choice).label];
}

const Serving& Assembly::serving_of(std::size_t workload) const {
  const auto it = std::ranges::find(servings, workload, &Serving::workload);
  INVARIANT(it != servings.end(), "a pool of a workload that is not served");
  return *it;
}

std::uint32_t Assembly::table_of(std::size_t workload, std::size_t level) const {
  std::size_t base = 0;
  for (const Serving& serving : servings) {
    if (serving.workload == workload) break;
    base += serving.levels.size();
  }
  return static_cast<std::uint32_t>(base + level);
}

bool Assembly::reaches(const Choice& choice, std::size_t population,
                       bool degraded) const {
  const Option& option = option_of(choice);
  const int reach = degraded ? option.degraded_class : option.reach_class;
  const auto& bits = built.instance.sites[static_cast<std::size_t>(choice.site)]
                         .reach[static_cast<std::size_t>(reach)];
  return (bits[population / 64] >> (population % 64) & 1U) != 0;
}

}  // namespace isochrone::place
