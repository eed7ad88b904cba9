#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "datasets/catalog.h"
#include "scenarios/scenario.h"

namespace isochrone::tools {

/// One field of the scenario and the values that it takes in turn, as YAML text, with
/// their places in the sweep file.
struct SweepAxis {
  std::string path;
  std::vector<std::string> values;
  SourcePosition path_at;
  std::vector<SourcePosition> values_at;
};

/// A grid over scenario fields: every combination of one value per axis is a point. The
/// last axis turns fastest.
struct Sweep {
  std::string name;
  std::string scenario;  ///< file, relative to the sweep file
  std::vector<SweepAxis> grid;

  std::size_t points() const;
  std::vector<scenarios::Setting> settings(std::size_t point) const;
};

inline constexpr std::size_t kMaxSweepPoints = 100'000;

/// Reads a sweep file. Throws InputError with every fault at its line and column.
Sweep read_sweep(const std::string& path);

/// Tries every path and every value of the grid on the scenario, with `overrides` below
/// them and the other axes at their first value. Throws InputError with each that no
/// scenario can have, at its line and column of the sweep file. Values that only do not
/// go together are left to their points.
void check_grid(const Sweep& sweep, std::span<const scenarios::Setting> overrides,
                const datasets::Catalog& catalog);

}  // namespace isochrone::tools
