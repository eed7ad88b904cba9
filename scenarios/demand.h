#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/units.h"
#include "datasets/catalog.h"
#include "geo/last_mile.h"
#include "geo/network.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

using PopulationId = Id<struct PopulationTag>;
using RegionId = Id<struct RegionTag>;  ///< reporting region

/// Blocks are the 24 UTC hours, each the envelope over the days of the horizon.
inline constexpr std::size_t kBlocks = 24;

/// The users of one demand entry in one metro: what the optimiser serves.
struct Population {
  std::size_t entry = 0;     ///< index in spec.demand
  std::size_t workload = 0;  ///< index in spec.workloads
  std::string metro;         ///< metro id, or the `at` city in the same form
  geo::Endpoint endpoint;
  RegionId region;
  double users = 0;       ///< 0 for rps_peak entries
  geo::AccessLaw access;  ///< none() if the entry says so
  /// Largest 10-minute mean of the block over the horizon, times headroom: what
  /// capacity must hold. Of a workload whose sessions stay at their site, the largest
  /// of these in every block.
  std::array<MicroRps, kBlocks> load{};
  /// Requests of a mean month in the block: what traffic costs.
  std::array<std::int64_t, kBlocks> requests_month{};
};

/// Fluctuation that all populations of (workload, region) share: a Gamma-modulated rate
/// of mean 1 and shape (cv^2 + 1) / (cv^2 - 1), constant over correlation_min. shape =
/// 0 is Poisson.
struct Modulation {
  double shape = 0;
  double correlation_s = 0;
};

struct Region {
  std::string name;
};

struct Demand {
  IdVector<PopulationId, Population> populations;
  IdVector<RegionId, Region> regions;
  std::vector<Modulation> modulation;  ///< by demand entry
  double users_asked = 0;
  double users_served = 0;  ///< without embargoed and partner-run countries
  /// What was assumed or left out, in sentences for the summary and the plan.
  std::vector<std::string> notes;
};

/// Spreads users over metros and local hours. Throws InputError where an entry cannot
/// be met (e.g. metros_max below the number of countries). Deterministic.
Demand expand_demand(const Scenario& scenario, const datasets::Catalog& catalog);

}  // namespace isochrone::scenarios
