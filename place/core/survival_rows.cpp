#include "place/core/survival_rows.h"

#include <algorithm>

namespace isochrone::place {
namespace {

/// Average degraded capacity by site that the cut may count on.
std::vector<double> average_supply(const Model& model, const DualAscent& dual,
                                   const Cut& cut) {
  std::vector<double> supply(at(model.sites()), 0);
  for (int s = 0; s < model.sites(); ++s) {
    const auto& points = model.points(s, cut.commodity);
    const auto& weights =
        dual.weights()[at(s) * at(model.commodities()) + at(cut.commodity)];
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (weights[p] <= 0) continue;
      if (cut.reaches[model.class_index(s, points[p].degraded_reach)] == 0) continue;
      supply[at(s)] += weights[p] * static_cast<double>(points[p].degraded);
    }
  }
  return supply;
}

}  // namespace

std::vector<SurvivalRow> violated_rows(const Model& model, const DualAscent& dual,
                                       const std::vector<Cut>& cuts, std::size_t most) {
  std::vector<std::pair<double, SurvivalRow>> found;
  for (const Cut& cut : cuts) {
    if (!cut.loss) continue;
    SurvivalRow row{0, cut.block, {}, 0};
    double need = 0;
    for (const int d : model.demands_of(cut.commodity)) {
      if (!has_bit(cut.demands, d)) continue;
      row.demands.push_back(d);
      row.need += model.load(cut.block, d);
      need +=
          static_cast<double>(model.load(cut.block, d)) * (1 - dual.unserved()[at(d)]);
    }
    if (row.demands.empty() || need <= 0) continue;
    const std::vector<double> supply = average_supply(model, dual, cut);
    double total = 0;
    for (const double amount : supply) total += amount;
    for (int e = 0; e < model.instance().elements; ++e) {
      double left = total;
      for (const int s : model.sites_of(e)) left -= supply[at(s)];
      const double missing = (need - left) / need;
      if (missing < 1e-3) continue;
      row.element = e;
      found.emplace_back(missing, row);
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
