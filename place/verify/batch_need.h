#pragma once

#include <cstdint>

#include "datasets/catalog.h"
#include "scenarios/scenario.h"

namespace isochrone::verify {

/// What a batch workload takes on one kind of GPU, rented in groups of `shape_gpus`.
struct BatchNeed {
  double hours_per_job = 0;
  std::int64_t gangs = 1;           ///< that run side by side
  std::int64_t gpus = 0;            ///< rented, each gang in whole groups
  std::int64_t gpu_hours_used = 0;  ///< of a month, whole groups, rounded up
};
BatchNeed batch_need(const datasets::Catalog& catalog, const spec::Batch& batch,
                     datasets::GpuId gpu, std::int64_t shape_gpus);

}  // namespace isochrone::verify
