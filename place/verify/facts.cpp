#include "place/verify/facts.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/diagnostics.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateId;
using scenarios::CandidateSite;
using scenarios::Population;
using scenarios::PopulationId;

std::chrono::sys_days day(const std::string& iso) {
  const int year = std::atoi(iso.substr(0, 4).c_str());
  const auto month = static_cast<unsigned>(std::atoi(iso.substr(5, 2).c_str()));
  const auto date = static_cast<unsigned>(std::atoi(iso.substr(8, 2).c_str()));
  return std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(date);
}

std::string beside(const scenarios::Scenario& scenario, const std::string& file) {
  return (std::filesystem::path(scenario.folder) / file).string();
}

std::map<std::string, geo::Endpoint> measured_places(const std::string& path,
                                                     Diagnostics& faults) {
  const CsvTable table =
      CsvTable::read(path, {"place", "city", "country", "lat", "lon"});
  std::map<std::string, geo::Endpoint> places;
  for (std::size_t row = 0; row < table.size(); ++row) {
    geo::Endpoint place;
    place.name = table.text(row, "city");
    place.country = geo::CountryCode::parse(table.text(row, "country"))
                        .value_or(geo::CountryCode());
    place.at = {table.number_in(row, "lat", -90, 90, faults),
                table.number_in(row, "lon", -180, 180, faults)};
    places[table.text(row, "place")] = place;
  }
  return places;
}

/// The scenario's own measurements stand before the catalog's: of two for one pair the
/// first counts.
geo::NetworkTables tables_with_measurements(const scenarios::Scenario& scenario,
                                            const datasets::Catalog& catalog) {
  geo::NetworkTables tables = catalog.network;
  std::vector<geo::MeasuredRtt> own;
  Diagnostics faults;
  for (const spec::Measured& source : scenario.spec.network().measured()) {
    const auto places = measured_places(beside(scenario, source.places()), faults);
    const CsvTable pings =
        CsvTable::read(beside(scenario, source.file()), {"from", "to", "rtt_ms_p50"});
    for (std::size_t row = 0; row < pings.size(); ++row) {
      const auto from = places.find(pings.text(row, "from"));
      const auto to = places.find(pings.text(row, "to"));
      if (from == places.end() || to == places.end()) continue;
      const double ms = pings.number_in(row, "rtt_ms_p50", 0, 100'000, faults);
      own.push_back(
          {from->second, to->second,
           source.regime() == "public" ? geo::Regime::kPublic : geo::Regime::kBackbone,
           micros_from_ms(ms)});
    }
  }
  faults.throw_if_errors();
  tables.measured.insert(tables.measured.begin(), own.begin(), own.end());
  return tables;
}

geo::RttMatrix public_rtts(const scenarios::Scenario& scenario,
                           const datasets::Catalog& catalog,
                           const scenarios::Demand& demand,
                           const scenarios::Candidates& candidates) {
  const auto& cut = scenario.spec.network().cut();
  const std::vector<std::string> cuts(cut.begin(), cut.end());
  const geo::NetworkModel network(tables_with_measurements(scenario, catalog), cuts);
  std::vector<geo::Endpoint> from;
  for (const Population& population : demand.populations) {
    from.push_back(population.endpoint);
  }
  std::vector<geo::Endpoint> to;
  for (const CandidateSite& site : candidates.sites) to.push_back(site.endpoint);
  return network.rtts(geo::Regime::kPublic, from, to);
}

}  // namespace

Facts::Facts(const plan::Plan& claimed, const scenarios::Scenario& question,
             const datasets::Catalog& known)
    : plan(claimed),
      scenario(question),
      catalog(known),
      demand(scenarios::expand_demand(question, known)),
      candidates(scenarios::find_candidates(question, known)),
      rules(question, known),
      rtts(public_rtts(question, known, demand, candidates)) {
  for (std::uint32_t i = 0; i < demand.populations.size(); ++i) {
    const Population& population = demand.populations[PopulationId{i}];
    populations_[{entry_name(population), population.metro}] = PopulationId{i};
  }
  for (std::uint32_t i = 0; i < candidates.sites.size(); ++i) {
    candidates_[candidates.sites[CandidateId{i}].id] = CandidateId{i};
  }
  for (const Population& population : demand.populations) {
    for (const CandidateSite& site : candidates.sites) {
      const std::tuple key(population.endpoint.country, population.workload,
                           site.endpoint.country);
      if (lawful_.contains(key)) continue;
      lawful_[key] = std::apply(
          [&](auto... words) { return rules.verdict(words...).allowed; }, key);
    }
  }
  find_best_effort();
}

std::optional<PopulationId> Facts::population(const std::string& entry,
                                              const std::string& metro) const {
  const auto found = populations_.find({entry, metro});
  if (found == populations_.end()) return std::nullopt;
  return found->second;
}

const CandidateSite* Facts::candidate(const std::string& site) const {
  const auto found = candidates_.find(site);
  return found == candidates_.end() ? nullptr : &candidates.sites[found->second];
}

const std::string& Facts::entry_name(const Population& population) const {
  return scenario.spec.demand(static_cast<int>(population.entry)).name();
}

const spec::Workload& Facts::workload(const Population& population) const {
  return scenario.spec.workloads(static_cast<int>(population.workload));
}

std::optional<std::size_t> Facts::workload_index(const std::string& name) const {
  for (int i = 0; i < scenario.spec.workloads_size(); ++i) {
    if (scenario.spec.workloads(i).name() == name) return static_cast<std::size_t>(i);
  }
  return std::nullopt;
}

const spec::Workload* Facts::workload(const std::string& name) const {
  const auto index = workload_index(name);
  return index ? &scenario.spec.workloads(static_cast<int>(*index)) : nullptr;
}

const geo::RttEntry& Facts::rtt(PopulationId population,
                                const CandidateSite& site) const {
  return rtts.at(population.index(), candidates_.at(site.id).index());
}

bool Facts::lawful(const Population& population, const CandidateSite& site) const {
  return lawful_.at(
      {population.endpoint.country, population.workload, site.endpoint.country});
}

bool Facts::batch_lawful(std::size_t workload, const CandidateSite& site) const {
  const auto codes = catalog.country_codes();
  const spec::Batch& batch =
      scenario.spec.workloads(static_cast<int>(workload)).batch();
  for (const std::string& word : batch.data_from()) {
    const auto countries = catalog.blocs.expand(word, codes);
    if (!countries) return false;
    for (const geo::CountryCode from : *countries) {
      if (!rules.verdict(from, workload, site.endpoint.country).allowed) return false;
    }
  }
  return true;
}

const CandidateSite* Facts::site_of(const plan::Pool& pool) const {
  if (pool.site() >= static_cast<std::uint32_t>(plan.sites_size())) return nullptr;
  return candidate(plan.sites(static_cast<int>(pool.site())).name());
}

const plan::Pool* Facts::pool(std::uint32_t index) const {
  if (index >= static_cast<std::uint32_t>(plan.pools_size())) return nullptr;
  return &plan.pools(static_cast<int>(index));
}

const plan::Table* Facts::table(const plan::Pool& pool) const {
  if (pool.table() >= static_cast<std::uint32_t>(plan.tables_size())) return nullptr;
  return &plan.tables(static_cast<int>(pool.table()));
}

std::optional<Facts::ReachUs> Facts::reach_us(const plan::Table& table,
                                              PopulationId population) const {
  const std::int64_t best_effort = best_effort_us(population);
  if (best_effort >= 0) return ReachUs{best_effort, kAnywhereUs};
  const plan::Reach* reach = reach_row(table, demand.populations[population]);
  if (reach == nullptr) return std::nullopt;
  return ReachUs{reach->rtt_us(), reach->degraded_rtt_us()};
}

const plan::Reach* Facts::reach_row(const plan::Table& table,
                                    const Population& population) const {
  const std::string& entry = entry_name(population);
  const std::string country = population.endpoint.country.text();
  const auto found = std::ranges::find_if(table.reach(), [&](const plan::Reach& reach) {
    return reach.country() == country && reach.demand() == entry;
  });
  return found == table.reach().end() ? nullptr : &*found;
}

Facts::MayServe Facts::may_serve(const plan::Pool& pool,
                                 PopulationId population) const {
  const Population& users = demand.populations[population];
  const CandidateSite* site = site_of(pool);
  const plan::Table* own = table(pool);
  if (site == nullptr || own == nullptr || pool.profile() == "batch" ||
      pool.workload() != workload(users).name() || !lawful(users, *site)) {
    return {};
  }
  const std::int64_t far = rtt(population, *site).rtt.count();
  const ReachUs reach = reach_us(*own, population).value_or(ReachUs{});
  return {far <= reach.normal, far <= reach.degraded};
}

std::int64_t days_to_ready(const scenarios::Scenario& scenario) {
  const spec::Scenario& spec = scenario.spec;
  const std::string ready =
      spec.limits().has_ready_by() ? spec.limits().ready_by() : spec.horizon().start();
  return (day(ready) - day(spec.horizon().order_date())).count();
}

std::string lacking(const spec::Requires& needs, const datasets::Gpu& gpu,
                    const scenarios::Offer& offer) {
  const bool one_fabric =
      gpu.intra_fabric == "nvlink" || gpu.intra_fabric == "infinity_fabric";
  if (gpu.memory_gb < needs.memory_gb()) {
    return fmt::format("{:g} GB of memory, {:g} are required", gpu.memory_gb,
                       needs.memory_gb());
  }
  if (needs.fp64() && gpu.fp64_tflops < 5) return "no FP64 at data-centre rate";
  if (needs.graphics() && !gpu.graphics) return "no graphics cores";
  if (needs.nvlink_gpus() > 1 &&
      (!one_fabric || gpu.fabric_domain_gpus < needs.nvlink_gpus() ||
       offer.shape_gpus < needs.nvlink_gpus())) {
    return fmt::format("no {} GPUs in one fabric", needs.nvlink_gpus());
  }
  if (needs.fabric() == "infiniband" && !offer.infiniband) return "no InfiniBand";
  if (needs.fabric() == "any" && !offer.infiniband &&
      (offer.shape_gpus < 8 || !one_fabric)) {
    return "no network between nodes";
  }
  return "";
}

std::string loss_element(const scenarios::Scenario& scenario,
                         const CandidateSite& site) {
  const std::string& survive = scenario.spec.resilience().survive();
  if (survive == "site") return site.id;
  if (survive == "location") return site.location;
  if (survive == "country") return site.endpoint.country.text();
  return survive == "provider" ? share_group(site) : "";
}

const std::string& share_group(const CandidateSite& site) {
  return site.tier == datasets::Tier::kColo ? site.id : site.provider;
}

std::int64_t gpus_per_replica(const datasets::Catalog& catalog,
                              const std::string& profile) {
  for (const datasets::StepProfile& known : catalog.profiles) {
    if (known.id == profile) return known.tensor_parallel;
  }
  return 1;
}

std::int64_t whole_groups(std::int64_t gpus, std::int64_t group) {
  return (gpus + group - 1) / group * group;
}

std::string rtt_basis_name(geo::RttBasis basis) {
  switch (basis) {
    case geo::RttBasis::kModelled:
      return "modelled";
    case geo::RttBasis::kMeasured:
      return "measured";
    case geo::RttBasis::kSatellite:
      return "satellite";
  }
  INVARIANT(false, "a basis of RTTs that has no name");
}

std::int64_t carried(const plan::Table& table, std::int64_t n, bool degraded) {
  const auto& support = table.replicas();
  const auto& capacity = degraded ? table.degraded_capacity() : table.capacity();
  const int points = std::min(support.size(), capacity.size());
  if (points == 0 || n <= 0) return 0;
  Wide low = capacity[0];
  int i = 0;
  for (; i + 1 < points && support[i + 1] <= n; ++i) {
    low = std::max<Wide>(capacity[i + 1], low * support[i + 1] / support[i]);
  }
  const Wide n0 = support[i];
  if (n <= n0 || i + 1 == points) return static_cast<std::int64_t>(low * n / n0);
  const Wide n1 = support[i + 1];
  const Wide high = std::max<Wide>(capacity[i + 1], low * n1 / n0);
  const Wide numerator = low * n1 * (n1 - n) + high * n0 * (n - n0);
  return static_cast<std::int64_t>(numerator * n / (n0 * n1 * (n1 - n0)));
}

EntryObjectives entry_objectives(const Facts& facts, std::size_t entry) {
  const spec::Demand& demand = facts.scenario.spec.demand(static_cast<int>(entry));
  return {scenarios::objectives(facts.scenario, demand),
          scenarios::degraded_objectives(facts.scenario)};
}

}  // namespace isochrone::verify
