#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "place/verify/batch_need.h"
#include "place/verify/checks.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::Offer;

class PoolCheck {
 public:
  PoolCheck(const Facts& facts, Faults& faults, int index)
      : facts_(facts),
        faults_(faults),
        pool_(facts.plan.pools(index)),
        where_(fmt::format("pools[{}]", index)) {}

  void run() {
    const CandidateSite* site = facts_.site_of(pool_);
    const spec::Workload* workload = facts_.workload(pool_.workload());
    if (site == nullptr) {
      faults_.add(at("site"), "it names no candidate");
      return;
    }
    if (workload == nullptr) {
      faults_.add(at("workload"),
                  fmt::format("the scenario has no workload \"{}\"", pool_.workload()));
      return;
    }
    check_offer(*site, *workload);
    if (workload->kind() == "batch") {
      check_batch(*workload);
      if (!facts_.batch_lawful(*facts_.workload_index(pool_.workload()), *site)) {
        faults_.add(where_, fmt::format("its data may not be processed in {}",
                                        site->endpoint.country.text()));
      }
      return;
    }
    check_size();
    check_profile(*workload);
    check_level();
  }

 private:
  std::string at(const char* field) const { return where_ + "." + field; }

  void check_offer(const CandidateSite& site, const spec::Workload& workload) {
    const auto gpu_id = facts_.catalog.gpu(pool_.gpu());
    const auto offer = std::ranges::find_if(site.offers, [&](const Offer& o) {
      return gpu_id && o.gpu == *gpu_id && o.shape_gpus == pool_.shape_gpus() &&
             o.term == pool_.term();
    });
    if (offer == site.offers.end()) {
      faults_.add(at("gpu"),
                  fmt::format("{} offers no {} in groups of {} on terms of \"{}\"",
                              site.id, pool_.gpu(), pool_.shape_gpus(), pool_.term()));
      return;
    }
    faults_.equal(at("price_basis"), pool_.price_basis(),
                  scenarios::to_text(offer->basis));
    faults_.equal(at("usd_micro_per_gpu_hour"), pool_.usd_micro_per_gpu_hour(),
                  offer->price.count());
    faults_.equal(at("bill_usd_micro_per_gpu_month"),
                  pool_.bill_usd_micro_per_gpu_month(), offer->bill_gpu_month.count());
    faults_.equal(at("extra_usd_micro_per_gpu_month"),
                  pool_.extra_usd_micro_per_gpu_month(),
                  offer->extra_gpu_month.count());
    faults_.equal(at("price_source"), pool_.price_source(), offer->source);
    faults_.equal(at("price_as_of"), pool_.price_as_of(), offer->as_of);
    faults_.equal(at("available_gpus"), pool_.available_gpus(),
                  offer->stock_gpus.value_or(-1));
    faults_.equal(at("lead_time_days"), pool_.lead_time_days(), offer->lead_time_days);
    const std::int64_t ready = days_to_ready(facts_.scenario);
    if (offer->lead_time_days > ready) {
      faults_.add(at("lead_time_days"),
                  fmt::format("{} days, the plan must stand after {}",
                              offer->lead_time_days, ready));
    }
    const std::string lack =
        lacking(workload.requirements(), facts_.catalog.gpus[*gpu_id], *offer);
    if (!lack.empty()) {
      faults_.add(at("gpu"), fmt::format("{} has {}", pool_.gpu(), lack));
    }
  }

  void check_size() {
    if (pool_.replicas() <= 0) faults_.add(at("replicas"), "there is none");
    if (pool_.tensor_parallel() <= 0 || pool_.shape_gpus() <= 0) {
      faults_.add(at("tensor_parallel"), "groups of no GPU");
      return;
    }
    const std::int64_t shape = pool_.shape_gpus();
    const std::int64_t should =
        whole_groups(pool_.replicas() * pool_.tensor_parallel(), shape);
    if (pool_.tensor_parallel() > shape) {
      faults_.add(at("tensor_parallel"),
                  fmt::format("a replica of {} GPUs in groups of {} that share no node",
                              pool_.tensor_parallel(), shape));
    }
    if (pool_.gpus() != should) {
      faults_.add(
          at("gpus"),
          fmt::format("{} rented, {} replicas of {} GPUs in groups of {} need {}",
                      pool_.gpus(), pool_.replicas(), pool_.tensor_parallel(), shape,
                      should));
    }
  }

  /// Gangs side by side, each in whole groups; what a job costs is checked in the bill.
  void check_batch(const spec::Workload& workload) {
    const spec::Batch& batch = workload.batch();
    faults_.equal(at("profile"), pool_.profile(), "batch");
    faults_.equal(at("precision"), pool_.precision(), "");
    faults_.equal(at("tensor_parallel"), pool_.tensor_parallel(), batch.gang_gpus());
    const auto gpu = facts_.catalog.gpu(pool_.gpu());
    const auto reference = facts_.catalog.gpu(batch.reference_gpu());
    if (!gpu || !reference) return;
    const BatchNeed need =
        batch_need(facts_.catalog, workload, *gpu, pool_.shape_gpus());
    faults_.equal(at("replicas"), pool_.replicas(), need.gangs);
    faults_.equal(at("gpus"), pool_.gpus(), need.gpus);
    if (need.hours_per_job > batch.deadline_hours()) {
      faults_.add(at("gpu"), fmt::format("a job takes {:.1f} h, its deadline is {:g} h",
                                         need.hours_per_job, batch.deadline_hours()));
    }
    for (const char* field : {"max_num_seqs", "capacity", "degraded_capacity"}) {
      const auto* known = plan::Pool::descriptor()->FindFieldByName(field);
      faults_.equal(at(field), pool_.GetReflection()->GetInt64(pool_, known), 0);
    }
    faults_.equal(at("wait_budget_ms"), pool_.wait_budget_ms(), 0.0);
    faults_.equal(at("step_error_pct"), pool_.step_error_pct(), 0.0);
    faults_.equal(at("peak_utilisation"), pool_.peak_utilisation(), 0.0);
    faults_.equal(at("table"), pool_.table(), 0U);
  }

  void check_profile(const spec::Workload& workload) {
    const plan::Table* table = facts_.table(pool_);
    if (table == nullptr) {
      faults_.add(at("table"), "there is no such table");
      return;
    }
    if (workload.kind() == "service" || workload.has_rate()) {
      const std::string kind = workload.kind() == "service" ? "service" : "rate";
      faults_.equal(at("profile"), pool_.profile(), kind + "/" + pool_.gpu());
      faults_.equal(at("tensor_parallel"), pool_.tensor_parallel(), 1);
      faults_.equal(at("precision"), pool_.precision(), "");
      faults_.equal(at("step_error_pct"), pool_.step_error_pct(), 0.0);
      return;
    }
    check_step_profile(workload);
  }

  void check_step_profile(const spec::Workload& workload) {
    const auto profile = std::ranges::find(facts_.catalog.profiles, pool_.profile(),
                                           &datasets::StepProfile::id);
    if (profile == facts_.catalog.profiles.end()) {
      faults_.add(at("profile"),
                  fmt::format("there is no profile \"{}\"", pool_.profile()));
      return;
    }
    faults_.equal(at("gpu"), pool_.gpu(), facts_.catalog.gpus[profile->gpu].id);
    faults_.equal(at("tensor_parallel"), pool_.tensor_parallel(),
                  profile->tensor_parallel);
    faults_.equal(at("precision"), pool_.precision(), profile->precision);
    faults_.equal(at("step_error_pct"), pool_.step_error_pct(), profile->error_pct);
    std::string model = workload.model();
    for (const spec::Model& own : facts_.scenario.spec.models()) {
      if (own.name() == model) model = own.like();
    }
    faults_.equal(at("profile"), facts_.catalog.models[profile->model].id, model);
    if (workload.has_precision() && workload.precision() != profile->precision) {
      faults_.add(at("precision"),
                  fmt::format("the workload runs in {}", workload.precision()));
    }
    const bool fp8_known = std::ranges::any_of(
        facts_.catalog.profiles, [&](const datasets::StepProfile& other) {
          return other.model == profile->model && other.gpu == profile->gpu &&
                 other.precision == "fp8";
        });
    if (!workload.has_precision() && fp8_known && profile->precision != "fp8") {
      faults_.add(at("precision"), "fp8 has a profile on this GPU and is the default");
    }
    const auto& allowed = workload.tensor_parallel();
    if (!allowed.empty() &&
        std::ranges::find(allowed, profile->tensor_parallel) == allowed.end()) {
      faults_.add(at("tensor_parallel"), "the workload does not allow it");
    }
  }

  /// The table belongs to the pool and gives its capacity.
  void check_level() {
    const plan::Table* table = facts_.table(pool_);
    if (table == nullptr) return;
    faults_.equal(at("workload"), pool_.workload(), table->workload());
    faults_.equal(at("profile"), pool_.profile(), table->profile());
    faults_.equal(at("gpu"), pool_.gpu(), table->gpu());
    faults_.equal(at("max_num_seqs"), pool_.max_num_seqs(), table->max_num_seqs());
    faults_.equal(at("wait_budget_ms"), pool_.wait_budget_ms(),
                  table->wait_budget_ms());
    check_capacity("capacity", pool_.capacity(),
                   carried(*table, pool_.replicas(), false));
    check_capacity("degraded_capacity", pool_.degraded_capacity(),
                   carried(*table, pool_.replicas(), true));
  }

  /// A unit of rounding is left to whoever interpolates in doubles.
  void check_capacity(const char* field, std::int64_t claimed, std::int64_t should) {
    if (std::abs(claimed - should) <= 1) return;
    faults_.add(at(field), fmt::format("{} micro-rps, its table gives {} replicas {}",
                                       claimed, pool_.replicas(), should));
  }

  const Facts& facts_;
  Faults& faults_;
  const plan::Pool& pool_;
  std::string where_;
};

/// Stock is of GPUs at a site: shapes, terms and workloads draw on the same.
void check_stock(const Facts& facts, Faults& faults) {
  std::map<std::pair<std::uint32_t, std::string>, std::int64_t> rented;
  for (const plan::Pool& pool : facts.plan.pools()) {
    rented[{pool.site(), pool.gpu()}] += pool.gpus();
  }
  for (const auto& [key, gpus] : rented) {
    if (key.first >= static_cast<std::uint32_t>(facts.plan.sites_size())) continue;
    const std::string& name = facts.plan.sites(static_cast<int>(key.first)).name();
    const CandidateSite* site = facts.candidate(name);
    if (site == nullptr) continue;
    std::optional<std::int64_t> stock;
    for (const Offer& offer : site->offers) {
      if (facts.catalog.gpus[offer.gpu].id != key.second || !offer.stock_gpus) continue;
      stock = std::max(stock.value_or(0), *offer.stock_gpus);
    }
    if (stock && gpus > *stock) {
      faults.add("pools.gpus", fmt::format("{} {} at {}, there are {}", gpus,
                                           key.second, name, *stock));
    }
  }
}

/// A batch workload runs at one site, whole: on GPUs of its own or in valleys.
void check_batch_served(const Facts& facts, Faults& faults) {
  if (facts.plan.status() != "planned" && facts.plan.status() != "interrupted") return;
  for (const spec::Workload& workload : facts.scenario.spec.workloads()) {
    if (workload.kind() != "batch") continue;
    const auto pools =
        std::ranges::count(facts.plan.pools(), workload.name(), &plan::Pool::workload) +
        std::ranges::count(facts.plan.valleys(), workload.name(),
                           &plan::Valley::workload);
    if (pools != 1) {
      faults.add("pools.workload", fmt::format("\"{}\" runs in {} pools, not in one",
                                               workload.name(), pools));
    }
  }
}

}  // namespace

void check_pools(const Facts& facts, Faults& faults) {
  std::set<std::pair<std::uint32_t, std::string>> seen;
  for (int i = 0; i < facts.plan.pools_size(); ++i) {
    PoolCheck(facts, faults, i).run();
    const plan::Pool& pool = facts.plan.pools(i);
    if (!seen.insert({pool.site(), pool.workload()}).second) {
      faults.add(fmt::format("pools[{}]", i),
                 "a second pool of its workload at its site");
    }
  }
  check_stock(facts, faults);
  check_batch_served(facts, faults);
}

}  // namespace isochrone::verify
