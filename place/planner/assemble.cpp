#include "place/planner/assemble.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "place/planner/assembly.h"
#include "place/planner/best_effort.h"
#include "place/planner/valleys.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateSite;
using scenarios::Offer;
using scenarios::Population;

class Assembler {
 public:
  Assembler(const Question& question, const std::vector<Serving>& servings,
            const BuiltInstance& built, const Filled& filled)
      : a_{question, servings, built, filled.solution}, valleys_(filled.valleys) {}

  plan::Plan assemble() {
    add_head();
    add_populations(a_, plan_);
    add_tables(a_, plan_);
    add_sites();
    add_pools();
    add_valleys();
    add_assignments();
    add_unserved();
    add_law(a_, plan_);
    add_certificate(a_, plan_);
    add_coverage(a_, plan_);
    write_bill(a_.question, plan_);
    add_bound(a_, plan_);
    add_repairs(a_, plan_);
    add_notes(a_, plan_);
    return std::move(plan_);
  }

 private:
  void add_head() {
    plan_.set_format(1);
    plan_.set_scenario(a_.question.scenario.spec.name());
    plan_.set_scenario_normalised(a_.question.scenario.normalised);
    plan_.set_status("planned");
    plan_.set_reproducible(true);
    plan::Provenance& provenance = *plan_.mutable_provenance();
    provenance.set_release(ISOCHRONE_VERSION);
    provenance.set_seed(scenarios::seed(a_.question.scenario));
    provenance.set_start("cold");
    provenance.set_scenario_hash(a_.question.scenario.hash);
    provenance.set_datasets_hash(a_.question.catalog.hash);
  }

  void add_sites() {
    std::set<std::size_t> open;
    for (const Choice& choice : a_.solution.choices)
      open.insert(a_.meaning_of(choice).site);
    for (const std::size_t s : open) {  // candidates are sorted by id
      const CandidateSite& site = a_.question.site(s);
      plan_site_[s] = static_cast<std::uint32_t>(plan_.sites_size());
      plan::Site& row = *plan_.add_sites();
      row.set_name(site.id);
      row.set_provider(site.provider);
      row.set_site_class(datasets::to_text(site.site_class));
      row.set_location(site.location);
      row.set_city(site.endpoint.name);
      row.set_country(site.endpoint.country.text());
      row.set_lat(site.endpoint.at.lat);
      row.set_lon(site.endpoint.at.lon);
      row.set_fixed_usd_micro(site.fixed_month.count());
    }
  }

  void add_pools() {
    std::vector<std::size_t> order(a_.solution.choices.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) {
      const OptionMeaning& meaning = a_.meaning_of(a_.solution.choices[i]);
      return std::pair(meaning.site, meaning.workload);
    });
    plan_pool_.assign(order.size(), 0);
    for (const std::size_t i : order) {
      plan_pool_[i] = static_cast<std::uint32_t>(plan_.pools_size());
      add_pool(a_.solution.choices[i], *plan_.add_pools());
    }
  }

  void add_pool(const Choice& choice, plan::Pool& pool) const {
    const OptionMeaning& meaning = a_.meaning_of(choice);
    const Option& option = a_.option_of(choice);
    const Offer& offer = a_.question.site(meaning.site).offers[meaning.offer];
    const auto size = static_cast<std::size_t>(choice.replicas - 1);
    pool.set_site(plan_site_.at(meaning.site));
    pool.set_workload(a_.question.workload(meaning.workload).name());
    pool.set_gpu(a_.question.catalog.gpus[offer.gpu].id);
    pool.set_shape_gpus(offer.shape_gpus);
    pool.set_term(offer.term);
    pool.set_price_basis(scenarios::to_text(offer.basis));
    pool.set_usd_micro_per_gpu_hour(offer.price.count());
    pool.set_bill_usd_micro_per_gpu_month(offer.bill_gpu_month.count());
    pool.set_extra_usd_micro_per_gpu_month(offer.extra_gpu_month.count());
    pool.set_gpus(option.gpus[size]);
    pool.set_price_source(offer.source);
    pool.set_price_as_of(offer.as_of);
    pool.set_lead_time_days(offer.lead_time_days);
    pool.set_available_gpus(offer.stock_gpus.value_or(-1));
    if (meaning.batch) {
      const BatchFit fit = fit_batch(a_.question, meaning.workload, offer);
      pool.set_profile("batch");
      pool.set_tensor_parallel(
          a_.question.workload(meaning.workload).batch().gang_gpus());
      pool.set_replicas(fit.gangs);
      return;
    }
    const Serving& serving = a_.serving_of(meaning.workload);
    const LevelTable& level = serving.levels[meaning.level];
    const ServingOption& how = serving.options[level.option];
    pool.set_profile(how.profile);
    pool.set_tensor_parallel(meaning.gpus_per_replica);
    pool.set_precision(how.precision);
    pool.set_step_error_pct(how.step_error_pct);
    pool.set_replicas(choice.replicas);
    pool.set_max_num_seqs(level.max_num_seqs);
    pool.set_wait_budget_ms(level.wait_budget_ms);
    pool.set_capacity(option.capacity[size]);
    pool.set_degraded_capacity(option.degraded_capacity[size]);
    pool.set_table(a_.table_of(meaning.workload, meaning.level));
  }

  void add_valleys() {
    for (const Filled::Valley& valley : valleys_) {
      plan::Valley& row = *plan_.add_valleys();
      row = valley.row;
      row.set_pool(plan_pool_[static_cast<std::size_t>(valley.host)]);
    }
  }

  void add_assignments() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < a_.solution.flows.size(); ++i) {
      const auto d = static_cast<std::size_t>(a_.solution.flows[i].demand);
      if (d < a_.question.demand.populations.size()) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](std::size_t i) {
      const Flow& flow = a_.solution.flows[i];
      return std::pair(flow.demand, plan_pool_[static_cast<std::size_t>(flow.choice)]);
    });
    std::vector<std::array<std::int64_t, scenarios::kBlocks>> carried(
        static_cast<std::size_t>(plan_.pools_size()));
    for (const std::size_t i : order) add_assignment(a_.solution.flows[i], carried);
    for (int p = 0; p < plan_.pools_size(); ++p) {
      plan::Pool& pool = *plan_.mutable_pools(p);
      if (pool.capacity() == 0) continue;
      const auto& loads = carried[static_cast<std::size_t>(p)];
      pool.set_peak_utilisation(static_cast<double>(*std::ranges::max_element(loads)) /
                                static_cast<double>(pool.capacity()));
    }
  }

  void add_assignment(
      const Flow& flow,
      std::vector<std::array<std::int64_t, scenarios::kBlocks>>& carried) {
    const Choice& choice = a_.solution.choices[static_cast<std::size_t>(flow.choice)];
    const OptionMeaning& meaning = a_.meaning_of(choice);
    const auto d = static_cast<std::size_t>(flow.demand);
    const Population& p = a_.question.population(d);
    const Serving& serving = a_.serving_of(meaning.workload);
    const std::pair key(p.entry, p.endpoint.country);
    const geo::RttEntry& rtt = a_.question.rtts.at(d, meaning.site);
    plan::Assignment& row = *plan_.add_assignments();
    row.set_demand(a_.question.entry(p.entry).name());
    row.set_metro(p.metro);
    row.set_country(p.endpoint.country.text());
    row.set_pool(plan_pool_[static_cast<std::size_t>(flow.choice)]);
    row.set_rtt_us(rtt.rtt.count());
    row.set_rtt_basis(rtt.basis == geo::RttBasis::kMeasured    ? "measured"
                      : rtt.basis == geo::RttBasis::kSatellite ? "satellite"
                                                               : "modelled");
    if (a_.built.best_effort[d]) {
      const Micros reach = best_effort_reach(a_.question, d);
      row.set_reach_us(reach.count());
      row.set_degraded_reach_us(kUnlimitedReach.count());
    } else {
      row.set_reach_us(reach_us(serving.reach[meaning.level], key));
      row.set_degraded_reach_us(reach_us(serving.degraded_reach[meaning.level], key));
    }
    for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
      const std::int64_t share = flow.ppb[block];
      row.add_share_ppb(static_cast<std::uint32_t>(share));
      __extension__ using Wide = __int128;
      carried[row.pool()][block] += static_cast<std::int64_t>(
          (static_cast<Wide>(p.load[block].count()) * share + 999'999'999) /
          1'000'000'000);
    }
  }

  void add_unserved() {
    for (std::size_t d = 0; d < a_.question.demand.populations.size(); ++d) {
      if (a_.solution.unserved_ppb.empty() || a_.solution.unserved_ppb[d] == 0)
        continue;
      const Population& p = a_.question.population(d);
      const double share = static_cast<double>(a_.solution.unserved_ppb[d]) / 1e9;
      plan::Unserved& row = *plan_.add_unserved();
      row.set_demand(a_.question.entry(p.entry).name());
      row.set_metro(p.metro);
      row.set_share_ppb(static_cast<std::uint32_t>(a_.solution.unserved_ppb[d]));
      row.set_users(p.users * share);
      row.set_usd_micro(unserved_cost(d));
      row.set_because(any_arc(d) ? "cheaper to leave out, within `coverage`"
                                 : "no site is within reach");
    }
  }

  std::int64_t unserved_cost(std::size_t d) const {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(
        (static_cast<Wide>(a_.built.instance.demands[d].unserved_cost) *
             a_.solution.unserved_ppb[d] +
         999'999'999) /
        1'000'000'000);
  }

  /// By day: a loss widens the reach of its pools, but opens no site to anybody.
  bool any_arc(std::size_t d) const {
    const int commodity = a_.built.instance.demands[d].commodity;
    return std::ranges::any_of(a_.built.instance.sites, [&](const place::Site& site) {
      return std::ranges::any_of(site.options, [&](const Option& option) {
        const auto& bits = site.reach[static_cast<std::size_t>(option.reach_class)];
        return option.commodity == commodity && (bits[d / 64] >> (d % 64) & 1U) != 0;
      });
    });
  }

  const Assembly a_;
  const std::vector<Filled::Valley>& valleys_;
  plan::Plan plan_;
  std::map<std::size_t, std::uint32_t> plan_site_;
  std::vector<std::uint32_t> plan_pool_;
};

}  // namespace

plan::Plan assemble_plan(const Question& question, const std::vector<Serving>& servings,
                         const BuiltInstance& built, const Solution& solution) {
  const Filled filled = fill_valleys({question, servings, built, solution});
  return Assembler(question, servings, built, filled).assemble();
}

std::string objective_name(const sim::Objective& objective) {
  using Metric = sim::Objective::Metric;
  const char* metric = objective.metric == Metric::kTtft   ? "ttft"
                       : objective.metric == Metric::kTpot ? "tpot"
                                                           : "e2e";
  return fmt::format("{}_p{:g}_ms", metric, objective.percentile);
}

}  // namespace isochrone::place
