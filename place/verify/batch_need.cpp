#include "place/verify/batch_need.h"

#include <algorithm>
#include <cmath>

namespace isochrone::verify {

BatchNeed batch_need(const datasets::Catalog& catalog, const spec::Workload& workload,
                     datasets::GpuId gpu, std::int64_t shape_gpus) {
  BatchNeed need;
  const spec::Batch& batch = workload.batch();
  const auto reference = catalog.gpu(batch.reference_gpu());
  // A GPU of twice the rate needs half the hours.
  const auto rate = [&](datasets::GpuId id) {
    const datasets::Gpu& one = catalog.gpus[id];
    return workload.requirements().fp64() ? one.fp64_tflops : one.bf16_dense_tflops;
  };
  const double ratio = reference ? rate(gpu) / rate(*reference) : 1;
  const double gpu_hours = batch.gpu_hours_month() / ratio;
  const auto gang = static_cast<double>(batch.gang_gpus());
  const auto jobs = static_cast<double>(batch.jobs_month());
  need.hours_per_job = gpu_hours / jobs / gang;
  need.gangs = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(gpu_hours / gang / kHoursPerMonth)));
  const std::int64_t groups = whole_groups(batch.gang_gpus(), shape_gpus);
  need.gpus = need.gangs * groups;
  need.gpu_hours_used = static_cast<std::int64_t>(
      std::ceil(need.hours_per_job * jobs * static_cast<double>(groups)));
  return need;
}

std::optional<BatchRent> batch_rent(const Facts& facts, const spec::Workload& workload,
                                    const scenarios::Offer& offer) {
  if (offer.lead_time_days > days_to_ready(facts.scenario) ||
      !lacking(workload.requirements(), facts.catalog.gpus[offer.gpu], offer).empty()) {
    return std::nullopt;
  }
  const BatchNeed need =
      batch_need(facts.catalog, workload, offer.gpu, offer.shape_gpus);
  if (need.hours_per_job > workload.batch().deadline_hours()) return std::nullopt;
  if (offer.stock_gpus && need.gpus > *offer.stock_gpus) return std::nullopt;
  BatchRent rent;
  rent.all_hours = (offer.bill_gpu_month + offer.extra_gpu_month).count() * need.gpus;
  const bool hourly = offer.term == "on_demand" || offer.term == "spot";
  rent.objective = hourly ? need.gpu_hours_used * offer.price.count() : rent.all_hours;
  return rent;
}

}  // namespace isochrone::verify
