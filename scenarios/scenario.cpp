#include "scenarios/scenario.h"

#include <algorithm>
#include <tuple>

namespace isochrone::scenarios {
namespace {

void sort_objectives(spec::Slo& slo) {
  std::ranges::sort(*slo.mutable_objectives(), {}, [](const spec::Objective& o) {
    return std::tuple(o.metric(), o.percentile());
  });
}

}  // namespace

std::uint64_t seed(const Scenario& scenario) {
  return scenario.spec.has_seed() ? scenario.spec.seed() : kDefaultSeed;
}

double headroom(const Scenario& scenario) {
  return scenario.spec.has_headroom() ? scenario.spec.headroom() : 1.0;
}

spec::Slo objectives(const Scenario& scenario, const spec::Demand& entry) {
  const std::size_t index = workload_index(scenario, entry);
  spec::Slo slo = scenario.spec.workloads(static_cast<int>(index)).slo();
  if (entry.slo().has_rtt_max_ms()) slo.set_rtt_max_ms(entry.slo().rtt_max_ms());
  for (const spec::Objective& own : entry.slo().objectives()) {
    const auto same = std::ranges::find_if(
        *slo.mutable_objectives(), [&](const spec::Objective& objective) {
          return objective.metric() == own.metric() &&
                 objective.percentile() == own.percentile();
        });
    if (same != slo.mutable_objectives()->end()) {
      *same = own;
    } else {
      *slo.add_objectives() = own;
    }
  }
  sort_objectives(slo);
  return slo;
}

spec::Slo degraded_objectives(const Scenario& scenario) {
  spec::Slo slo = scenario.spec.resilience().degraded();
  sort_objectives(slo);
  return slo;
}

std::size_t workload_index(const Scenario& scenario, const spec::Demand& entry) {
  const auto& workloads = scenario.spec.workloads();
  const auto found =
      std::ranges::find(workloads, entry.workload(), &spec::Workload::name);
  INVARIANT(found != workloads.end(),
            "demand entry without a workload: " + entry.name());
  return static_cast<std::size_t>(found - workloads.begin());
}

}  // namespace isochrone::scenarios
