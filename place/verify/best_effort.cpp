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
constexpr double kLeastWaiting = 0.1;  // of 1 - p: an eighth of 0.8 (1 - p)

double most_lost(const Facts& facts, std::size_t entry) {
  const spec::Slo slo = entry_objectives(facts, entry).normal;
  double p = 0;
  for (const spec::Objective& o : slo.objectives()) {
    if (o.metric() != "tpot") p = std::max(p, o.percentile() / 100);
  }
  return 1 - p / (1 - kLeastWaiting * (1 - p));
}

}  // namespace

bool Facts::within_some_reach(PopulationId id, bool degraded) const {
  const Population& p = demand.populations[id];
  std::int64_t widest = -1;
  for (const plan::Table& table : plan.tables()) {
    if (table.workload() != workload(p).name()) continue;
    const plan::Reach* reach = reach_row(table, p);
    if (reach == nullptr) continue;
    widest = std::max(widest, degraded ? reach->degraded_rtt_us() : reach->rtt_us());
  }
  return std::ranges::any_of(candidates.sites, [&](const auto& site) {
    return rtt(id, site).rtt.count() <= widest && lawful(p, site);
  });
}

void Facts::find_best_effort() {
  struct Region {
    std::array<double, kBlocks> all{};
    std::array<double, kBlocks> stranded{};
    std::array<double, kBlocks> anyhow{};  // on degraded terms too
    double most = 1;
  };
  std::map<std::pair<std::size_t, scenarios::RegionId>, Region> regions;
  best_effort_us_.assign(demand.populations.size(), -1);
  std::vector<bool> stranded(demand.populations.size(), false);
  for (std::uint32_t i = 0; i < demand.populations.size(); ++i) {
    const Population& p = demand.populations[PopulationId{i}];
    const spec::Demand& entry = scenario.spec.demand(static_cast<int>(p.entry));
    stranded[i] = !(entry.has_coverage() && entry.coverage() < 1) &&
                  !within_some_reach(PopulationId{i}, false);
    const bool anyhow = stranded[i] && !within_some_reach(PopulationId{i}, true);
    Region& region = regions[{p.workload, p.region}];
    region.most = std::min(region.most, most_lost(*this, p.entry));
    for (std::size_t b = 0; b < kBlocks; ++b) {
      region.all[b] += to_rps(p.load[b]);
      if (stranded[i]) region.stranded[b] += to_rps(p.load[b]);
      if (anyhow) region.anyhow[b] += to_rps(p.load[b]);
    }
  }
  for (const auto& [key, region] : regions) {
    Lost lost;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      if (region.all[b] <= 0) continue;
      lost.normal = std::max(lost.normal, region.stranded[b] / region.all[b]);
      lost.degraded = std::max(lost.degraded, region.anyhow[b] / region.all[b]);
    }
    if (lost.normal <= region.most) lost_share_[key] = lost;
  }
  for (std::uint32_t i = 0; i < demand.populations.size(); ++i) {
    const Population& p = demand.populations[PopulationId{i}];
    if (!stranded[i] || !lost_share_.contains({p.workload, p.region})) continue;
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

double Facts::lost_share(const Population& p, bool degraded) const {
  const auto found = lost_share_.find({p.workload, p.region});
  if (found == lost_share_.end()) return 0;
  return degraded ? found->second.degraded : found->second.normal;
}

std::int64_t Facts::best_effort_us(PopulationId population) const {
  return best_effort_us_[population.index()];
}

}  // namespace isochrone::verify
