// What one site could earn under the certificate's prices, at the very most.
//
// A pool serves populations within its reach. In a block it earns, for a population's
// whole load, the price less the cost of traffic; how much of it fits is a fractional
// knapsack over the pool's capacity. Every table of the plan, every offer and every
// number of replicas is tried: the least of cost - earnings - rewards for standing
// ready in a loss is what the site adds to the bound. Earnings are rounded up, so that
// rounding can only weaken the bound. All in nano-dollars, 128 bits.
#include "place/verify/site_value.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "place/verify/batch_need.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::kBlocks;
using scenarios::Offer;
using scenarios::Population;
using scenarios::PopulationId;

constexpr Wide kNano = 1000;
constexpr std::int64_t kMostReplicas = 100'000;

struct Item {
  std::size_t population = 0;
  std::int64_t worth = 0;  // MicroUsd
  std::int64_t load = 0;
};

bool denser(const Item& a, const Item& b) {
  if ((a.load == 0) != (b.load == 0)) return a.load == 0;
  const Wide left = Wide{a.worth} * b.load;
  const Wide right = Wide{b.worth} * a.load;
  return left != right ? left > right : a.population < b.population;
}

/// Adds what each capacity (ascending) earns in a block.
void add_earnings(const std::vector<Item>& items, const std::vector<char>& within,
                  const std::vector<std::int64_t>& capacity,
                  std::vector<Wide>& earned) {
  Wide load = 0;
  Wide worth = 0;
  std::size_t j = 0;
  for (const Item& item : items) {
    if (within[item.population] == 0) continue;
    for (; j < earned.size() && capacity[j] < load + item.load; ++j) {
      const Wide part = (capacity[j] - load) * item.worth * kNano;
      earned[j] += worth + (part + item.load - 1) / item.load;
    }
    if (j == earned.size()) return;
    load += item.load;
    worth += item.worth * kNano;
  }
  for (; j < earned.size(); ++j) earned[j] += worth;
}

Wide cost(const Offer& offer, std::int64_t gpus) {
  return Wide{gpus} * (offer.bill_gpu_month + offer.extra_gpu_month).count() * kNano;
}

class SiteValue {
 public:
  SiteValue(const Facts& facts, const Traffic& traffic, const Prices& prices,
            const std::vector<LevelCurve>& curves, const CandidateSite& site)
      : facts_(facts),
        prices_(prices),
        curves_(curves),
        site_(site),
        traffic_(traffic),
        element_(loss_element(facts.scenario, site)),
        days_(days_to_ready(facts.scenario)) {}

  Wide value() {
    Wide total = Wide{site_.fixed_month.count()} * kNano;
    for (int w = 0; w < facts_.scenario.spec.workloads_size(); ++w) {
      const auto index = static_cast<std::size_t>(w);
      const bool batch = facts_.scenario.spec.workloads(w).kind() == "batch";
      total += batch ? least_batch(index) : least_served(index);
    }
    return total;
  }

 private:
  bool usable(const Offer& offer, std::size_t workload) const {
    const auto& spec = facts_.scenario.spec.workloads(static_cast<int>(workload));
    return offer.lead_time_days <= days_ &&
           lacking(spec.requirements(), facts_.catalog.gpus[offer.gpu], offer).empty();
  }

  Wide least_batch(std::size_t workload) const {
    const spec::Workload& work =
        facts_.scenario.spec.workloads(static_cast<int>(workload));
    const Wide earned =
        Wide{std::max<std::int64_t>(0, prices_.batch[workload])} * kNano;
    if (earned == 0 || !facts_.batch_lawful(workload, site_)) return 0;
    Wide least = 0;
    for (const Offer& offer : site_.offers) {
      const auto rent = batch_rent(facts_, work, offer);
      if (rent) least = std::min(least, Wide{rent->objective} * kNano - earned);
    }
    return least;
  }

  Wide least_served(std::size_t workload) {
    gather(workload);
    if (lawful_.empty()) return 0;
    Wide least = 0;
    for (const LevelCurve& curve : curves_) {
      if (curve.workload == workload) least = std::min(least, least_of(curve, least));
    }
    return least;
  }

  /// Populations whose data may come here, and what they are worth in each block.
  void gather(std::size_t workload) {
    lawful_.clear();
    worth_.assign(facts_.demand.populations.size(), 0);
    for (auto& block : items_) block.clear();
    const std::int64_t rate = traffic_.lowest_paid_rate(site_.egress);
    for (std::uint32_t i = 0; i < facts_.demand.populations.size(); ++i) {
      const Population& population = facts_.demand.populations[PopulationId{i}];
      if (population.workload != workload || !facts_.lawful(population, site_))
        continue;
      lawful_.push_back(i);
      rtt_us_.resize(worth_.size());
      rtt_us_[i] = facts_.rtt(PopulationId{i}, site_).rtt.count();
      for (std::size_t b = 0; b < kBlocks; ++b) {
        const std::int64_t traffic = at_rate(
            population.requests_month[b] * traffic_.bytes_per_request(workload), rate);
        const std::int64_t worth = prices_.of[i][b] - traffic;
        if (worth <= 0) continue;
        worth_[i] += worth;
        items_[b].push_back({i, worth, population.load[b].count()});
      }
    }
    for (auto& block : items_) std::ranges::sort(block, denser);
  }

  std::vector<char> within(const std::vector<std::int64_t>& reach_us) const {
    std::vector<char> inside(worth_.size(), 0);
    for (const std::uint32_t i : lawful_) inside[i] = rtt_us_[i] <= reach_us[i] ? 1 : 0;
    return inside;
  }

  struct Reward {
    /// Need of rows of one element -> nano-dollars per micro-rps of degraded capacity;
    /// what is beyond the need earns nothing.
    std::map<std::int64_t, Wide> by_need;
    std::int64_t useful = 0;  // the largest need of all rows
    std::vector<const PricedRow*> any_loss;
  };

  /// What a row of any loss pays for degraded capacity x of its need N. Of equal sites
  /// that keep N whatever is lost, j + 1 must carry N / j each: there each counts
  /// 1 / (j + 1) of the row, in straight lines between, and half of it beyond N. Where
  /// nothing can be lost x counts as it is.
  Wide paid(const PricedRow& row, std::int64_t degraded) const {
    const Wide n = row.need;
    const Wide x = std::min<Wide>(degraded, n);
    if (x <= 0) return 0;
    if (element_.empty()) return x * row.multiplier;
    const Wide j = n / x;
    // Between N / (j + 1), worth N / (j + 2), and N / j, worth N / (j + 1).
    const Wide times = x == n ? n : n + j * (j + 1) * x;
    const Wide scale = x == n ? 2 : (j + 1) * (j + 2);
    return (times * row.multiplier + scale - 1) / scale;
  }

  Wide paid(const Reward& reward, std::int64_t degraded) const {
    Wide sum = 0;
    for (const auto& [need, multiplier] : reward.by_need) {
      sum += multiplier * std::min(degraded, need);
    }
    for (const PricedRow* row : reward.any_loss) sum += paid(*row, degraded);
    return sum;
  }

  Reward reward(const LevelCurve& curve) const {
    Reward reward;
    if (prices_.rows.empty()) return reward;
    const std::vector<char> inside = within(curve.degraded_reach_us);
    for (const PricedRow& row : prices_.rows) {
      if (row.multiplier == 0) continue;
      if (!row.element.empty() && row.element == element_) continue;
      const bool helps = std::ranges::any_of(lawful_, [&](std::uint32_t i) {
        return inside[i] != 0 && row.demands[i] != 0;
      });
      if (!helps) continue;
      reward.useful = std::max(reward.useful, row.need);
      if (row.element.empty()) {
        reward.any_loss.push_back(&row);
      } else {
        reward.by_need[row.need] += row.multiplier;
      }
    }
    return reward;
  }

  Wide least_of(const LevelCurve& curve, Wide at_most) const {
    std::vector<const Offer*> offers;
    for (const Offer& offer : site_.offers) {
      // The GPUs of a replica must talk: they are rented together, in one group.
      if (offer.gpu == curve.gpu && curve.replica_gpus <= offer.shape_gpus &&
          usable(offer, curve.workload)) {
        offers.push_back(&offer);
      }
    }
    if (offers.empty()) return 0;
    const std::vector<char> inside = within(curve.reach_us);
    const Reward ready = reward(curve);
    // Not even everything within reach pays for the cheapest group.
    Wide everything = paid(ready, ready.useful);
    for (const std::uint32_t i : lawful_) {
      if (inside[i] != 0) everything += Wide{worth_[i]} * kNano;
    }
    const bool worthless = std::ranges::all_of(offers, [&](const Offer* offer) {
      return cost(*offer, whole_groups(curve.replica_gpus, offer->shape_gpus)) -
                 everything >=
             at_most;
    });
    return worthless ? 0 : least_size(curve, offers, inside, ready);
  }

  std::int64_t peak_within(const std::vector<char>& inside) const {
    std::int64_t peak = 0;
    for (const auto& block : items_) {
      std::int64_t load = 0;
      for (const Item& item : block) {
        if (inside[item.population] != 0) load += item.load;
      }
      peak = std::max(peak, load);
    }
    return peak;
  }

  Wide least_size(const LevelCurve& curve, const std::vector<const Offer*>& offers,
                  const std::vector<char>& inside, const Reward& ready) const {
    const std::int64_t peak = peak_within(inside);
    std::size_t sizes = 0;
    while (sizes < curve.capacity.size()) {
      ++sizes;
      if (curve.capacity[sizes - 1] >= peak &&
          curve.degraded[sizes - 1] >= ready.useful) {
        break;
      }
    }
    std::vector<Wide> earned(sizes, 0);
    for (const auto& block : items_) {
      add_earnings(block, inside, curve.capacity, earned);
    }
    Wide least = 0;
    for (const Offer* offer : offers) {
      for (std::size_t i = 0; i < sizes; ++i) {
        const std::int64_t gpus = whole_groups(
            static_cast<std::int64_t>(i + 1) * curve.replica_gpus, offer->shape_gpus);
        if (offer->stock_gpus && gpus > *offer->stock_gpus) break;
        least = std::min(
            least, cost(*offer, gpus) - earned[i] - paid(ready, curve.degraded[i]));
      }
    }
    return least;
  }

  const Facts& facts_;
  const Prices& prices_;
  const std::vector<LevelCurve>& curves_;
  const CandidateSite& site_;
  const Traffic& traffic_;
  std::string element_;
  std::int64_t days_;
  std::vector<std::uint32_t> lawful_;
  std::vector<std::int64_t> worth_;
  std::vector<std::int64_t> rtt_us_;
  std::array<std::vector<Item>, kBlocks> items_;
};

LevelCurve curve_of(const Facts& facts, const plan::Table& table, std::size_t workload,
                    datasets::GpuId gpu) {
  LevelCurve curve;
  curve.workload = workload;
  curve.gpu = gpu;
  curve.replica_gpus = gpus_per_replica(facts.catalog, table.profile());
  std::array<std::int64_t, kBlocks> all{};
  for (std::uint32_t i = 0; i < facts.demand.populations.size(); ++i) {
    const Population& population = facts.demand.populations[PopulationId{i}];
    const bool own = population.workload == workload;
    const auto reach = own ? facts.reach_us(table, PopulationId{i}) : std::nullopt;
    curve.reach_us.push_back(reach ? reach->normal : -1);
    curve.degraded_reach_us.push_back(reach ? reach->degraded : -1);
    if (!own) continue;
    for (std::size_t b = 0; b < kBlocks; ++b) all[b] += population.load[b].count();
  }
  const std::int64_t most = *std::ranges::max_element(all);
  for (std::int64_t n = 1; n <= kMostReplicas; ++n) {
    curve.capacity.push_back(carried(table, n, false));
    curve.degraded.push_back(carried(table, n, true));
    if (std::min(curve.capacity.back(), curve.degraded.back()) >= most) break;
  }
  return curve;
}

}  // namespace

std::vector<LevelCurve> level_curves(const Facts& facts) {
  std::vector<LevelCurve> curves;
  for (const plan::Table& table : facts.plan.tables()) {
    const auto workload = facts.workload_index(table.workload());
    const auto gpu = facts.catalog.gpu(table.gpu());
    if (workload && gpu) curves.push_back(curve_of(facts, table, *workload, *gpu));
  }
  return curves;
}

Wide site_value(const Facts& facts, const Traffic& traffic, const Prices& prices,
                const std::vector<LevelCurve>& curves, const CandidateSite& site) {
  return SiteValue(facts, traffic, prices, curves, site).value();
}

}  // namespace isochrone::verify
