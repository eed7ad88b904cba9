// The proof. For prices u (per demand and block, for all of the demand) and multipliers
// m >= 0 of survival rows, every plan costs at least
//
//   constant + sum u + sum m * need                   (the relaxed rows, priced)
//   + sum over coverage groups of the least of y * (unserved cost - u - m * load)
//   + sum over groups of min(0, premium)
//   + sum over pinned sites of V + sum of the P most negative V of the others,
//
//   V = fixed + sum over commodities of min(0, least over (option, n) of
//         cost - gain(reach class, capacity) - m-weighted supply after a loss),
//
// where gain is what the prices would pay, at most, to fill the capacity: a fractional
// knapsack per block, and supply is degraded capacity up to the need of the row, or
// what the row of any loss counts of it (any_loss.h), or capacity in whole units.
// Everything is counted in
// nano-dollars (1000 to a MicroUsd) in 128 bits; gains are rounded up and the end is
// rounded down, so rounding only weakens the bound. Nothing here is approximate, and
// nothing is shared with the search but Model.
#include "place/core/bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "base/parallel.h"
#include "place/core/any_loss.h"
#include "place/core/solve.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr Wide kNano = 1000;

struct PricedCut {
  Bits demands;
  std::int64_t multiplier = 0;
  int element = 0;
  std::int64_t need = 0;
  std::int64_t unit = 0;
  std::vector<std::uint8_t> lost;     // by site
  std::vector<std::uint8_t> reaches;  // by class of all sites, all commodities
};

struct Item {
  int demand = 0;
  std::int64_t worth = 0;  // MicroUsd for all of it
  std::int64_t load = 0;
};

/// Worth per load, descending, compared exactly; weightless first, then by index.
bool denser(const Item& a, const Item& b) {
  if ((a.load == 0) != (b.load == 0)) return a.load == 0;
  const Wide left = static_cast<Wide>(a.worth) * b.load;
  const Wide right = static_cast<Wide>(b.worth) * a.load;
  return left != right ? left > right : a.demand < b.demand;
}

class Prover {
 public:
  Prover(const Model& model, const Certificate& certificate, const Restriction& within)
      : model_(model), certificate_(certificate), within_(within) {
    check();
    for (const auto& row : certificate.rows) add_cut(row);
    sort_items();
  }

  std::int64_t bound() const {
    return saturate(floor_div(relaxed() + least_sites(site_values(), {}), kNano));
  }

  /// The least bound with one of the sites open or closed against the restriction.
  std::int64_t bound(const std::vector<PartProof::Excluded>& excluded) const {
    const Wide fixed = relaxed();
    const std::vector<Wide> values = site_values();
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const PartProof::Excluded& one : excluded) {
      least =
          std::min(least, saturate(floor_div(fixed + least_sites(values, one), kNano)));
    }
    return least;
  }

 private:
  /// All but what sites add.
  Wide relaxed() const {
    Wide total = model_.instance().constant * kNano;
    for (int b = 0; b < model_.blocks(); ++b) {
      for (int d = 0; d < model_.demands(); ++d) total += price(b, d) * kNano;
    }
    for (const auto& row : certificate_.rows) {
      const Wide units = row.row.element == kNoLoss
                             ? ceil_div(need(row.row), row.row.unit)
                             : need(row.row);
      total += static_cast<Wide>(row.multiplier) * units;
    }
    for (const std::int64_t premium : model_.instance().group_premium) {
      total += std::min<Wide>(0, premium) * kNano;
    }
    return total + least_unserved();
  }

  void check() const {
    const auto wrong = [](const char* what) {
      throw std::invalid_argument(std::string("certificate: ") + what);
    };
    if (certificate_.price.size() != at(model_.blocks())) wrong("prices by block");
    for (const auto& block : certificate_.price) {
      if (block.size() != at(model_.demands())) wrong("prices by demand");
    }
    for (const auto& row : certificate_.rows) {
      if (row.multiplier < 0) wrong("negative multiplier");
      if (row.row.block < 0 || row.row.block >= model_.blocks()) wrong("row block");
      const bool any = row.row.element == kAnyLoss && model_.instance().elements > 0;
      const bool none = row.row.element == kNoLoss && row.row.unit > 0;
      if (!any && !none &&
          (row.row.element < 0 || row.row.element >= model_.instance().elements)) {
        wrong("row element");
      }
      for (const int d : row.row.demands) {
        if (d < 0 || d >= model_.demands()) wrong("row demand");
        if (none && model_.instance().demands[at(d)].coverage_group >= 0) {
          wrong("a row in whole units with a demand that may be left unserved");
        }
      }
    }
  }

  std::int64_t price(int block, int demand) const {
    return certificate_.price[at(block)][at(demand)];
  }

  /// Of all of K, whatever the row claims: only that makes the row valid for every
  /// plan.
  Wide need(const SurvivalRow& row) const {
    Bits seen(model_.mask_of(0).size(), 0);
    Wide total = 0;
    for (const int d : row.demands) {
      if (!has_bit(seen, d)) total += model_.load(row.block, d);
      set_bit(seen, d);
    }
    return total;
  }

  void add_cut(const Certificate::PricedRow& row) {
    PricedCut cut;
    cut.multiplier = row.multiplier;
    cut.demands.assign(model_.mask_of(0).size(), 0);
    for (const int d : row.row.demands) set_bit(cut.demands, d);
    cut.lost.assign(at(model_.sites()), 0);
    cut.element = row.row.element;
    cut.unit = row.row.unit;
    cut.need = saturate(need(row.row));
    if (cut.element >= 0) {
      for (const int s : model_.sites_of(row.row.element)) cut.lost[at(s)] = 1;
    }
    for (int k = 0; k < model_.commodities(); ++k) {
      Bits own = cut.demands;
      for (std::size_t w = 0; w < own.size(); ++w) own[w] &= model_.mask_of(k)[w];
      const auto reaches = model_.classes_that_reach(own);
      cut.reaches.insert(cut.reaches.end(), reaches.begin(), reaches.end());
    }
    cuts_.push_back(std::move(cut));
  }

  void sort_items() {
    const std::size_t lists = at(model_.commodities()) * at(model_.blocks());
    items_ = parallel_map(lists, [&](std::size_t i) {
      const int k = static_cast<int>(i) / model_.blocks();
      const int b = static_cast<int>(i) % model_.blocks();
      std::vector<Item> items;
      for (const int d : model_.demands_of(k)) {
        if (price(b, d) > 0) items.push_back({d, price(b, d), model_.load(b, d)});
      }
      std::ranges::sort(items, denser);
      return items;
    });
  }

  /// Items of one site, block and commodity, by density after the cost of traffic.
  std::vector<Item> items_of(int site, int commodity, int block) const {
    const auto& all = items_[at(commodity) * at(model_.blocks()) + at(block)];
    if (model_.free_traffic(site)) return all;
    std::vector<Item> items;
    for (const int d : model_.demands_of(commodity)) {
      const std::int64_t worth = price(block, d) - model_.traffic_cost(site, block, d);
      if (worth > 0) items.push_back({d, worth, model_.load(block, d)});
    }
    std::ranges::sort(items, denser);
    return items;
  }

  /// Adds to gains[j] what capacity caps[j] (ascending) earns from the items within
  /// reach: whole items while they fit, then a part of the next, rounded up.
  static void fill_knapsacks(const std::vector<Item>& items, const Bits& reach,
                             const std::vector<std::int64_t>& caps,
                             std::vector<Wide>& gains) {
    Wide load = 0;
    Wide worth = 0;
    std::size_t j = 0;
    for (const Item& item : items) {
      if (!has_bit(reach, item.demand)) continue;
      for (; j < caps.size() && caps[j] < load + item.load; ++j) {
        const Wide part = (caps[j] - load) * item.worth * kNano;
        gains[j] += worth + ceil_div(part, item.load);
      }
      if (j == caps.size()) return;
      load += item.load;
      worth += item.worth * kNano;
    }
    for (; j < caps.size(); ++j) gains[j] += worth;
  }

  Wide whole_gain(int site, int commodity, const Bits& reach) const {
    Wide gain = 0;
    for (const int d : model_.demands_of(commodity)) {
      if (!has_bit(reach, d)) continue;
      for (int b = 0; b < model_.blocks(); ++b) {
        gain +=
            (static_cast<Wide>(price(b, d)) - model_.traffic_cost(site, b, d)) * kNano;
      }
    }
    return std::max<Wide>(0, gain);
  }

  using Rewards = std::vector<const PricedCut*>;

  /// Cuts whose multipliers pay for points of these classes.
  Rewards rewards_of(int site, int commodity, const Point& point) const {
    Rewards rewards;
    for (const PricedCut& cut : cuts_) {
      if (cut.lost[at(site)] != 0 || cut.multiplier == 0) continue;
      const int reach = cut.element == kNoLoss ? point.reach : point.degraded_reach;
      const std::size_t index =
          at(commodity) * model_.class_count() + model_.class_index(site, reach);
      if (cut.reaches[index] != 0) rewards.push_back(&cut);
    }
    return rewards;
  }

  /// Of capacity beyond the need of a cut nothing counts: the rest needs none of it.
  Wide paid(const Rewards& rewards, int site, const Point& point) const {
    const bool safe = model_.instance().sites[at(site)].elements.empty();
    Wide sum = 0;
    for (const PricedCut* cut : rewards) {
      if (cut->element == kNoLoss) {
        sum += ceil_div(std::max<std::int64_t>(0, point.capacity), cut->unit) *
               cut->multiplier;
        continue;
      }
      const AnyLossSupply supply =
          any_loss_supply(point.degraded, cut->need, safe || cut->element != kAnyLoss);
      sum += ceil_div(supply.times * cut->multiplier, supply.scale);
    }
    return sum;
  }

  Wide least_choice(int site, int commodity) const {
    std::map<int, std::vector<const Point*>> by_class;
    const std::vector<Point>& all = model_.points(site, commodity);
    for (std::size_t p = 0; p < all.size(); ++p) {
      if (within_.range[at(site) * at(model_.commodities()) + at(commodity)].holds(
              model_.ranks(site, commodity)[p])) {
        by_class[all[p].reach].push_back(&all[p]);
      }
    }
    std::vector<std::vector<Item>> items(at(model_.blocks()));
    if (!by_class.empty() && !model_.whole(commodity)) {
      for (int b = 0; b < model_.blocks(); ++b) {
        items[at(b)] = items_of(site, commodity, b);
      }
    }
    std::map<std::pair<int, int>, Rewards> rewards;
    const Restriction::Range range =
        within_.range[at(site) * at(model_.commodities()) + at(commodity)];
    constexpr Wide kImpossible = Wide{1} << 100;
    Wide least = range.first > 0 ? kImpossible : 0;
    for (auto& [reach_class, points] : by_class) {
      std::ranges::stable_sort(points, {}, &Point::capacity);
      std::vector<std::int64_t> caps;
      for (const Point* p : points)
        caps.push_back(std::max<std::int64_t>(0, p->capacity));
      std::vector<Wide> gains(points.size(), 0);
      const Bits& reach = model_.reach(site, reach_class);
      if (model_.whole(commodity)) {
        gains.assign(points.size(), whole_gain(site, commodity, reach));
      } else {
        for (const auto& block : items) fill_knapsacks(block, reach, caps, gains);
      }
      for (std::size_t i = 0; i < points.size(); ++i) {
        const std::pair classes{points[i]->reach, points[i]->degraded_reach};
        if (!rewards.contains(classes)) {
          rewards[classes] = rewards_of(site, commodity, *points[i]);
        }
        const Wide value = points[i]->cost * kNano - gains[i] -
                           paid(rewards[classes], site, *points[i]);
        least = std::min(least, value);
      }
    }
    return least;
  }

  std::vector<Wide> site_values() const {
    return parallel_map(at(model_.sites()), [&](std::size_t s) {
      if (within_.open[s] == Restriction::Open::kNo) return Wide{0};
      Wide value = model_.instance().sites[s].fixed_cost * kNano;
      for (int k = 0; k < model_.commodities(); ++k) {
        value += least_choice(static_cast<int>(s), k);
      }
      return value;
    });
  }

  Wide least_sites(const std::vector<Wide>& values,
                   const PartProof::Excluded& excluded) const {
    Wide total = 0;
    std::int64_t open = 0;
    std::vector<Wide> negative;
    for (std::size_t s = 0; s < values.size(); ++s) {
      Restriction::Open state = within_.open[s];
      if (excluded.open != Restriction::Open::kFree && s == at(excluded.site)) {
        state = excluded.open;
      }
      if (state == Restriction::Open::kNo) continue;
      if (model_.instance().sites[s].pinned || state == Restriction::Open::kYes) {
        total += values[s];
        ++open;
      } else if (values[s] < 0) {
        negative.push_back(values[s]);
      }
    }
    std::ranges::sort(negative);
    std::size_t more = negative.size();
    if (model_.instance().max_sites) {
      const std::int64_t left = *model_.instance().max_sites - open;
      more = std::min(more, static_cast<std::size_t>(std::max<std::int64_t>(0, left)));
    }
    for (std::size_t i = 0; i < more; ++i) total += negative[i];
    return total;
  }

  /// Least of sum y * value with sum weight * y <= slack and 0 <= y <= 1, per group.
  Wide least_unserved() const {
    struct Candidate {
      Wide value = 0;  // nano-dollars, negative
      std::int64_t weight = 0;
    };
    Wide total = 0;
    for (std::size_t g = 0; g < model_.instance().coverage.size(); ++g) {
      std::vector<Candidate> candidates;
      for (int d = 0; d < model_.demands(); ++d) {
        const DemandRow& row = model_.instance().demands[at(d)];
        if (row.coverage_group != static_cast<int>(g)) continue;
        Wide value = row.unserved_cost * kNano;
        for (int b = 0; b < model_.blocks(); ++b) value -= price(b, d) * kNano;
        for (std::size_t r = 0; r < cuts_.size(); ++r) {
          if (!has_bit(cuts_[r].demands, d)) continue;
          value -= static_cast<Wide>(cuts_[r].multiplier) *
                   model_.load(certificate_.rows[r].row.block, d);
        }
        if (value < 0) candidates.push_back({value, row.coverage_weight});
      }
      // Values reach 2^80 and weights 2^40 at most, so products stay within 127 bits.
      std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.value * b.weight < b.value * a.weight;
      });
      std::int64_t slack =
          std::max<std::int64_t>(0, model_.instance().coverage[g].slack);
      for (const Candidate& c : candidates) {
        if (c.weight <= slack) {
          total += c.value;
          slack -= c.weight;
        } else {
          total += floor_div(c.value * slack, c.weight);
          break;
        }
      }
    }
    return total;
  }

  const Model& model_;
  const Certificate& certificate_;
  const Restriction& within_;
  std::vector<PricedCut> cuts_;
  std::vector<std::vector<Item>> items_;  // [commodity * blocks + block]
};

}  // namespace

std::int64_t evaluate_bound(const Model& model, const Certificate& certificate) {
  const Restriction all = everything(model);
  return Prover(model, certificate, all).bound();
}

std::int64_t evaluate_bound(const Model& model, const PartProof& proof) {
  const Prover prover(model, proof.certificate, proof.within);
  return proof.excluded.empty() ? prover.bound() : prover.bound(proof.excluded);
}

std::int64_t evaluate_bound(const Model& model, const std::vector<PartProof>& parts) {
  const std::vector<std::int64_t> bounds = parallel_map(
      parts.size(), [&](std::size_t i) { return evaluate_bound(model, parts[i]); });
  return *std::ranges::min_element(bounds);
}

std::int64_t evaluate_bound(const Instance& instance, const Certificate& certificate) {
  return evaluate_bound(Model(instance), certificate);
}

Instance billed(const Instance& instance) {
  Instance bill = instance;
  for (Site& site : bill.sites) {
    site.fixed_cost = site.fixed_bill;
    for (Option& option : site.options) option.cost = option.bill;
  }
  for (DemandRow& demand : bill.demands) demand.unserved_cost = 0;
  std::ranges::fill(bill.group_premium, 0);
  bill.budget.reset();
  return bill;
}

}  // namespace isochrone::place
