// A population's access time is known by five percentiles. Between them the logarithm
// of the time is taken as linear in the quantile, because access times span two decades
// and their tail is closer to a power than to a line. For the optimiser the law is cut
// into cells of probability; every cell stands at its upper edge, and the sum with the
// jitter is cut again into the same cells, again at upper edges. Rounding up twice
// costs accuracy (a fraction of a cell) but never promises a user a time he may not
// get.

#include "geo/last_mile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "geo/jitter.h"

namespace isochrone::geo {
namespace {

struct Knot {
  double quantile = 0;
  double time_ms = 0;
};

double between(Knot low, Knot high, double u) {
  const double share = (u - low.quantile) / (high.quantile - low.quantile);
  if (low.time_ms <= 0) return high.time_ms * share;
  return low.time_ms * std::pow(high.time_ms / low.time_ms, share);
}

/// 60 cells of .0125 to .75, 15 of .01 to .9, 18 of .005 to .99, then .995, .999, 1.
std::array<double, 97> cell_edges() {
  std::array<double, 97> edges{};
  for (std::size_t i = 0; i <= 60; ++i) edges[i] = static_cast<double>(i) / 80;
  for (std::size_t i = 1; i <= 15; ++i) {
    edges[60 + i] = static_cast<double>(75 + i) / 100;
  }
  for (std::size_t i = 1; i <= 18; ++i) {
    edges[75 + i] = static_cast<double>(180 + i) / 200;
  }
  edges[94] = 0.995;
  edges[95] = 0.999;
  edges[96] = 1;
  return edges;
}

/// One atom per cell, at the quantile of the cell's upper edge.
template <class Quantile>
AtomicLaw rounded_up(Quantile&& quantile) {
  const auto edges = cell_edges();
  AtomicLaw law;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    law.value_ms.push_back(quantile(edges[i + 1]));
    law.mass.push_back(edges[i + 1] - edges[i]);
  }
  return law;
}

/// The sum of two independent laws, cut into the same cells, each at its largest value.
AtomicLaw convolved(const AtomicLaw& a, const AtomicLaw& b) {
  std::vector<std::pair<double, double>> sums;
  sums.reserve(a.value_ms.size() * b.value_ms.size());
  for (std::size_t i = 0; i < a.value_ms.size(); ++i) {
    for (std::size_t j = 0; j < b.value_ms.size(); ++j) {
      sums.emplace_back(a.value_ms[i] + b.value_ms[j], a.mass[i] * b.mass[j]);
    }
  }
  std::ranges::sort(sums);
  const auto edges = cell_edges();
  AtomicLaw law;
  double below = 0;
  std::size_t next = 0;
  for (std::size_t cell = 0; cell + 1 < edges.size(); ++cell) {
    // The slack of 1e-12 goes to the larger value, so rounding never understates.
    while (next + 1 < sums.size() &&
           below + sums[next].second < edges[cell + 1] + 1e-12) {
      below += sums[next].second;
      ++next;
    }
    law.value_ms.push_back(cell + 2 == edges.size() ? sums.back().first
                                                    : sums[next].first);
    law.mass.push_back(edges[cell + 1] - edges[cell]);
  }
  return law;
}

}  // namespace

double AccessLaw::quantile_ms(double u) const {
  if (none()) return 0;
  if (p50_ms == p99_ms) return p50_ms;
  const std::array<Knot, 6> knots{{{0, 0.2 * p50_ms},
                                   {0.50, p50_ms},
                                   {0.75, p75_ms},
                                   {0.90, p90_ms},
                                   {0.95, p95_ms},
                                   {0.99, p99_ms}}};
  if (u > 0.99) {
    return std::min(2 * p99_ms, between(knots[4], knots[5], u));
  }
  const auto high =
      std::ranges::find_if(knots.begin() + 1, knots.end() - 1,
                           [u](const Knot& k) { return u <= k.quantile; });
  return between(*(high - 1), *high, std::max(u, 0.0));
}

AtomicLaw AccessLaw::atoms_with_jitter() const {
  if (none()) return rounded_up(backbone_jitter_quantile_ms);
  return convolved(rounded_up([this](double u) { return quantile_ms(u); }),
                   rounded_up(jitter_quantile_ms));
}

}  // namespace isochrone::geo
