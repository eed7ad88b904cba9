#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/units.h"
#include "geo/last_mile.h"
#include "scenarios/demand.h"
#include "sim/engine.h"

namespace isochrone::sim {

using PoolId = Id<struct PoolTag>;

/// Replicas of one kind at one site, behind least-loaded routing.
struct Pool {
  std::string name;  ///< "aws/us-east-1 chat"
  PoolKind kind;
  std::int64_t replicas = 1;
  Nanos front_end{0};
};

/// Objectives of one demand entry, with the p that each must reach.
struct Objective {
  enum class Metric { kTtft, kTpot, kE2e } metric = Metric::kTtft;
  double percentile = 95;
  Nanos limit{0};
};

/// Traffic of one population to one pool: `load` requests per second in each block.
struct Stream {
  std::size_t entry = 0;  ///< demand entry: objectives, modulation
  scenarios::RegionId region;
  std::size_t workload = 0;
  PoolId pool;
  Micros rtt{0};                      ///< WAN
  std::int64_t connection_trips = 1;  ///< 1 warm, 2 QUIC, 3 TCP + TLS 1.3
  Nanos transfer{0};                  ///< payload transfer time
  geo::AccessLaw access;
  std::array<MicroRps, scenarios::kBlocks> load{};
};

/// Input of the simulator: what stands where, and who is sent there.
struct Deployment {
  IdVector<PoolId, Pool> pools;
  std::vector<Stream> streams;
  std::vector<scenarios::Modulation> modulation;   ///< by demand entry
  std::vector<std::vector<Objective>> objectives;  ///< by demand entry
};

}  // namespace isochrone::sim
