#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/scenario.h"

namespace isochrone::sim {

/// Inverse CDF of a law of lengths (tokens) or times (ns), tabulated: draws are table
/// look-ups, the same on every machine. Values are positive integers.
class IntegerLaw {
 public:
  static constexpr std::size_t kCells = 4096;

  /// From the scenario's form; `unit` multiplies (1 for tokens, 1e6 for ms -> ns).
  /// Values are capped at `cap`. Throws InputError for an unreadable file.
  IntegerLaw(const spec::Law& law, double unit, std::int64_t cap,
             const scenarios::Scenario& scenario);
  explicit IntegerLaw(std::vector<std::int64_t> sorted_cells);
  static IntegerLaw constant(std::int64_t value);

  /// `u` in (0, 1).
  std::int64_t at(double u) const {
    return cells_[static_cast<std::size_t>(u * static_cast<double>(kCells))];
  }
  double mean() const { return mean_; }

 private:
  std::vector<std::int64_t> cells_;
  double mean_ = 0;
};

}  // namespace isochrone::sim
