#include "place/core/lagrangian.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"
#include "place/core/any_loss.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::vector<int> demands_reached(const Model& model, int site) {
  std::vector<int> reached;
  for (int k = 0; k < model.commodities(); ++k) {
    Bits all(model.mask_of(k).size(), 0);
    for (const Point& point : model.points(site, k)) {
      const Bits& reach = model.reach(site, point.reach);
      for (std::size_t w = 0; w < all.size(); ++w) all[w] |= reach[w];
    }
    for (const int d : model.demands_of(k)) {
      if (model.points(site, k).empty()) break;
      if (model.whole(k) || has_bit(all, d)) reached.push_back(d);
    }
  }
  return reached;
}

}  // namespace

Lagrangian::Lagrangian(const Model& model) : model_(model) {
  const std::size_t pairs = at(model.sites()) * at(model.commodities());
  markets_ = parallel_map(pairs, [&](std::size_t i) {
    return make_market(static_cast<int>(i) / model_.commodities(),
                       static_cast<int>(i) % model_.commodities());
  });
  reached_ = parallel_map(at(model.sites()), [&](std::size_t i) {
    return demands_reached(model, static_cast<int>(i));
  });
  shared_order_ =
      std::ranges::any_of(markets_, [](const Market& m) { return m.arcs.empty(); });
}

void Lagrangian::add_row(const SurvivalRow& row) {
  Row priced;
  priced.demands.assign(model_.mask_of(0).size(), 0);
  std::int64_t need = 0;
  for (const int d : row.demands) {
    set_bit(priced.demands, d);
    need += model_.load(row.block, d);
  }
  const bool whole_units = row.element == kNoLoss;
  priced.need = static_cast<double>(whole_units ? ceil_div(need, row.unit)
                                                : static_cast<Wide>(need));
  priced.lost.assign(at(model_.sites()), 0);
  if (row.element >= 0) {
    for (const int s : model_.sites_of(row.element)) priced.lost[at(s)] = 1;
  }
  priced.reaches = model_.classes_that_reach(priced.demands);
  priced.commodity = model_.instance().demands[at(row.demands.front())].commodity;
  priced.supply = parallel_map(at(model_.sites()), [&](std::size_t i) {
    const int s = static_cast<int>(i);
    const bool safe =
        row.element != kAnyLoss || model_.instance().sites[i].elements.empty();
    const std::vector<Point>& points = model_.points(s, priced.commodity);
    std::vector<float> supply(points.size(), 0);
    bool any = false;
    for (std::size_t p = 0; p < points.size() && priced.lost[i] == 0; ++p) {
      const Point& point = points[p];
      const int reach = whole_units ? point.reach : point.degraded_reach;
      if (priced.reaches[model_.class_index(s, reach)] == 0) continue;
      any = true;
      supply[p] = whole_units
                      ? static_cast<float>(ceil_div(point.capacity, row.unit))
                      : any_loss_supply(point.degraded, need, safe).approximate();
    }
    if (!any) supply.clear();
    return supply;
  });
  for (const std::vector<float>& supply : priced.supply) {
    priced.most_supply.push_back(supply.empty() ? 0
                                                : *std::ranges::max_element(supply));
  }
  priced_.push_back(std::move(priced));
  rows_.push_back(row);
}

double Lagrangian::row_load(std::size_t row, int demand) const {
  if (!has_bit(priced_[row].demands, demand) || rows_[row].element == kNoLoss) return 0;
  return static_cast<double>(model_.load(rows_[row].block, demand));
}

Lagrangian::ItemLists Lagrangian::sorted_items(const Prices& prices) const {
  if (!shared_order_) return {};
  const std::size_t lists = at(model_.commodities()) * at(model_.blocks());
  return parallel_map(lists, [&](std::size_t i) {
    const int k = static_cast<int>(i) / model_.blocks();
    const int b = static_cast<int>(i) % model_.blocks();
    ItemList list;
    if (model_.whole(k)) return list;
    for (const int d : model_.demands_of(k)) {
      const double worth = prices.demand[at(b) * at(model_.demands()) + at(d)];
      if (worth <= 0) continue;
      const double load = static_cast<double>(model_.load(b, d));
      list.items.push_back({d, worth, load, load > 0 ? worth / load : kNever});
    }
    arrange(list);
    return list;
  });
}

Outcome Lagrangian::evaluate(const Prices& prices, const Restriction& within) const {
  return outcome_of(prices, within, results_of(prices, within, {}));
}

Outcome Lagrangian::evaluate(const Prices& prices, const Restriction& within,
                             Slack& slack) const {
  constexpr int kMostUses = 12;
  const bool fresh = slack.room.empty() || ++slack.uses >= kMostUses ||
                     slack.since.row.size() != prices.row.size();
  const std::vector<SiteResult> results = results_of(
      prices, within, fresh ? std::vector<double>{} : rooms_left(prices, slack));
  if (fresh) {
    slack = {prices, {}, 0};
    for (const SiteResult& result : results) slack.room.push_back(result.opening);
  }
  return outcome_of(prices, within, results);
}

/// What sites lack to be worth opening, at least.
std::vector<double> Lagrangian::rooms_left(const Prices& prices,
                                           const Slack& slack) const {
  std::vector<double> rise(at(model_.demands()), 0);
  for (std::size_t i = 0; i < prices.demand.size(); ++i) {
    rise[i % rise.size()] += std::max(0.0, prices.demand[i] - slack.since.demand[i]);
  }
  std::vector<double> room = slack.room;
  for (std::size_t s = 0; s < room.size(); ++s) {
    if (!(room[s] > 0)) continue;
    for (const int d : reached_[s]) room[s] -= rise[at(d)];
    for (std::size_t r = 0; r < priced_.size(); ++r) {
      room[s] -= std::max(0.0, prices.row[r] - slack.since.row[r]) *
                 static_cast<double>(priced_[r].most_supply[s]);
    }
    // Sums of many terms in another order than the site would add them up.
    room[s] -= 1e-9 * std::abs(slack.room[s]);
  }
  return room;
}

std::vector<Lagrangian::SiteResult> Lagrangian::results_of(
    const Prices& prices, const Restriction& within,
    const std::vector<double>& room) const {
  const ItemLists items = sorted_items(prices);
  std::vector<SiteResult> results(at(model_.sites()));
  std::vector<int> asked;
  for (int s = 0; s < model_.sites(); ++s) {
    if (room.empty() || !(room[at(s)] > 0)) {
      asked.push_back(s);
    } else {
      results[at(s)].reduced = results[at(s)].opening = room[at(s)];
      results[at(s)].pick.assign(at(model_.commodities()), -1);
    }
  }
  // Neighbouring sites are alike, so chunks of equal size are of equal work.
  constexpr std::size_t kChunk = 8;
  parallel_for_each_index((asked.size() + kChunk - 1) / kChunk, [&](std::size_t c) {
    for (std::size_t i = c * kChunk; i < std::min(asked.size(), (c + 1) * kChunk);
         ++i) {
      results[at(asked[i])] = value_of_site(asked[i], items, prices, within);
    }
  });
  return results;
}

Outcome Lagrangian::outcome_of(const Prices& prices, const Restriction& within,
                               const std::vector<SiteResult>& results) const {
  Outcome outcome;
  outcome.value = static_cast<double>(model_.instance().constant);
  for (const double price : prices.demand) outcome.value += price;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    outcome.value += prices.row[r] * priced_[r].need;
  }
  for (const std::int64_t premium : model_.instance().group_premium) {
    outcome.value += static_cast<double>(std::min<std::int64_t>(0, premium));
  }
  choose_unserved(prices, outcome);
  choose_sites(results, within, outcome);
  return outcome;
}

void Lagrangian::choose_sites(const std::vector<SiteResult>& results,
                              const Restriction& within, Outcome& outcome) const {
  const std::size_t sites = results.size();
  outcome.open.assign(sites, 0);
  outcome.site_value.resize(sites);
  outcome.opening.resize(sites);
  outcome.pick.assign(sites * at(model_.commodities()), -1);
  std::vector<std::size_t> negative;
  std::int64_t left = model_.instance().max_sites.value_or(model_.sites());
  for (std::size_t s = 0; s < sites; ++s) {
    outcome.site_value[s] = results[s].reduced;
    outcome.opening[s] = results[s].opening;
    if (model_.instance().sites[s].pinned ||
        within.open[s] == Restriction::Open::kYes) {
      outcome.open[s] = 1;
      --left;
    } else if (results[s].value < 0) {
      negative.push_back(s);
    }
  }
  std::ranges::stable_sort(negative, {},
                           [&](std::size_t s) { return results[s].value; });
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(0, left));
  if (negative.size() > keep) negative.resize(keep);
  for (const std::size_t s : negative) outcome.open[s] = 1;
  for (std::size_t s = 0; s < sites; ++s) {
    if (outcome.open[s] == 0) continue;
    outcome.value += results[s].value;
    for (int k = 0; k < model_.commodities(); ++k) {
      outcome.pick[s * at(model_.commodities()) + at(k)] = results[s].pick[at(k)];
    }
  }
}

void Lagrangian::choose_unserved(const Prices& prices, Outcome& outcome) const {
  outcome.unserved.assign(at(model_.demands()), 0);
  for (std::size_t g = 0; g < model_.instance().coverage.size(); ++g) {
    std::vector<std::pair<double, int>> candidates;  // value per weight
    std::vector<double> value(at(model_.demands()), 0);
    for (int d = 0; d < model_.demands(); ++d) {
      const DemandRow& row = model_.instance().demands[at(d)];
      if (row.coverage_group != static_cast<int>(g)) continue;
      value[at(d)] = static_cast<double>(row.unserved_cost);
      for (int b = 0; b < model_.blocks(); ++b) {
        value[at(d)] -= prices.demand[at(b) * at(model_.demands()) + at(d)];
      }
      for (std::size_t r = 0; r < rows_.size(); ++r) {
        value[at(d)] -= prices.row[r] * row_load(r, d);
      }
      if (value[at(d)] >= 0) continue;
      const double weight = static_cast<double>(row.coverage_weight);
      candidates.emplace_back(weight > 0 ? value[at(d)] / weight : -kNever, d);
    }
    std::ranges::sort(candidates);
    double slack = static_cast<double>(model_.instance().coverage[g].slack);
    for (const auto& [ratio, d] : candidates) {
      const double weight =
          static_cast<double>(model_.instance().demands[at(d)].coverage_weight);
      const double part = weight <= slack ? 1 : slack / weight;
      outcome.unserved[at(d)] = part;
      outcome.value += part * value[at(d)];
      slack -= part * weight;
      if (part < 1) break;
    }
  }
}

/// Adds what a pool serves of the items, densest first, until `left` is used up.
void Lagrangian::serve(const std::vector<Item>& items, double rate, const Bits& reach,
                       double left, double* served) {
  for (const Item& item : items) {
    if (item.density <= rate) return;
    if (!has_bit(reach, item.demand)) continue;
    const double part = item.load <= left ? 1 : left / item.load;
    served[item.demand] += part;
    left -= part * item.load;
    if (part < 1) return;
  }
}

Activity Lagrangian::activity(const Outcome& outcome, const Prices& prices) const {
  const ItemLists items = sorted_items(prices);
  const std::size_t demands = at(model_.demands());
  Activity activity;
  activity.served.assign(at(model_.blocks()) * demands, 0);
  parallel_for_each_index(at(model_.blocks()), [&](std::size_t b) {
    double* served = activity.served.data() + b * demands;
    for (int s = 0; s < model_.sites(); ++s) {
      if (outcome.open[at(s)] == 0) continue;
      for (int k = 0; k < model_.commodities(); ++k) {
        const int pick = outcome.pick[at(s) * at(model_.commodities()) + at(k)];
        if (pick < 0) continue;
        const Point& point = model_.points(s, k)[at(pick)];
        if (model_.whole(k)) {
          for (const int d : model_.demands_of(k)) served[d] += 1;
          continue;
        }
        double left = static_cast<double>(point.capacity);
        const Market& own = market(s, k);
        if (!own.arcs.empty()) {
          OwnItems worthy = own_items(own, static_cast<int>(b), prices);
          if (worthy.load > left && own.groups.size() == 1) {
            sort_densest(worthy.items, left);
          } else if (worthy.load > left) {
            sort_by_density(worthy.items);
          }
          serve(worthy.items, 0, model_.reach(s, point.reach), left, served);
        } else {
          serve(items[at(k) * at(model_.blocks()) + b].items, own.traffic_rate[b],
                model_.reach(s, point.reach), left, served);
        }
      }
    }
  });
  activity.capacity.assign(rows_.size(), 0);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = priced_[r];
    for (int s = 0; s < model_.sites(); ++s) {
      const int pick =
          outcome.pick[at(s) * at(model_.commodities()) + at(row.commodity)];
      if (outcome.open[at(s)] == 0 || pick < 0 || row.supply[at(s)].empty()) continue;
      activity.capacity[r] += static_cast<double>(row.supply[at(s)][at(pick)]);
    }
  }
  return activity;
}

}  // namespace isochrone::place
