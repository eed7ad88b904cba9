#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "place/planner/assembly.h"
#include "place/planner/seal.h"
#include "place/planner/valleys.h"

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

namespace {

/// What the certificate pays for the users of an entry: each block served, and their
/// part of each priced cut of losses.
std::int64_t paid_for(const plan::Plan& plan, const std::string& entry) {
  __extension__ using Wide = __int128;
  constexpr int kNanosPerMicro = 1000;
  Wide nanos = 0;
  for (const plan::Certificate::Price& price : plan.certificate().prices()) {
    if (price.demand() != entry || price.metro().empty()) continue;
    for (const std::int64_t paid : price.usd_micro())
      nanos += Wide{paid} * kNanosPerMicro;
  }
  for (const plan::Certificate::Row& row : plan.certificate().rows()) {
    for (const std::uint32_t d : row.demands()) {
      if (d >= static_cast<std::uint32_t>(plan.populations_size())) continue;
      const plan::Population& users = plan.populations(static_cast<int>(d));
      if (users.demand() != entry) continue;
      nanos += Wide{row.multiplier()} * users.load(static_cast<int>(row.block()));
    }
  }
  return static_cast<std::int64_t>(nanos / kNanosPerMicro);
}

}  // namespace

void add_coverage(const Assembly& a, plan::Plan& plan) {
  for (int e = 0; e < a.question.scenario.spec.demand_size(); ++e) {
    const spec::Demand& entry = a.question.entry(static_cast<std::size_t>(e));
    if (!entry.has_coverage() || entry.coverage() >= 1) continue;
    plan::Coverage& row = *plan.add_coverage();
    row.set_demand(entry.name());
    row.set_least(entry.coverage());
    row.set_usd_micro_per_user_left_out(usd(entry.unserved_usd_user_month()).count());
    for (const plan::Population& p : plan.populations()) {
      if (p.demand() == entry.name()) row.set_users(row.users() + p.users());
    }
    for (const plan::Unserved& left : plan.unserved()) {
      if (left.demand() != entry.name()) continue;
      row.set_users_left_out(row.users_left_out() + left.users());
      row.set_left_out_usd_micro(row.left_out_usd_micro() + left.usd_micro());
    }
    row.set_serving_usd_micro(paid_for(plan, entry.name()));
  }
}

namespace {

/// The search and its bound rent GPUs for all jobs. A plan that fills valleys costs at
/// least the bound without what it pays for jobs, and at least one pool that holds
/// some.
std::int64_t bound_with_valleys(const Assembly& a) {
  const auto host = least_host(a.question, a.built);
  if (!host) return a.solution.bound;
  std::int64_t without_jobs = a.solution.bound;
  const std::size_t populations = a.question.demand.populations.size();
  for (std::size_t j = 0; j < a.built.batch_workloads.size(); ++j) {
    std::int64_t paid = 0;
    for (const auto& block : a.solution.certificate.price) {
      paid += block[populations + j];
    }
    without_jobs -= std::max<std::int64_t>(0, paid);
  }
  return std::min(a.solution.bound, std::max(without_jobs, *host));
}

}  // namespace

void add_bound(const Assembly& a, plan::Plan& plan) {
  plan::Bound& bound = *plan.mutable_bound();
  const std::int64_t objective = plan.totals().objective_usd_micro();
  bound.set_objective_usd_micro(bound_with_valleys(a));
  const std::int64_t gap = objective - bound.objective_usd_micro();
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
