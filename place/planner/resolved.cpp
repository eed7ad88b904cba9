#include "place/planner/resolved.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateSite;
using scenarios::Population;

constexpr std::int64_t kWhole = 1'000'000'000;  // parts of a share

sim::PoolKind idle_kind() {
  sim::PoolKind kind;
  kind.slots = sim::SlotEngine{};
  return kind;
}

}  // namespace

Resolved::Resolved(const Question& question, const plan::Plan& plan)
    : question_(question), plan_(plan) {
  for (const CandidateSite& site : question.candidates.sites) site_[site.id] = &site;
  for (const Population& p : question.demand.populations) {
    population_[{question.entry(p.entry).name(), p.metro}] = &p;
  }
  const int workloads = question.scenario.spec.workloads_size();
  for (int w = 0; w < workloads; ++w) {
    options_.push_back(serving_options(question, static_cast<std::size_t>(w)));
  }
}

const Population& Resolved::population(const plan::Assignment& a) const {
  const auto it = population_.find({a.demand(), a.metro()});
  if (it == population_.end()) {
    throw std::invalid_argument(
        fmt::format("the plan assigns {} of {}, whom the scenario does not know",
                    a.metro(), a.demand()));
  }
  return *it->second;
}

const CandidateSite& Resolved::site(const plan::Pool& pool) const {
  const std::string& name = plan_.sites(static_cast<int>(pool.site())).name();
  const auto it = site_.find(name);
  if (it == site_.end()) {
    throw std::invalid_argument(
        fmt::format("site {} is no candidate of the scenario", name));
  }
  return *it->second;
}

sim::Pool Resolved::pool(const plan::Pool& p) const {
  const auto& workloads = question_.scenario.spec.workloads();
  const auto named = std::ranges::find(workloads, p.workload(), &spec::Workload::name);
  if (named == workloads.end()) {
    throw std::invalid_argument("the plan serves unknown workload " + p.workload());
  }
  for (const ServingOption& option :
       options_[static_cast<std::size_t>(named - workloads.begin())]) {
    if (option.profile != p.profile() ||
        question_.catalog.gpus[option.gpu].id != p.gpu()) {
      continue;
    }
    sim::Pool pool{fmt::format("{} {}", site(p).id, p.workload()), option.kind,
                   p.replicas(), option.front_end};
    pool.kind.max_num_seqs = p.max_num_seqs();
    return pool;
  }
  throw std::invalid_argument(
      fmt::format("{} cannot run on {} as {}", p.workload(), p.gpu(), p.profile()));
}

sim::Stream Resolved::stream(const plan::Assignment& a, const Population& p) const {
  const spec::Workload& workload = question_.workload(p.workload);
  sim::Stream stream;
  stream.entry = p.entry;
  stream.region = p.region;
  stream.workload = p.workload;
  stream.pool = sim::PoolId{a.pool()};
  stream.rtt = Micros{a.rtt_us()};
  stream.connection_trips = scenarios::connection_trips(workload);
  stream.transfer = Nanos{
      std::llround(scenarios::transfer_ms(workload, p.access.download_mbps) * 1e6)};
  stream.access = p.access;
  return stream;
}

sim::Deployment Resolved::empty_deployment(bool degraded) const {
  sim::Deployment deployment;
  for (const plan::Pool& p : plan_.pools()) {
    deployment.pools.push_back(p.profile() == "batch"
                                   ? sim::Pool{"batch", idle_kind(), 1, Nanos{0}}
                                   : pool(p));
  }
  deployment.modulation = question_.demand.modulation;
  for (const spec::Demand& entry : question_.scenario.spec.demand()) {
    deployment.objectives.push_back(
        objectives_of(degraded ? degraded_objectives(question_.scenario)
                               : objectives(question_.scenario, entry)));
  }
  return deployment;
}

MicroRps share_of(MicroRps load, std::uint32_t ppb) {
  __extension__ using Wide = __int128;
  return MicroRps::of(
      static_cast<std::int64_t>(static_cast<Wide>(load.count()) * ppb / kWhole));
}

}  // namespace isochrone::place
