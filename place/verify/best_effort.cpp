// Who may be served although no level reaches them: worked out anew from the plan's
// tables, the candidates and the objectives.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "place/verify/facts.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateId;
using scenarios::kBlocks;
using scenarios::Population;
using scenarios::PopulationId;

constexpr std::int64_t kDetourUs = 150'000;
constexpr double kPartOfMisses = 0.25;

double allowed_misses(const Facts& facts, std::size_t entry) {
  const spec::Slo slo = entry_objectives(facts, entry).normal;
  double strictest = 0;
  for (const spec::Objective& o : slo.objectives()) {
    strictest = std::max(strictest, o.percentile());
  }
  return 1 - strictest / 100;
}

}  // namespace

bool Facts::within_some_reach(PopulationId id) const {
  const Population& p = demand.populations[id];
  std::int64_t widest = -1;
  for (const plan::Table& table : plan.tables()) {
    if (table.workload() != workload(p).name()) continue;
    for (const plan::Reach& reach : table.reach()) {
      if (reach.demand() == entry_name(p) &&
          reach.country() == p.endpoint.country.text()) {
        widest = std::max(widest, reach.rtt_us());
      }
    }
  }
  return std::ranges::any_of(candidates.sites, [&](const auto& site) {
    return rtt(id, site).rtt.count() <= widest && lawful(p, site);
  });
}

void Facts::find_best_effort() {
  struct Region {
    std::array<double, kBlocks> all{};
    std::array<double, kBlocks> stranded{};
    double allowance = 1;
  };
  std::map<std::pair<std::size_t, scenarios::RegionId>, Region> regions;
  best_effort_us_.assign(demand.populations.size(), -1);
  std::vector<bool> stranded(demand.populations.size(), false);
  for (std::uint32_t i = 0; i < demand.populations.size(); ++i) {
    const Population& p = demand.populations[PopulationId{i}];
    const spec::Demand& entry = scenario.spec.demand(static_cast<int>(p.entry));
    stranded[i] = !(entry.has_coverage() && entry.coverage() < 1) &&
                  !within_some_reach(PopulationId{i});
    Region& region = regions[{p.workload, p.region}];
    region.allowance =
        std::min(region.allowance, kPartOfMisses * allowed_misses(*this, p.entry));
    for (std::size_t b = 0; b < kBlocks; ++b) {
      region.all[b] += to_rps(p.load[b]);
      if (stranded[i]) region.stranded[b] += to_rps(p.load[b]);
    }
  }
  for (std::uint32_t i = 0; i < demand.populations.size(); ++i) {
    if (!stranded[i]) continue;
    const Population& p = demand.populations[PopulationId{i}];
    const Region& region = regions.at({p.workload, p.region});
    bool few = true;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      few = few && region.stranded[b] <= region.allowance * region.all[b];
    }
    if (!few) continue;
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    for (const auto& site : candidates.sites) {
      if (lawful(p, site)) {
        nearest = std::min(nearest, rtt(PopulationId{i}, site).rtt.count());
      }
    }
    if (nearest < std::numeric_limits<std::int64_t>::max()) {
      best_effort_us_[i] = nearest + kDetourUs;
    }
  }
}

std::int64_t Facts::best_effort_us(PopulationId population) const {
  return best_effort_us_[population.index()];
}

}  // namespace isochrone::verify
