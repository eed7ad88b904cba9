#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "place/planner/build_instance.h"
#include "place/planner/drafts.h"

namespace isochrone::place {

BatchFit fit_batch(const Question& question, std::size_t workload,
                   const scenarios::Offer& offer) {
  const spec::Workload& w = question.workload(workload);
  const spec::Batch& batch = w.batch();
  const datasets::Gpu& gpu = question.catalog.gpus[offer.gpu];
  BatchFit fit;
  if (!meets(w.requirements(), gpu, offer)) {
    fit.why_not = "the hardware does not meet `requires`";
    return fit;
  }
  const auto reference = question.catalog.gpu(batch.reference_gpu());
  INVARIANT(reference, "the reader admitted an unknown GPU " + batch.reference_gpu());
  // Other GPUs count by their dense bf16 rate, where the work requires FP64 by that.
  const datasets::Gpu& counted = question.catalog.gpus[*reference];
  const double ratio = w.requirements().fp64()
                           ? gpu.fp64_tflops / counted.fp64_tflops
                           : gpu.bf16_dense_tflops / counted.bf16_dense_tflops;
  fit.gpu_hours_month = batch.gpu_hours_month() / ratio;
  fit.hours_per_job = fit.gpu_hours_month / batch.jobs_month() / batch.gang_gpus();
  if (fit.hours_per_job > batch.deadline_hours()) {
    fit.why_not = fmt::format("a job takes {:.0f} h on {} {}, the deadline is {:.0f} h",
                              fit.hours_per_job, batch.gang_gpus(), gpu.id,
                              batch.deadline_hours());
    return fit;
  }
  const double busy = fit.gpu_hours_month / batch.gang_gpus() / kHoursPerMonth;
  fit.gangs = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(busy)));
  const std::int64_t gang = rented_gpus(1, batch.gang_gpus(), offer.shape_gpus);
  fit.gpus = fit.gangs * gang;
  if (offer.stock_gpus && fit.gpus > *offer.stock_gpus) {
    fit.why_not = fmt::format("needs {} {}, {} are available", fit.gpus, gpu.id,
                              *offer.stock_gpus);
    return fit;
  }
  fit.fits = true;
  if (offer.term == "on_demand" || offer.term == "spot") {
    // Jobs end and give their GPUs back: hours used, whole shapes.
    const std::int64_t used = static_cast<std::int64_t>(
        std::ceil(fit.hours_per_job * batch.jobs_month() * static_cast<double>(gang)));
    fit.bill_month = MicroUsd::of(used * offer.price.count());
    fit.arithmetic = fmt::format("{} jobs x {:.1f} h x {} GPUs = {} GPU-h x ${:.4f}",
                                 batch.jobs_month(), fit.hours_per_job, gang, used,
                                 static_cast<double>(offer.price.count()) / 1e6);
  } else {
    fit.bill_month = offer.bill_gpu_month * fit.gpus;
    fit.extra_month = offer.extra_gpu_month * fit.gpus;
    fit.arithmetic =
        fmt::format("{} GPUs x {} per month", fit.gpus, to_text(offer.bill_gpu_month));
  }
  return fit;
}

}  // namespace isochrone::place
