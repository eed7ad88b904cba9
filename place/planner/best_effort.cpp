#include "place/planner/best_effort.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace isochrone::place {
namespace {

using scenarios::CandidateId;
using scenarios::Population;

bool lawful(const Question& question, const Population& p, std::size_t site) {
  const auto& candidate =
      question.candidates.sites[CandidateId{static_cast<std::uint32_t>(site)}];
  return question.residency
      .verdict(p.endpoint.country, p.workload, candidate.endpoint.country)
      .allowed;
}

bool within_any_reach(const Question& question, const std::vector<Serving>& servings,
                      const Population& p, std::size_t row) {
  Micros widest{-1};
  for (const Serving& serving : servings) {
    if (serving.workload != p.workload) continue;
    for (const Serving::Reached& reached : serving.reach) {
      const auto it = reached.find({p.entry, p.endpoint.country});
      if (it != reached.end()) widest = std::max(widest, it->second);
    }
  }
  for (std::size_t s = 0; s < question.rtts.columns(); ++s) {
    if (question.rtts.at(row, s).rtt <= widest && lawful(question, p, s)) return true;
  }
  return false;
}

/// What the strictest objective of the entry lets a region miss.
double allowed_misses(const Question& question, const Population& p) {
  const spec::Slo slo = objectives(question.scenario, question.entry(p.entry));
  double strictest = 0;
  for (const spec::Objective& o : slo.objectives()) {
    strictest = std::max(strictest, o.percentile());
  }
  return 1 - strictest / 100;
}

}  // namespace

std::vector<bool> best_effort(const Question& question,
                              const std::vector<Serving>& servings) {
  using Loads = std::array<double, scenarios::kBlocks>;
  struct Region {
    Loads all{};
    Loads stranded{};
    double allowance = 1;
  };
  std::map<std::pair<std::size_t, scenarios::RegionId>, Region> regions;
  std::vector<bool> stranded(question.demand.populations.size(), false);
  std::size_t next = 0;
  for (const Population& p : question.demand.populations) {
    const std::size_t row = next++;
    const spec::Demand& entry = question.entry(p.entry);
    const bool priced = entry.has_coverage() && entry.coverage() < 1;
    stranded[row] = !priced && !within_any_reach(question, servings, p, row);
    Region& region = regions[{p.workload, p.region}];
    region.allowance =
        std::min(region.allowance, kBestEffortPart * allowed_misses(question, p));
    for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
      const double load = to_rps(p.load[block]);
      region.all[block] += load;
      if (stranded[row]) region.stranded[block] += load;
    }
  }
  next = 0;
  for (const Population& p : question.demand.populations) {
    const std::size_t row = next++;
    const Region& region = regions.at({p.workload, p.region});
    for (std::size_t block = 0; block < scenarios::kBlocks && stranded[row]; ++block) {
      stranded[row] = region.stranded[block] <= region.allowance * region.all[block];
    }
  }
  return stranded;
}

Micros best_effort_reach(const Question& question, std::size_t population) {
  const Population& p =
      question.demand
          .populations[scenarios::PopulationId{static_cast<std::uint32_t>(population)}];
  Micros nearest = Micros::max();
  for (std::size_t s = 0; s < question.rtts.columns(); ++s) {
    if (lawful(question, p, s)) {
      nearest = std::min(nearest, question.rtts.at(population, s).rtt);
    }
  }
  return nearest == Micros::max() ? Micros{-1} : nearest + kBestEffortDetour;
}

}  // namespace isochrone::place
