#include "place/core/survival_rows.h"

#include <algorithm>
#include <set>

#include "place/core/any_loss.h"

namespace isochrone::place {
namespace {

/// The block in which the demands need most: its row implies those of all others.
SurvivalRow row_of(const Model& model, std::vector<int> demands) {
  SurvivalRow row{kAnyLoss, 0, std::move(demands), -1};
  for (int b = 0; b < model.blocks(); ++b) {
    std::int64_t need = 0;
    for (const int d : row.demands) need += model.load(b, d);
    if (need > row.need) {
      row.need = need;
      row.block = b;
    }
  }
  return row;
}

/// What the average answer has of degraded capacity that a cut may count on.
struct Supply {
  std::vector<double> by_site;
  double total = 0;
  double any_loss = 0;  // as the row of any loss counts it
};

Supply average_supply(const Model& model, const DualAscent& dual, const Cut& cut,
                      std::int64_t need) {
  Supply supply;
  supply.by_site.assign(at(model.sites()), 0);
  for (int s = 0; s < model.sites(); ++s) {
    const bool safe = model.instance().sites[at(s)].elements.empty();
    const auto& points = model.points(s, cut.commodity);
    const auto& weights =
        dual.weights()[at(s) * at(model.commodities()) + at(cut.commodity)];
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (weights[p] <= 0) continue;
      if (cut.reaches[model.class_index(s, points[p].degraded_reach)] == 0) continue;
      supply.by_site[at(s)] += weights[p] * static_cast<double>(points[p].degraded);
      supply.any_loss +=
          weights[p] * any_loss_supply(points[p].degraded, need, safe).approximate();
    }
    supply.total += supply.by_site[at(s)];
  }
  return supply;
}

}  // namespace

std::vector<SurvivalRow> rows_of_everything(const Model& model) {
  std::vector<SurvivalRow> rows;
  for (int k = 0; k < model.commodities(); ++k) {
    if (model.instance().elements == 0 || model.whole(k)) continue;
    if (model.demands_of(k).empty()) continue;
    rows.push_back(row_of(model, model.demands_of(k)));
  }
  return rows;
}

std::vector<SurvivalRow> rows_of_whole_units(const Model& model) {
  std::vector<SurvivalRow> rows;
  for (int k = 0; k < model.commodities(); ++k) {
    if (model.whole(k)) continue;
    std::vector<int> demands = model.demands_of(k);
    std::erase_if(demands, [&](int d) {
      return model.instance().demands[at(d)].coverage_group >= 0;
    });
    std::int64_t unit = 0;
    for (int s = 0; s < model.sites(); ++s) {
      for (const Point& point : model.points(s, k)) {
        if (point.replicas == 1) unit = std::max(unit, point.capacity);
      }
    }
    if (demands.empty() || unit <= 0) continue;
    SurvivalRow row = row_of(model, std::move(demands));
    row.element = kNoLoss;
    row.unit = unit;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<SurvivalRow> violated_rows(const Model& model, const DualAscent& dual,
                                       const std::vector<Cut>& cuts, std::size_t most) {
  std::vector<std::pair<double, SurvivalRow>> found;
  std::set<Bits> seen;
  for (const Cut& cut : cuts) {
    if (!cut.loss || !seen.insert(cut.demands).second) continue;
    std::vector<int> demands;
    for (const int d : model.demands_of(cut.commodity)) {
      if (has_bit(cut.demands, d)) demands.push_back(d);
    }
    if (demands.empty()) continue;
    SurvivalRow row = row_of(model, std::move(demands));
    double need = 0;
    for (const int d : row.demands) {
      need +=
          static_cast<double>(model.load(row.block, d)) * (1 - dual.unserved()[at(d)]);
    }
    if (need <= 0) continue;
    const Supply supply = average_supply(model, dual, cut, row.need);
    constexpr double kViolated = 1e-3;
    const double missing = (need - supply.any_loss) / need;
    if (missing >= kViolated) found.emplace_back(missing, row);
    for (int e = 0; e < model.instance().elements; ++e) {
      double left = supply.total;
      for (const int s : model.sites_of(e)) left -= supply.by_site[at(s)];
      const double missing_without = (need - left) / need;
      if (missing_without < std::max(kViolated, missing)) continue;
      row.element = e;
      found.emplace_back(missing_without, row);
    }
  }
  std::ranges::stable_sort(
      found, [](const auto& a, const auto& b) { return a.first > b.first; });
  if (found.size() > most) found.resize(most);
  std::vector<SurvivalRow> rows;
  for (auto& [missing, row] : found) rows.push_back(std::move(row));
  return rows;
}

}  // namespace isochrone::place
