#include "place/planner/build_instance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "place/planner/best_effort.h"
#include "place/planner/drafts.h"
#include "place/planner/egress.h"
#include "scenarios/network.h"
#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateId;
using scenarios::CandidateSite;
using scenarios::Offer;
using scenarios::Population;
using scenarios::PopulationId;
using Bits = std::vector<std::uint64_t>;

CandidateId candidate(std::size_t index) {
  return CandidateId{static_cast<std::uint32_t>(index)};
}

PopulationId population(std::size_t index) {
  return PopulationId{static_cast<std::uint32_t>(index)};
}

void set_bit(Bits& bits, std::size_t index) {
  bits[index / 64] |= std::uint64_t{1} << (index % 64);
}

class Builder {
 public:
  Builder(const Question& question, const std::vector<Serving>& servings)
      : question_(question), servings_(servings), drafts_(question, servings) {}

  BuiltInstance build() {
    add_demands();
    add_limits();
    allow_by_law();
    add_best_effort();
    const std::size_t sites = question_.candidates.sites.size();
    for (std::size_t s = 0; s < sites; ++s) add_site(s);
    return std::move(built_);
  }

 private:
  void add_demands() {
    Instance& instance = built_.instance;
    instance.blocks = scenarios::kBlocks;
    instance.commodities = question_.scenario.spec.workloads_size();
    for (const Population& p : question_.demand.populations) {
      DemandRow row;
      row.commodity = static_cast<int>(p.workload);
      for (const MicroRps load : p.load) row.load.push_back(load.count());
      add_coverage(p, row);
      instance.demands.push_back(std::move(row));
    }
    for (std::size_t w = 0; w < static_cast<std::size_t>(instance.commodities); ++w) {
      if (question_.workload(w).kind() != "batch") continue;
      DemandRow row;
      row.commodity = static_cast<int>(w);
      row.load.assign(scenarios::kBlocks, 0);
      instance.demands.push_back(std::move(row));
      built_.batch_workloads.push_back(w);
    }
  }

  void add_coverage(const Population& p, DemandRow& row) {
    const spec::Demand& entry = question_.entry(p.entry);
    if (!entry.has_coverage() || entry.coverage() >= 1) return;
    // Users in thousandths, so that small metros keep their weight.
    row.coverage_weight = std::llround(p.users * 1000);
    row.unserved_cost = usd(p.users * entry.unserved_usd_user_month()).count();
    auto [it, fresh] = coverage_group_.try_emplace(
        p.entry, static_cast<int>(built_.instance.coverage.size()));
    if (fresh) built_.instance.coverage.emplace_back();
    row.coverage_group = it->second;
    entry_weight_[p.entry] += row.coverage_weight;
    built_.instance.coverage[static_cast<std::size_t>(it->second)].slack =
        static_cast<std::int64_t>(static_cast<double>(entry_weight_[p.entry]) *
                                  (1 - entry.coverage()));
  }

  void add_limits() {
    Instance& instance = built_.instance;
    const spec::Limits& limits = question_.scenario.spec.limits();
    if (limits.has_max_sites()) instance.max_sites = limits.max_sites();
    if (limits.has_budget_usd_month()) {
      instance.budget = usd(limits.budget_usd_month()).count();
    }
    std::set<std::string> providers;
    std::set<std::string> elements;
    for (const CandidateSite& site : question_.candidates.sites) {
      providers.insert(share_group(site));
      elements.insert(scenarios::loss_element(question_.scenario, site));
    }
    elements.erase("");
    built_.groups.assign(providers.begin(), providers.end());
    built_.elements.assign(elements.begin(), elements.end());
    instance.groups = static_cast<int>(built_.groups.size());
    instance.elements = static_cast<int>(built_.elements.size());
    instance.group_premium.assign(built_.groups.size(), 0);
    for (std::size_t g = 0; g < built_.groups.size(); ++g) {
      const auto it = question_.candidates.premium.find(built_.groups[g]);
      if (it != question_.candidates.premium.end()) {
        instance.group_premium[g] += it->second.count();
      }
    }
    if (limits.has_max_provider_share()) {
      const spec::MaxProviderShare& share = limits.max_provider_share();
      using Of = Instance::GroupShare::Of;
      const Of of = share.of() == "cost"      ? Of::kCost
                    : share.of() == "traffic" ? Of::kTraffic
                                              : Of::kGpus;
      instance.group_share = Instance::GroupShare{of, share.share()};
    }
  }

  /// Colocation sites are each their own provider, for survival and share.
  static std::string share_group(const CandidateSite& site) {
    return site.tier == datasets::Tier::kColo ? site.id : site.provider;
  }

  void allow_by_law() {
    for (const Population& p : question_.demand.populations) {
      for (const CandidateSite& site : question_.candidates.sites) {
        const std::tuple key(p.endpoint.country, p.workload, site.endpoint.country);
        if (!allowed_.contains(key)) {
          allowed_[key] =
              question_.residency
                  .verdict(p.endpoint.country, p.workload, site.endpoint.country)
                  .allowed;
        }
      }
    }
  }

  void add_best_effort() {
    built_.best_effort = best_effort(question_, servings_);
    best_effort_reach_.assign(built_.best_effort.size(), Micros{-1});
    for (std::size_t d = 0; d < built_.best_effort.size(); ++d) {
      if (built_.best_effort[d])
        best_effort_reach_[d] = best_effort_reach(question_, d);
    }
  }

  bool batch_allowed(std::size_t workload, geo::CountryCode to) const {
    const auto codes = question_.catalog.country_codes();
    for (const std::string& word : question_.workload(workload).batch().data_from()) {
      const auto countries = question_.catalog.blocs.expand(word, codes);
      INVARIANT(countries, "the reader admitted an unknown place " + word);
      for (const geo::CountryCode from : *countries) {
        if (!question_.residency.verdict(from, workload, to).allowed) return false;
      }
    }
    return true;
  }

  void add_site(std::size_t s) {
    const CandidateSite& site = question_.candidates.sites[candidate(s)];
    Site row;
    row.fixed_cost = row.fixed_bill = site.fixed_month.count();
    row.pinned = site.pinned;
    row.group = index_of(built_.groups, share_group(site));
    const std::string element = scenarios::loss_element(question_.scenario, site);
    if (!element.empty()) row.elements.push_back(index_of(built_.elements, element));
    add_stock(site, row);
    std::map<Bits, int> classes;
    for (std::size_t w = 0; w < servings_.size(); ++w) {
      for (const Draft& draft : drafts_.of(w, s)) {
        add_option(s, w, draft, row, classes);
      }
    }
    for (std::size_t b = 0; b < built_.batch_workloads.size(); ++b) {
      add_batch(s, b, row, classes);
    }
    add_traffic(s, row);
    built_.instance.sites.push_back(std::move(row));
  }

  static int index_of(const std::vector<std::string>& sorted, const std::string& word) {
    return static_cast<int>(std::ranges::lower_bound(sorted, word) - sorted.begin());
  }

  /// One stock row per GPU type: shapes and terms draw from the same machines.
  void add_stock(const CandidateSite& site, Site& row) {
    stock_row_.clear();
    for (const Offer& offer : site.offers) {
      const auto [it, fresh] =
          stock_row_.try_emplace(offer.gpu, static_cast<int>(row.stock.size()));
      if (fresh) row.stock.push_back(std::numeric_limits<std::int64_t>::max());
      if (!offer.stock_gpus) continue;
      auto& stock = row.stock[static_cast<std::size_t>(it->second)];
      stock = stock == std::numeric_limits<std::int64_t>::max()
                  ? *offer.stock_gpus
                  : std::max(stock, *offer.stock_gpus);
    }
  }

  Bits admitted(std::size_t s, std::size_t w, const Serving::Reached& reached,
                bool degraded) const {
    const CandidateSite& site = question_.candidates.sites[candidate(s)];
    Bits bits((built_.instance.demands.size() + 63) / 64, 0);
    for (std::size_t d = 0; d < question_.demand.populations.size(); ++d) {
      const Population& p = question_.demand.populations[population(d)];
      if (p.workload != servings_[w].workload) continue;
      const auto it = reached.find({p.entry, p.endpoint.country});
      const Micros reach = built_.best_effort[d]
                               ? (degraded ? kUnlimitedReach : best_effort_reach_[d])
                           : it != reached.end() ? it->second
                                                 : Micros{-1};
      if (question_.rtts.at(d, s).rtt > reach) continue;
      if (!allowed_.at({p.endpoint.country, p.workload, site.endpoint.country}))
        continue;
      set_bit(bits, d);
    }
    return bits;
  }

  static bool nobody(const Bits& bits) {
    return std::ranges::all_of(bits, [](std::uint64_t word) { return word == 0; });
  }

  static int class_of(Bits bits, Site& row, std::map<Bits, int>& classes) {
    const auto [it, fresh] =
        classes.try_emplace(std::move(bits), static_cast<int>(row.reach.size()));
    if (fresh) row.reach.push_back(it->first);
    return it->second;
  }

  void add_option(std::size_t s, std::size_t w, const Draft& draft, Site& row,
                  std::map<Bits, int>& classes) {
    const Serving& serving = servings_[w];
    Bits normal = admitted(s, w, serving.reach[draft.level], false);
    // Too far for every day, it may still stand by for a loss.
    Bits degraded = admitted(s, w, serving.degraded_reach[draft.level], true);
    const bool may_stand_by = built_.instance.elements > 0 && !nobody(degraded);
    if (nobody(normal) && !may_stand_by) return;
    Option option = draft.option;
    option.reach_class = class_of(std::move(normal), row, classes);
    option.degraded_class = class_of(std::move(degraded), row, classes);
    const Offer& offer = question_.candidates.sites[candidate(s)].offers[draft.offer];
    option.stock_row = stock_row_.at(offer.gpu);
    option.label = built_.meaning.size();
    built_.meaning.push_back(
        {s, draft.offer, serving.workload, draft.level, draft.gpus_per_replica, false});
    row.options.push_back(std::move(option));
  }

  void add_batch(std::size_t s, std::size_t b, Site& row,
                 std::map<Bits, int>& classes) {
    const std::size_t w = built_.batch_workloads[b];
    const CandidateSite& site = question_.candidates.sites[candidate(s)];
    if (!batch_allowed(w, site.endpoint.country)) return;
    Bits bits((built_.instance.demands.size() + 63) / 64, 0);
    set_bit(bits, question_.demand.populations.size() + b);
    for (std::size_t o = 0; o < site.offers.size(); ++o) {
      const BatchFit fit = fit_batch(question_, w, site.offers[o]);
      if (!fit.fits) continue;
      Option option;
      option.commodity = static_cast<int>(w);
      option.whole = true;
      option.bill = {fit.bill_month.count()};
      option.cost = {(fit.bill_month + fit.extra_month).count()};
      option.capacity = option.degraded_capacity = {0};
      option.gpus = {fit.gpus};
      option.reach_class = option.degraded_class = class_of(bits, row, classes);
      option.stock_row = stock_row_.at(site.offers[o].gpu);
      option.label = built_.meaning.size();
      built_.meaning.push_back({s, o, w, 0, 1, true});
      row.options.push_back(std::move(option));
    }
  }

  /// Linear from below: bytes at the lowest paid rate; what the free tier saves is a
  /// negative premium of the provider. Bytes are counted in proportion to the load, at
  /// the lowest ratio of the block, so that all users of a site cost the same per
  /// request and a block is sorted once for all sites; what this leaves out is part of
  /// the gap.
  void add_traffic(std::size_t s, Site& row) {
    const CandidateSite& site = question_.candidates.sites[candidate(s)];
    const std::int64_t rate = lowest_paid_rate(site.egress, most_bytes());
    if (rate == 0) return;
    row.traffic_cost.assign(scenarios::kBlocks, std::vector<std::int64_t>(
                                                    built_.instance.demands.size(), 0));
    for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
      for (std::size_t d = 0; d < question_.demand.populations.size(); ++d) {
        row.traffic_cost[block][d] = at_rate(least_bytes()[block][d], rate).count();
      }
    }
    std::int64_t& allowance = allowance_[row.group];
    const std::int64_t more = free_allowance(site.egress, most_bytes()).count();
    if (more > allowance) {
      built_.instance.group_premium[static_cast<std::size_t>(row.group)] -=
          more - allowance;
      allowance = more;
    }
  }

  const std::vector<std::vector<std::int64_t>>& least_bytes() {
    if (!least_bytes_.empty()) return least_bytes_;
    __extension__ using Wide = __int128;
    const auto bytes = [&](const Population& p, std::size_t block) {
      return p.requests_month[block] * bytes_[p.workload];
    };
    for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
      std::map<std::size_t, const Population*> lowest;  // by workload
      for (const Population& p : question_.demand.populations) {
        if (p.load[block].count() == 0) continue;
        const auto [it, fresh] = lowest.try_emplace(p.workload, &p);
        const Population& q = *it->second;
        if (static_cast<Wide>(bytes(p, block)) * q.load[block].count() <
            static_cast<Wide>(bytes(q, block)) * p.load[block].count()) {
          it->second = &p;
        }
      }
      std::vector<std::int64_t>& row = least_bytes_.emplace_back();
      for (const Population& p : question_.demand.populations) {
        const auto it = lowest.find(p.workload);
        row.push_back(
            it == lowest.end()
                ? 0
                : static_cast<std::int64_t>(static_cast<Wide>(p.load[block].count()) *
                                            bytes(*it->second, block) /
                                            it->second->load[block].count()));
      }
    }
    return least_bytes_;
  }

  std::int64_t most_bytes() {
    if (most_bytes_ > 0) return most_bytes_;
    const auto workloads = static_cast<std::size_t>(built_.instance.commodities);
    for (std::size_t w = 0; w < workloads; ++w) {
      bytes_.push_back(scenarios::egress_bytes_per_request(question_.scenario, w));
    }
    for (const Population& p : question_.demand.populations) {
      most_bytes_ +=
          bytes_[p.workload] * std::accumulate(p.requests_month.begin(),
                                               p.requests_month.end(), std::int64_t{0});
    }
    most_bytes_ = std::max<std::int64_t>(most_bytes_, 1);
    return most_bytes_;
  }

  const Question& question_;
  const std::vector<Serving>& servings_;
  BuiltInstance built_;
  std::map<std::size_t, int> coverage_group_;
  std::map<std::size_t, std::int64_t> entry_weight_;
  std::map<std::tuple<geo::CountryCode, std::size_t, geo::CountryCode>, bool> allowed_;
  Drafts drafts_;
  std::map<datasets::GpuId, int> stock_row_;
  std::map<int, std::int64_t> allowance_;
  std::vector<Micros> best_effort_reach_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::vector<std::int64_t>> least_bytes_;
  std::int64_t most_bytes_ = 0;
};

}  // namespace

BuiltInstance build_instance(const Question& question,
                             const std::vector<Serving>& servings) {
  return Builder(question, servings).build();
}

}  // namespace isochrone::place
