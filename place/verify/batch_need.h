#pragma once

#include <cstdint>
#include <optional>

#include "datasets/catalog.h"
#include "place/verify/facts.h"
#include "scenarios/scenario.h"

namespace isochrone::verify {

/// What a batch workload takes on one kind of GPU, rented in groups of `shape_gpus`.
/// The hours of the reference GPU count by dense bf16 rate, by FP64 rate where the work
/// requires FP64.
struct BatchNeed {
  double hours_per_job = 0;
  std::int64_t gangs = 1;           ///< that run side by side
  std::int64_t gpus = 0;            ///< rented, each gang in whole groups
  std::int64_t gpu_hours_used = 0;  ///< of a month, whole groups, rounded up
};
BatchNeed batch_need(const datasets::Catalog& catalog, const spec::Workload& workload,
                     datasets::GpuId gpu, std::int64_t shape_gpus);

/// What a batch workload costs on GPUs of its own, in the objective of a month.
struct BatchRent {
  std::int64_t objective = 0;
  std::int64_t all_hours = 0;  ///< the same GPUs at all hours of the month
};
/// nullopt where the offer does not do: requirements, lead time, deadline, stock.
std::optional<BatchRent> batch_rent(const Facts& facts, const spec::Workload& workload,
                                    const scenarios::Offer& offer);

}  // namespace isochrone::verify
