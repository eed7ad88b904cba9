#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "sim/pool.h"

namespace isochrone::sim {

/// Exponential of this mean. Each cell stands at its own mean, so the mean of the law
/// is exact; what the last cell lacks is variance.
inline IntegerLaw exponential_law(double mean) {
  const auto above = [](double p) {  // integral of the quantile from p to 1
    return p >= 1 ? 0 : (1 - p) * (1 - std::log1p(-p));
  };
  std::vector<std::int64_t> cells(IntegerLaw::kCells);
  const auto count = static_cast<double>(IntegerLaw::kCells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double low = static_cast<double>(i) / count;
    const double high = static_cast<double>(i + 1) / count;
    cells[i] = std::max<std::int64_t>(
        1, std::llround(mean * count * (above(low) - above(high))));
  }
  return IntegerLaw(cells);
}

/// `count` servers that each serve one request at a time, for a draw of the law in ns.
inline PoolKind servers(const IntegerLaw& law, std::int64_t count) {
  PoolKind kind;
  kind.slots = SlotEngine{};
  kind.max_num_seqs = count;
  kind.service_ns = law;
  return kind;
}

inline double wait_s(const Outcome& outcome) {
  return static_cast<double>(outcome.assigned_ns - outcome.arrival_ns) / 1e9;
}
inline double sojourn_s(const Outcome& outcome) {
  return static_cast<double>(outcome.last_ns - outcome.arrival_ns) / 1e9;
}

/// Offers Poisson arrivals of `rate` a second until all of them have ended; `visit`
/// sees every outcome. Returns the time of the last arrival in seconds.
template <class Visit>
double run_poisson(const PoolKind& kind, std::int64_t replicas, double rate,
                   std::uint64_t requests, std::uint64_t seed, Visit&& visit) {
  PoolRun pool(kind, replicas);
  const WorkSampler sampler(kind);
  Rng rng(seed);
  double now = 0;
  const auto collect = [&] {
    for (const Outcome& outcome : pool.finished()) visit(outcome);
    pool.finished().clear();
  };
  for (std::uint64_t i = 0; i < requests; ++i) {
    now += rng.exponential() / rate;
    pool.offer({i, std::llround(now * 1e9), sampler.draw(rng)});
    collect();
  }
  while (pool.run_next()) {
  }
  collect();
  return now;
}

}  // namespace isochrone::sim
