// The proof, counted anew. For prices u of every population in every block, and
// multipliers m of survival rows, no plan under the plan's tables costs less than
//   constant + sum u + sum m * need
//   + least of what leaving out may save (coverage)
//   + least of premiums
//   + values of the pinned sites + the max_sites most negative values of the others.
// See site_value.h for the value of a site. The claim may lie below, never above.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/verify/checks.h"
#include "place/verify/site_value.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateId;
using scenarios::CandidateSite;
using scenarios::kBlocks;
using scenarios::Population;
using scenarios::PopulationId;

constexpr Wide kNano = 1000;

Wide floor_div(Wide value, Wide divisor) {
  const Wide quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

class BoundCheck {
 public:
  BoundCheck(const Facts& facts, Faults& faults)
      : facts_(facts), faults_(faults), traffic_(facts) {}

  void run() {
    const plan::Bound& bound = facts_.plan.bound();
    const std::int64_t objective = facts_.plan.totals().objective_usd_micro();
    if (bound.objective_usd_micro() > objective) {
      faults_.add("bound.objective_usd_micro", "it is above the cost of the plan");
    }
    check_gap(bound, objective);
    const auto proves = proven();
    if (proves && bound.objective_usd_micro() > *proves) {
      faults_.add("bound.objective_usd_micro",
                  fmt::format("{} micro-dollars, the certificate proves {}",
                              bound.objective_usd_micro(), *proves));
    }
    // No release claims one yet: what is not worked out must not be claimed.
    faults_.equal("bound.physical_usd_micro", bound.physical_usd_micro(), 0);
  }

  /// What the certificate proves; nullopt if it cannot be read.
  std::optional<std::int64_t> proven() {
    if (!read_prices() || !read_rows()) return std::nullopt;
    const auto rented = static_cast<std::int64_t>(floor_div(
        priced_rows() + least_unserved() + least_premiums() + least_sites(), kNano));
    return with_valleys(rented);
  }

 private:
  /// Of a bound whose jobs all rent: in valleys they cost nothing but their pool.
  std::int64_t with_valleys(std::int64_t rented) const {
    const auto host = least_host(facts_);
    if (!host) return rented;
    std::int64_t paid = 0;
    for (const std::int64_t usd : prices_.batch) paid += std::max<std::int64_t>(0, usd);
    return std::min(rented, std::max(rented - paid, *host));
  }

  void check_gap(const plan::Bound& bound, std::int64_t objective) {
    if (objective <= 0) return;
    const Wide gap = Wide{objective - bound.objective_usd_micro()} * 1'000'000;
    const auto ppm = static_cast<std::int64_t>((gap + objective / 2) / objective);
    if (std::abs(bound.gap_ppm() - ppm) > 1) {
      faults_.add("bound.gap_ppm",
                  fmt::format("{}, it should be {}", bound.gap_ppm(), ppm));
    }
    double cheapest = 0;
    for (const plan::Pool& pool : facts_.plan.pools()) {
      if (pool.profile() == "batch") continue;
      const double replica = static_cast<double>(pool.tensor_parallel()) *
                             static_cast<double>(pool.bill_usd_micro_per_gpu_month() +
                                                 pool.extra_usd_micro_per_gpu_month());
      if (cheapest == 0 || replica < cheapest) cheapest = replica;
    }
    if (cheapest <= 0) return;
    const double replicas =
        static_cast<double>(objective - bound.objective_usd_micro()) / cheapest;
    faults_.near("bound.gap_replicas", bound.gap_replicas(), replicas,
                 1e-6 * std::max(1.0, replicas));
  }

  bool read_prices() {
    const plan::Certificate& certificate = facts_.plan.certificate();
    prices_.of.assign(facts_.demand.populations.size(),
                      std::vector<std::int64_t>(kBlocks, 0));
    prices_.batch.assign(
        static_cast<std::size_t>(facts_.scenario.spec.workloads_size()), 0);
    for (int i = 0; i < certificate.prices_size(); ++i) {
      if (read_price(certificate.prices(i))) continue;
      faults_.add(fmt::format("certificate.prices[{}]", i),
                  "it is not the one price of a population in every block");
      return false;
    }
    return true;
  }

  /// Batch workloads have no users: their price names the workload and no metro.
  bool read_price(const plan::Certificate::Price& price) {
    if (price.usd_micro_size() != static_cast<int>(kBlocks)) return false;
    const auto id = facts_.population(price.demand(), price.metro());
    population_of_price_.push_back(id);
    if (id) {
      if (!priced_.insert({price.demand(), price.metro()}).second) return false;
      std::ranges::copy(price.usd_micro(), prices_.of[id->index()].begin());
      return true;
    }
    const auto workload = facts_.workload_index(price.demand());
    if (!workload || !price.metro().empty() ||
        !priced_.insert({price.demand(), ""}).second) {
      return false;
    }
    for (const std::int64_t usd : price.usd_micro()) prices_.batch[*workload] += usd;
    return true;
  }

  bool read_rows() {
    const plan::Certificate& certificate = facts_.plan.certificate();
    for (int i = 0; i < certificate.rows_size(); ++i) {
      const plan::Certificate::Row& claimed = certificate.rows(i);
      const std::string where = fmt::format("certificate.rows[{}]", i);
      PricedRow row{claimed.element(), claimed.block(), {}, 0, claimed.multiplier()};
      row.demands.assign(facts_.demand.populations.size(), 0);
      if (row.multiplier < 0 || row.block >= kBlocks || !is_element(row.element)) {
        faults_.add(where, "it is no row of the loss that the scenario names");
        return false;
      }
      for (const std::uint32_t index : claimed.demands()) {
        if (index >= population_of_price_.size() || !population_of_price_[index]) {
          faults_.add(where + ".demands", "it is no price of a population");
          return false;
        }
        row.demands[population_of_price_[index]->index()] = 1;
      }
      for (std::uint32_t p = 0; p < row.demands.size(); ++p) {
        if (row.demands[p] == 0) continue;
        row.need += facts_.demand.populations[PopulationId{p}].load[row.block].count();
      }
      faults_.equal(where + ".need", claimed.need(), row.need);
      prices_.rows.push_back(std::move(row));
    }
    return true;
  }

  bool is_element(const std::string& element) const {
    return std::ranges::any_of(facts_.candidates.sites, [&](const CandidateSite& site) {
      const std::string own = loss_element(facts_.scenario, site);
      return element.empty() ? !own.empty() : own == element;
    });
  }

  Wide priced_rows() const {
    Wide total = 0;
    for (const std::int64_t price : prices_.batch) total += Wide{price} * kNano;
    for (const auto& blocks : prices_.of) {
      for (const std::int64_t price : blocks) total += Wide{price} * kNano;
    }
    for (const PricedRow& row : prices_.rows) total += Wide{row.multiplier} * row.need;
    return total;
  }

  /// Per entry that need not be covered whole: who is cheapest to leave out, until the
  /// slack is used. Users count in thousandths.
  Wide least_unserved() const {
    Wide total = 0;
    for (int e = 0; e < facts_.scenario.spec.demand_size(); ++e) {
      const spec::Demand& entry = facts_.scenario.spec.demand(e);
      if (!entry.has_coverage() || entry.coverage() >= 1) continue;
      total += least_unserved_of(entry, static_cast<std::size_t>(e));
    }
    return total;
  }

  struct Saving {
    Wide value = 0;  // negative nano-dollars
    std::int64_t weight = 0;
  };

  Wide least_unserved_of(const spec::Demand& entry, std::size_t e) const {
    std::vector<Saving> savings;
    std::int64_t users = 0;
    for (std::uint32_t i = 0; i < facts_.demand.populations.size(); ++i) {
      const Population& population = facts_.demand.populations[PopulationId{i}];
      if (population.entry != e) continue;
      const std::int64_t weight = std::llround(population.users * 1000);
      users += weight;
      const MicroUsd price = usd(population.users * entry.unserved_usd_user_month());
      Wide value = Wide{price.count()} * kNano;
      for (const std::int64_t paid : prices_.of[i]) value -= Wide{paid} * kNano;
      for (const PricedRow& row : prices_.rows) {
        if (row.demands[i] == 0) continue;
        value -= Wide{row.multiplier} * population.load[row.block].count();
      }
      if (value < 0) savings.push_back({value, weight});
    }
    std::ranges::sort(savings, [](const Saving& a, const Saving& b) {
      return a.value * b.weight < b.value * a.weight;
    });
    auto slack =
        static_cast<std::int64_t>(static_cast<double>(users) * (1 - entry.coverage()));
    Wide total = 0;
    for (const Saving& saving : savings) {
      if (saving.weight > slack)
        return total + floor_div(saving.value * slack, saving.weight);
      total += saving.value;
      slack -= saving.weight;
    }
    return total;
  }

  /// A premium may be a bonus; the free tier of a provider counts like one, because the
  /// bound counts every byte at a paid rate.
  Wide least_premiums() const {
    std::map<std::string, std::int64_t> premium;
    std::map<std::string, std::int64_t> allowance;
    for (const CandidateSite& site : facts_.candidates.sites) {
      const std::string& group = share_group(site);
      const auto known = facts_.candidates.premium.find(group);
      premium[group] =
          known == facts_.candidates.premium.end() ? 0 : known->second.count();
      if (traffic_.lowest_paid_rate(site.egress) == 0) continue;
      allowance[group] =
          std::max(allowance[group], traffic_.free_allowance(site.egress));
    }
    Wide total = 0;
    for (const auto& [group, usd_micro] : premium) {
      total += std::min<Wide>(0, Wide{usd_micro} - allowance[group]) * kNano;
    }
    return total;
  }

  Wide least_sites() const {
    const auto& sites = facts_.candidates.sites;
    const std::vector<LevelCurve> curves = level_curves(facts_);
    const auto values = parallel_map(sites.size(), [&](std::size_t i) {
      const CandidateSite& site = sites[CandidateId{static_cast<std::uint32_t>(i)}];
      return site_value(facts_, traffic_, prices_, curves, site);
    });
    Wide total = 0;
    std::size_t pinned = 0;
    std::vector<Wide> negative;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (sites[CandidateId{static_cast<std::uint32_t>(i)}].pinned) {
        total += values[i];
        ++pinned;
      } else if (values[i] < 0) {
        negative.push_back(values[i]);
      }
    }
    std::ranges::sort(negative);
    const spec::Limits& limits = facts_.scenario.spec.limits();
    std::size_t open = negative.size();
    if (limits.has_max_sites()) {
      const auto most = static_cast<std::size_t>(std::max(0, limits.max_sites()));
      open = std::min(open, most > pinned ? most - pinned : 0);
    }
    for (std::size_t i = 0; i < open; ++i) total += negative[i];
    return total;
  }

  const Facts& facts_;
  Faults& faults_;
  Traffic traffic_;
  std::vector<std::optional<PopulationId>> population_of_price_;
  std::set<std::pair<std::string, std::string>> priced_;
  Prices prices_;
};

}  // namespace

std::optional<std::int64_t> proven_bound(const Facts& facts, Faults& faults) {
  return BoundCheck(facts, faults).proven();
}

void check_bound(const Facts& facts, Faults& faults) {
  BoundCheck(facts, faults).run();
}

}  // namespace isochrone::verify
