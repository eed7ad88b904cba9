#pragma once

#include <algorithm>
#include <cstdint>

#include "place/core/wide.h"

namespace isochrone::place {

/// The row of any loss. Sites carry x_1, x_2, ... (degraded) of a need N, at most one
/// element of sites is lost, and whatever is lost, the others carry N. Then
///
///   sum h(x_s) >= N,   h concave, piecewise linear, h(N / j) = N / (j + 1), j = 1, 2,
///   ..
///                      h(x) = N / 2 beyond N; h(x) = min(x, N) where nothing is lost,
///
/// with equality for any number of equal sites: two of N, three of N / 2, four of N
/// / 3. It bounds what a row per element cannot: that few sites need much spare
/// capacity and many sites have many fixed costs. Proof: place/MODEL.md, Survival.
///
/// h(x) * (j + 1) * (j + 2), an integer, with the j of the piece that x lies on.
struct AnyLossSupply {
  Wide times = 0;  ///< h(x) * scale
  Wide scale = 1;

  float approximate() const {
    return static_cast<float>(static_cast<double>(times) / static_cast<double>(scale));
  }
};

inline AnyLossSupply any_loss_supply(std::int64_t degraded, std::int64_t need,
                                     bool safe) {
  const Wide x = std::clamp<std::int64_t>(degraded, 0, need);
  if (safe || x == 0) return {x, 1};
  if (x == need) return {need, 2};
  const Wide j = need / x;
  return {j * (j + 1) * x + need, (j + 1) * (j + 2)};
}

}  // namespace isochrone::place
