#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "place/planner/question.h"
#include "place/planner/tables.h"

namespace isochrone::place {

/// How one workload can be served, and within which laws.
struct Serving {
  std::size_t workload = 0;
  LevelQuestion question;
  std::vector<ServingOption> options;
  std::vector<LevelTable> levels;  ///< levels[i].option indexes `options`

  /// Users of one demand entry in one country: they share objectives and access law.
  using Users = std::pair<std::size_t, geo::CountryCode>;
  /// R* of a level. Missing: unreachable at any distance.
  using Reached = std::map<Users, Micros>;
  std::vector<Reached> reach;           ///< by level
  std::vector<Reached> degraded_reach;  ///< by level
  /// Whose degraded reach counts the round trips of a new connection, see
  /// reconnecting.h.
  std::set<Users> reconnecting;

  /// Shares of a region's load that are counted as missed, see best_effort.h.
  struct Lost {
    double normal = 0;
    double degraded = 0;  ///< of those, whom no level reaches on degraded terms either
    bool operator==(const Lost&) const = default;
  };
  using LostShares = std::map<scenarios::RegionId, Lost>;
  std::vector<bool> best_effort;  ///< by population: no level reaches it
};

/// Every way to serve a latency-bound workload on a GPU that some candidate offers:
/// step profiles of its model, or the rate or service view. Empty for batch.
std::vector<ServingOption> serving_options(const Question& question,
                                           std::size_t workload);

/// Options, levels, capacity tables and reach of a latency-bound workload (llm or
/// service). Empty for batch.
Serving build_serving(const Question& question, std::size_t workload);

/// Computes `reach` and `degraded_reach` anew. Where a share s of a region is counted
/// as missed, its other users must attain p / (1 - s) in what depends on distance.
void compute_reach(const Question& question, Serving& serving,
                   const Serving::LostShares& lost);

/// Where a table of a plan comes from.
struct TableOrigin {
  std::size_t serving = 0;
  std::size_t level = 0;
};
/// By table, in the order in which plans list them.
std::vector<TableOrigin> table_origins(const std::vector<Serving>& servings);

/// The objectives of one demand entry as the simulator states them. rtt_max is apart:
/// it bounds RTT + median access.
std::vector<sim::Objective> objectives_of(const spec::Slo& slo);

}  // namespace isochrone::place
