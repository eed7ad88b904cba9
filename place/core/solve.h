#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "place/core/instance.h"

namespace isochrone::place {

struct Effort {
  double gap = 0.01;              ///< stop when (objective - bound) / objective <= gap
  std::int64_t dual_steps = 600;  ///< work units, not seconds
  std::int64_t moves = 20000;
  std::int64_t nodes = 0;  ///< of branch and bound, after the rest
  std::uint64_t seed = 42;
  std::optional<double> time_limit_s;  ///< wall clock; the result is not reproducible
  /// Where the ascent begins, from a like instance (same blocks and demands; rows that
  /// do not fit are left out). Must outlive the call.
  const Certificate* warm_start = nullptr;
  /// Polled between batches; true ends the search with the best plan so far.
  std::function<bool()> interrupted;
  /// Called between batches, from one thread; nullopt: there is no plan yet.
  std::function<void(std::optional<std::int64_t> incumbent, std::int64_t bound)>
      progress;
};

/// Bound, plan and certificate. Identical at any thread count (unless time-limited).
Solution solve(const Instance& instance, const Effort& effort);

/// Lower bound that the multipliers prove: the Lagrangian function, in integers,
/// rounded down. Valid for any prices and any non-negative multipliers.
std::int64_t evaluate_bound(const Instance& instance, const Certificate& certificate);

/// Everything that is wrong with a solution (empty: it is feasible and its objective is
/// exact). Slow and plain; for tests and debug builds.
std::vector<std::string> audit(const Instance& instance, const Solution& solution);

}  // namespace isochrone::place
