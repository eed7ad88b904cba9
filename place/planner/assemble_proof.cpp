#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "place/planner/assembly.h"
#include "place/planner/seal.h"

namespace isochrone::place {

void add_certificate(const Assembly& a, plan::Plan& plan) {
  plan::Certificate& certificate = *plan.mutable_certificate();
  const std::size_t populations = a.question.demand.populations.size();
  for (std::size_t d = 0; d < a.built.instance.demands.size(); ++d) {
    plan::Certificate::Price& price = *certificate.add_prices();
    if (d < populations) {
      price.set_demand(a.question.entry(a.question.population(d).entry).name());
      price.set_metro(a.question.population(d).metro);
    } else {
      price.set_demand(
          a.question.workload(a.built.batch_workloads[d - populations]).name());
    }
    for (const auto& block : a.solution.certificate.price) {
      price.add_usd_micro(block[d]);
    }
  }
  for (const auto& priced : a.solution.certificate.rows) {
    plan::Certificate::Row& row = *certificate.add_rows();
    if (priced.row.element != kAnyLoss) {
      row.set_element(a.built.elements[static_cast<std::size_t>(priced.row.element)]);
    }
    row.set_block(static_cast<std::uint32_t>(priced.row.block));
    for (const int d : priced.row.demands) {
      row.add_demands(static_cast<std::uint32_t>(d));
    }
    row.set_need(priced.row.need);
    row.set_multiplier(priced.multiplier);
  }
  seal(certificate);
}

void add_bound(const Assembly& a, plan::Plan& plan) {
  plan::Bound& bound = *plan.mutable_bound();
  const std::int64_t objective = plan.totals().objective_usd_micro();
  bound.set_objective_usd_micro(a.solution.bound);
  const std::int64_t gap = objective - a.solution.bound;
  if (objective > 0) {
    bound.set_gap_ppm(static_cast<std::int64_t>(static_cast<double>(gap) /
                                                static_cast<double>(objective) * 1e6));
  }
  double cheapest = 0;
  for (const plan::Pool& pool : plan.pools()) {
    if (pool.profile() == "batch") continue;
    const double replica = static_cast<double>(pool.bill_usd_micro_per_gpu_month() +
                                               pool.extra_usd_micro_per_gpu_month()) *
                           pool.tensor_parallel();
    if (cheapest == 0 || replica < cheapest) cheapest = replica;
  }
  if (cheapest > 0) bound.set_gap_replicas(static_cast<double>(gap) / cheapest);
  bound.set_refers_to(
      "cost under these capacity tables, loads enveloped over the days of the "
      "horizon, every arc within its reach alone; limits on stock, provider share and "
      "budget relaxed");
}

}  // namespace isochrone::place
