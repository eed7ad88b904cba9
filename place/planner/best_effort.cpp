#include "place/planner/best_effort.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace isochrone::place {
namespace {

using scenarios::Population;

bool within_any_reach(const Question& question, const Serving& serving,
                      const Population& p, std::size_t row, bool degraded) {
  Micros widest{-1};
  for (const Serving::Reached& reached :
       degraded ? serving.degraded_reach : serving.reach) {
    const auto it = reached.find({p.entry, p.endpoint.country});
    if (it != reached.end()) widest = std::max(widest, it->second);
  }
  for (std::size_t s = 0; s < question.rtts.columns(); ++s) {
    if (question.rtts.at(row, s).rtt <= widest &&
        question.lawful(p, question.site(s))) {
      return true;
    }
  }
  return false;
}

/// Largest share of a region's load that may be counted as missed: beyond it the others
/// would have to attain more than 1 on the level that waits least.
double most_lost(const Question& question, const Population& p) {
  const auto asked =
      objectives_of(objectives(question.scenario, question.entry(p.entry)));
  const double least_waiting = std::ranges::min(kWaitShareParts) * wait_share(asked);
  return 1 - strictest_share(asked) / (1 - least_waiting);
}

struct Region {
  std::array<double, scenarios::kBlocks> all{};
  std::array<double, scenarios::kBlocks> lost{};
  std::array<double, scenarios::kBlocks> lost_degraded{};
  double most = 1;

  Serving::Lost shares() const {
    Serving::Lost worst;
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (all[b] <= 0) continue;
      worst.normal = std::max(worst.normal, lost[b] / all[b]);
      worst.degraded = std::max(worst.degraded, lost_degraded[b] / all[b]);
    }
    return worst;
  }
};

/// Regions of the serving's workload, with the loads of whom no level reaches.
std::map<scenarios::RegionId, Region> regions_of(const Question& question,
                                                 const Serving& serving,
                                                 std::vector<bool>& lost) {
  std::map<scenarios::RegionId, Region> regions;
  lost.assign(question.demand.populations.size(), false);
  std::size_t next = 0;
  for (const Population& p : question.demand.populations) {
    const std::size_t row = next++;
    if (p.workload != serving.workload) continue;
    const spec::Demand& entry = question.entry(p.entry);
    const bool priced = entry.has_coverage() && entry.coverage() < 1;
    lost[row] = !priced && !within_any_reach(question, serving, p, row, false);
    const bool anyhow = lost[row] && !within_any_reach(question, serving, p, row, true);
    Region& region = regions[p.region];
    region.most = std::min(region.most, most_lost(question, p));
    for (std::size_t b = 0; b < scenarios::kBlocks; ++b) {
      region.all[b] += to_rps(p.load[b]);
      if (lost[row]) region.lost[b] += to_rps(p.load[b]);
      if (anyhow) region.lost_degraded[b] += to_rps(p.load[b]);
    }
  }
  return regions;
}

}  // namespace

void settle_best_effort(const Question& question, Serving& serving) {
  std::set<scenarios::RegionId> refused;
  Serving::LostShares shares;
  compute_reach(question, serving, shares);
  // Each round some region loses more users or is refused, so it ends.
  for (;;) {
    Serving::LostShares now;
    for (const auto& [id, region] :
         regions_of(question, serving, serving.best_effort)) {
      const Serving::Lost share = region.shares();
      if (share.normal > region.most) refused.insert(id);
      if (share.normal > 0 && !refused.contains(id)) now[id] = share;
    }
    if (now == shares) break;
    shares = std::move(now);
    compute_reach(question, serving, shares);
  }
  std::size_t row = 0;
  for (const Population& p : question.demand.populations) {
    if (refused.contains(p.region)) serving.best_effort[row] = false;
    ++row;
  }
}

std::vector<bool> best_effort(const Question& question,
                              const std::vector<Serving>& servings) {
  std::vector<bool> any(question.demand.populations.size(), false);
  for (const Serving& serving : servings) {
    for (std::size_t d = 0; d < serving.best_effort.size(); ++d) {
      if (serving.best_effort[d]) any[d] = true;
    }
  }
  return any;
}

Micros best_effort_reach(const Question& question, std::size_t population) {
  const Population& p = question.population(population);
  Micros nearest = Micros::max();
  for (std::size_t s = 0; s < question.rtts.columns(); ++s) {
    if (question.lawful(p, question.site(s))) {
      nearest = std::min(nearest, question.rtts.at(population, s).rtt);
    }
  }
  return nearest == Micros::max() ? Micros{-1} : nearest + kBestEffortDetour;
}

}  // namespace isochrone::place
