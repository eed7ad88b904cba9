#pragma once

#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace isochrone::tools {

/// One field of the scenario and the values that it takes in turn, as YAML text.
struct SweepAxis {
  std::string path;
  std::vector<std::string> values;
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

}  // namespace isochrone::tools
