#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "place/verify/facts.h"
#include "place/verify/traffic.h"

namespace isochrone::verify {

/// One priced survival row of a certificate, ready for use.
struct PricedRow {
  std::string element;  ///< empty: whatever is lost
  std::size_t block = 0;
  std::vector<char> demands;    ///< by population: in the cut
  std::int64_t need = 0;        ///< load of the cut, counted anew
  std::int64_t multiplier = 0;  ///< nano-dollars per micro-rps
};

/// What the certificate pays, in MicroUsd for all of a population's block.
struct Prices {
  std::vector<std::vector<std::int64_t>> of;  ///< [population][block]
  std::vector<std::int64_t> batch;            ///< [workload], all blocks together
  std::vector<PricedRow> rows;
};

/// A table of the plan made ready to be asked for every site.
struct LevelCurve {
  std::size_t workload = 0;
  datasets::GpuId gpu;
  std::int64_t replica_gpus = 1;
  std::vector<std::int64_t> capacity;  ///< of 1, 2, ... replicas, until it holds all
  std::vector<std::int64_t> degraded;
  std::vector<std::int64_t> reach_us;  ///< by population; negative: none
  std::vector<std::int64_t> degraded_reach_us;
};

/// All tables whose workload and GPU are known.
std::vector<LevelCurve> level_curves(const Facts& facts);

/// Lower bound of what a site costs less what the prices pay for what it could serve,
/// in nano-dollars, over every offer, level and number of replicas:
///   fixed + sum over workloads of min(0, least of cost - gain - reward).
Wide site_value(const Facts& facts, const Traffic& traffic, const Prices& prices,
                const std::vector<LevelCurve>& curves,
                const scenarios::CandidateSite& site);

}  // namespace isochrone::verify
