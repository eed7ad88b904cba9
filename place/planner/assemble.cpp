#include "place/planner/assemble.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/hash.h"
#include "place/planner/best_effort.h"
#include "place/planner/seal.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateId;
using scenarios::CandidateSite;
using scenarios::Offer;
using scenarios::Population;
using scenarios::PopulationId;

class Assembler {
 public:
  Assembler(const Question& question, const std::vector<Serving>& servings,
            const BuiltInstance& built, const Solution& solution)
      : question_(question), servings_(servings), built_(built), solution_(solution) {}

  plan::Plan assemble() {
    add_head();
    add_populations();
    add_tables();
    add_sites();
    add_pools();
    add_assignments();
    add_unserved();
    add_law();
    add_certificate();
    write_bill(question_, plan_);
    add_bound();
    add_notes();
    return std::move(plan_);
  }

 private:
  const OptionMeaning& meaning_of(const Choice& choice) const {
    return built_.meaning[option_of(choice).label];
  }
  const Option& option_of(const Choice& choice) const {
    return built_.instance.sites[static_cast<std::size_t>(choice.site)]
        .options[static_cast<std::size_t>(choice.option)];
  }
  const CandidateSite& site_of(std::size_t index) const {
    return question_.candidates.sites[CandidateId{static_cast<std::uint32_t>(index)}];
  }
  const Population& population(std::size_t index) const {
    return question_.demand
        .populations[PopulationId{static_cast<std::uint32_t>(index)}];
  }
  std::size_t table_base(std::size_t workload) const {
    std::size_t base = 0;
    for (const Serving& serving : servings_) {
      if (serving.workload == workload) return base;
      base += serving.levels.size();
    }
    return base;
  }

  void add_head() {
    plan_.set_format(1);
    plan_.set_scenario(question_.scenario.spec.name());
    plan_.set_scenario_normalised(question_.scenario.normalised);
    plan_.set_status("planned");
    plan_.set_reproducible(true);
    plan::Provenance& provenance = *plan_.mutable_provenance();
    provenance.set_release(ISOCHRONE_VERSION);
    provenance.set_seed(scenarios::seed(question_.scenario));
    provenance.set_start("cold");
    provenance.set_scenario_hash(question_.scenario.hash);
    provenance.set_datasets_hash(question_.catalog.hash);
  }

  void add_populations() {
    std::size_t next = 0;
    for (const Population& p : question_.demand.populations) {
      plan::Population& row = *plan_.add_populations();
      row.set_best_effort(built_.best_effort[next++]);
      row.set_demand(question_.entry(p.entry).name());
      row.set_workload(question_.workload(p.workload).name());
      row.set_metro(p.metro);
      row.set_country(p.endpoint.country.text());
      row.set_region(question_.demand.regions[p.region].name);
      row.set_lat(p.endpoint.at.lat);
      row.set_lon(p.endpoint.at.lon);
      row.set_users(p.users);
      for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
        row.add_load(p.load[block].count());
        row.add_requests_month(p.requests_month[block]);
      }
    }
  }

  void add_tables() {
    std::string bytes;
    for (const Serving& serving : servings_) {
      for (std::size_t l = 0; l < serving.levels.size(); ++l) {
        add_table(serving, l, *plan_.add_tables());
        seal(*plan_.mutable_tables(plan_.tables_size() - 1));
        bytes += plan_.tables(plan_.tables_size() - 1).SerializeAsString();
      }
    }
    plan_.mutable_provenance()->set_tables_hash(sha256(bytes));
  }

  void add_table(const Serving& serving, std::size_t l, plan::Table& table) const {
    const LevelTable& level = serving.levels[l];
    const ServingOption& option = serving.options[level.option];
    table.set_workload(question_.workload(serving.workload).name());
    table.set_profile(option.profile);
    table.set_gpu(question_.catalog.gpus[option.gpu].id);
    table.set_max_num_seqs(level.max_num_seqs);
    table.set_wait_budget_ms(level.wait_budget_ms);
    table.set_degraded_wait_budget_ms(level.degraded_wait_budget_ms);
    table.set_wait_share(level.wait_share);
    table.set_front_end_ms(static_cast<double>(option.front_end.count()) / 1e6);
    for (std::size_t i = 0; i < level.capacity.size(); ++i) {
      table.add_replicas(kSupport[i]);
      table.add_capacity(level.capacity[i].count());
      table.add_degraded_capacity(level.degraded_capacity[i].count());
      table.add_correction(level.correction[i]);
    }
    for (std::size_t i = 0; i < level.law.first_token.size(); ++i) {
      table.add_probability(sim::service_grid()[i]);
      table.add_first_token_ns(level.law.first_token[i].count());
      table.add_last_token_ns(level.law.last_token[i].count());
      if (i < level.law.tpot.size()) table.add_tpot_ns(level.law.tpot[i].count());
    }
    for (std::size_t i = 0; i < level.occupancy.size(); ++i) {
      table.add_occupancy(level.occupancy[i]);
      table.add_residence_s(level.residence_s[i]);
    }
    table.set_rests_on(option.rests_on);
    std::set<std::pair<std::size_t, geo::CountryCode>> users;
    for (const auto& [key, rtt] : serving.reach[l]) users.insert(key);
    for (const auto& [key, rtt] : serving.degraded_reach[l]) users.insert(key);
    for (const auto& key : users) {
      plan::Reach& reach = *table.add_reach();
      reach.set_demand(question_.entry(key.first).name());
      reach.set_country(key.second.text());
      reach.set_rtt_us(reached(serving.reach[l], key));
      reach.set_degraded_rtt_us(reached(serving.degraded_reach[l], key));
    }
  }

  /// -1: not even at distance zero.
  static std::int64_t reached(const Serving::Reached& reach,
                              const std::pair<std::size_t, geo::CountryCode>& key) {
    const auto it = reach.find(key);
    return it == reach.end() ? -1 : it->second.count();
  }

  void add_sites() {
    std::set<std::size_t> open;
    for (const Choice& choice : solution_.choices) open.insert(meaning_of(choice).site);
    for (const std::size_t s : open) {  // candidates are sorted by id
      const CandidateSite& site = site_of(s);
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
    std::vector<std::size_t> order(solution_.choices.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) {
      const OptionMeaning& meaning = meaning_of(solution_.choices[i]);
      return std::pair(meaning.site, meaning.workload);
    });
    plan_pool_.assign(order.size(), 0);
    for (const std::size_t i : order) {
      plan_pool_[i] = static_cast<std::uint32_t>(plan_.pools_size());
      add_pool(solution_.choices[i], *plan_.add_pools());
    }
  }

  void add_pool(const Choice& choice, plan::Pool& pool) const {
    const OptionMeaning& meaning = meaning_of(choice);
    const Option& option = option_of(choice);
    const Offer& offer = site_of(meaning.site).offers[meaning.offer];
    const auto size = static_cast<std::size_t>(choice.replicas - 1);
    pool.set_site(plan_site_.at(meaning.site));
    pool.set_workload(question_.workload(meaning.workload).name());
    pool.set_gpu(question_.catalog.gpus[offer.gpu].id);
    pool.set_shape_gpus(offer.shape_gpus);
    pool.set_term(offer.term);
    pool.set_price_basis(scenarios::to_text(offer.basis));
    pool.set_usd_micro_per_gpu_hour(offer.price.count());
    pool.set_bill_usd_micro_per_gpu_month(offer.bill_gpu_month.count());
    pool.set_extra_usd_micro_per_gpu_month(offer.extra_gpu_month.count());
    pool.set_gpus(option.gpus[size]);
    pool.set_price_source(offer.source);
    pool.set_lead_time_days(offer.lead_time_days);
    pool.set_available_gpus(offer.stock_gpus.value_or(-1));
    if (meaning.batch) {
      const BatchFit fit = fit_batch(question_, meaning.workload, offer);
      pool.set_profile("batch");
      pool.set_tensor_parallel(
          question_.workload(meaning.workload).batch().gang_gpus());
      pool.set_replicas(fit.gangs);
      return;
    }
    const Serving& serving = serving_of(meaning.workload);
    const LevelTable& level = serving.levels[meaning.level];
    const ServingOption& how = serving.options[level.option];
    pool.set_profile(how.profile);
    pool.set_tensor_parallel(meaning.gpus_per_replica);
    pool.set_precision(how.precision);
    pool.set_replicas(choice.replicas);
    pool.set_max_num_seqs(level.max_num_seqs);
    pool.set_wait_budget_ms(level.wait_budget_ms);
    pool.set_capacity(option.capacity[size]);
    pool.set_degraded_capacity(option.degraded_capacity[size]);
    pool.set_table(
        static_cast<std::uint32_t>(table_base(meaning.workload) + meaning.level));
  }

  const Serving& serving_of(std::size_t workload) const {
    const auto it = std::ranges::find(servings_, workload, &Serving::workload);
    INVARIANT(it != servings_.end(), "a pool of a workload that is not served");
    return *it;
  }

  void add_assignments() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < solution_.flows.size(); ++i) {
      const auto d = static_cast<std::size_t>(solution_.flows[i].demand);
      if (d < question_.demand.populations.size()) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](std::size_t i) {
      const Flow& flow = solution_.flows[i];
      return std::pair(flow.demand, plan_pool_[static_cast<std::size_t>(flow.choice)]);
    });
    std::vector<std::array<std::int64_t, scenarios::kBlocks>> carried(
        static_cast<std::size_t>(plan_.pools_size()));
    for (const std::size_t i : order) add_assignment(solution_.flows[i], carried);
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
    const Choice& choice = solution_.choices[static_cast<std::size_t>(flow.choice)];
    const OptionMeaning& meaning = meaning_of(choice);
    const auto d = static_cast<std::size_t>(flow.demand);
    const Population& p = population(d);
    const Serving& serving = serving_of(meaning.workload);
    const std::pair key(p.entry, p.endpoint.country);
    const geo::RttEntry& rtt = question_.rtts.at(d, meaning.site);
    plan::Assignment& row = *plan_.add_assignments();
    row.set_demand(question_.entry(p.entry).name());
    row.set_metro(p.metro);
    row.set_country(p.endpoint.country.text());
    row.set_pool(plan_pool_[static_cast<std::size_t>(flow.choice)]);
    row.set_rtt_us(rtt.rtt.count());
    row.set_rtt_basis(rtt.basis == geo::RttBasis::kMeasured    ? "measured"
                      : rtt.basis == geo::RttBasis::kSatellite ? "satellite"
                                                               : "modelled");
    if (built_.best_effort[d]) {
      const Micros reach = best_effort_reach(question_, d);
      row.set_reach_us(reach.count());
      row.set_degraded_reach_us(kUnlimitedReach.count());
    } else {
      row.set_reach_us(reached(serving.reach[meaning.level], key));
      row.set_degraded_reach_us(reached(serving.degraded_reach[meaning.level], key));
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
    for (std::size_t d = 0; d < question_.demand.populations.size(); ++d) {
      if (solution_.unserved_ppb.empty() || solution_.unserved_ppb[d] == 0) continue;
      const Population& p = population(d);
      const double share = static_cast<double>(solution_.unserved_ppb[d]) / 1e9;
      plan::Unserved& row = *plan_.add_unserved();
      row.set_demand(question_.entry(p.entry).name());
      row.set_metro(p.metro);
      row.set_share_ppb(static_cast<std::uint32_t>(solution_.unserved_ppb[d]));
      row.set_users(p.users * share);
      row.set_usd_micro(unserved_cost(d));
      row.set_because(any_arc(d) ? "cheaper to leave out, within `coverage`"
                                 : "no site is within reach");
    }
  }

  std::int64_t unserved_cost(std::size_t d) const {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(
        (static_cast<Wide>(built_.instance.demands[d].unserved_cost) *
             solution_.unserved_ppb[d] +
         999'999'999) /
        1'000'000'000);
  }

  bool any_arc(std::size_t d) const {
    return std::ranges::any_of(built_.instance.sites, [&](const place::Site& site) {
      return std::ranges::any_of(site.reach,
                                 [&](const std::vector<std::uint64_t>& bits) {
                                   return (bits[d / 64] >> (d % 64) & 1U) != 0;
                                 });
    });
  }

  /// Countries where the data of a population may be: those of every pool that takes it
  /// in some block, or may take it after a loss.
  void add_law() {
    std::map<std::pair<std::size_t, geo::CountryCode>, std::set<std::string>> may_be_in;
    std::map<std::pair<std::size_t, geo::CountryCode>, double> users;
    for (std::size_t d = 0; d < question_.demand.populations.size(); ++d) {
      const Population& p = population(d);
      const std::pair key(p.entry, p.endpoint.country);
      users[key] += p.users;
      auto& countries = may_be_in[key];
      for (const Choice& choice : solution_.choices) {
        const Option& option = option_of(choice);
        if (option.whole || option.commodity != static_cast<int>(p.workload)) continue;
        const auto& site = built_.instance.sites[static_cast<std::size_t>(choice.site)];
        for (const int reach : {option.reach_class, option.degraded_class}) {
          if (reach == option.degraded_class && built_.instance.elements == 0 &&
              reach != option.reach_class) {
            continue;
          }
          const auto& bits = site.reach[static_cast<std::size_t>(reach)];
          if ((bits[d / 64] >> (d % 64) & 1U) == 0) continue;
          countries.insert(
              site_of(static_cast<std::size_t>(choice.site)).endpoint.country.text());
        }
      }
    }
    for (const auto& [key, countries] : may_be_in) {
      plan::LawNote& note = *plan_.add_law();
      note.set_demand(question_.entry(key.first).name());
      note.set_country(key.second.text());
      note.set_users(users[key]);
      const std::size_t workload =
          scenarios::workload_index(question_.scenario, question_.entry(key.first));
      for (const std::string& country : countries) {
        note.add_may_be_in(country);
        note.add_mechanisms(
            question_.residency
                .verdict(key.second, workload, *geo::CountryCode::parse(country))
                .mechanism);
      }
    }
  }

  void add_certificate() {
    plan::Certificate& certificate = *plan_.mutable_certificate();
    const std::size_t populations = question_.demand.populations.size();
    for (std::size_t d = 0; d < built_.instance.demands.size(); ++d) {
      plan::Certificate::Price& price = *certificate.add_prices();
      if (d < populations) {
        price.set_demand(question_.entry(population(d).entry).name());
        price.set_metro(population(d).metro);
      } else {
        price.set_demand(
            question_.workload(built_.batch_workloads[d - populations]).name());
      }
      for (const auto& block : solution_.certificate.price) {
        price.add_usd_micro(block[d]);
      }
    }
    for (const auto& priced : solution_.certificate.rows) {
      plan::Certificate::Row& row = *certificate.add_rows();
      row.set_element(built_.elements[static_cast<std::size_t>(priced.row.element)]);
      row.set_block(static_cast<std::uint32_t>(priced.row.block));
      for (const int d : priced.row.demands) {
        row.add_demands(static_cast<std::uint32_t>(d));
      }
      row.set_need(priced.row.need);
      row.set_multiplier(priced.multiplier);
    }
    seal(certificate);
  }

  void add_bound() {
    plan::Bound& bound = *plan_.mutable_bound();
    const std::int64_t objective = plan_.totals().objective_usd_micro();
    bound.set_objective_usd_micro(solution_.bound);
    const std::int64_t gap = objective - solution_.bound;
    if (objective > 0) {
      bound.set_gap_ppm(static_cast<std::int64_t>(
          static_cast<double>(gap) / static_cast<double>(objective) * 1e6));
    }
    double cheapest = 0;
    for (const plan::Pool& pool : plan_.pools()) {
      if (pool.profile() == "batch") continue;
      const double replica = static_cast<double>(pool.bill_usd_micro_per_gpu_month() +
                                                 pool.extra_usd_micro_per_gpu_month()) *
                             pool.tensor_parallel();
      if (cheapest == 0 || replica < cheapest) cheapest = replica;
    }
    if (cheapest > 0) bound.set_gap_replicas(static_cast<double>(gap) / cheapest);
    bound.set_refers_to(
        "cost under these capacity tables, loads enveloped over the days of the "
        "horizon, "
        "every arc within its reach alone; limits on stock, provider share and budget "
        "relaxed");
  }

  void add_notes() {
    for (const std::string& note : question_.demand.notes) plan_.add_assumptions(note);
    for (const std::string& note : question_.candidates.notes) {
      plan_.add_assumptions(note);
    }
    for (const auto& [reason, sites] : question_.candidates.fell_away) {
      plan_.add_assumptions(
          fmt::format("{} sites are no candidates: {}", sites, reason));
    }
    add_best_effort_note();
    for (const Diagnostic& warning : question_.scenario.warnings) {
      plan_.add_warnings(fmt::format("{}:{}: {}", warning.position.file,
                                     warning.position.line, warning.message));
    }
  }

  void add_best_effort_note() {
    std::vector<std::string> names;
    double users = 0;
    for (std::size_t d = 0; d < built_.best_effort.size(); ++d) {
      if (!built_.best_effort[d]) continue;
      const Population& p = population(d);
      names.push_back(
          fmt::format("{}, {}", p.endpoint.name, p.endpoint.country.text()));
      users += p.users;
    }
    if (names.empty()) return;
    plan_.add_warnings(
        fmt::format("{:.0f} users are beyond the reach of every site and are served by "
                    "best effort, "
                    "counted as missed in their regions: {}",
                    users, fmt::join(names, "; ")));
  }

  const Question& question_;
  const std::vector<Serving>& servings_;
  const BuiltInstance& built_;
  const Solution& solution_;
  plan::Plan plan_;
  std::map<std::size_t, std::uint32_t> plan_site_;
  std::vector<std::uint32_t> plan_pool_;
};

}  // namespace

plan::Plan assemble_plan(const Question& question, const std::vector<Serving>& servings,
                         const BuiltInstance& built, const Solution& solution) {
  return Assembler(question, servings, built, solution).assemble();
}

std::string objective_name(const sim::Objective& objective) {
  using Metric = sim::Objective::Metric;
  const char* metric = objective.metric == Metric::kTtft   ? "ttft"
                       : objective.metric == Metric::kTpot ? "tpot"
                                                           : "e2e";
  return fmt::format("{}_p{:g}_ms", metric, objective.percentile);
}

}  // namespace isochrone::place
