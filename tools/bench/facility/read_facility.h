#pragma once

#include <optional>
#include <string>

#include "place/core/instance.h"

namespace isochrone::bench {

/// Layouts of public facility-location files. All are numbers parted by white space.
enum class FacilityFormat {
  kOrLibrary,  ///< m n; capacity fixed (m times); demand, then m costs of all of it (n)
  kUflLib,    ///< "FILE: name"; m n 0; index fixed, then n costs (m times); no capacity
  kHolmberg,  ///< m n; capacity fixed (m); n demands; n costs of all of it (m times)
  kTbed,      ///< m n; n demands; m capacities; m fixed; n costs of a unit (m times)
  kModular,   ///< m n; fixed, cost of a unit, most units (m); n demands; arcs; demand
              ///< site cost (arcs times): whole units of capacity 1 are bought
};

struct FacilityOptions {
  FacilityFormat format = FacilityFormat::kOrLibrary;  ///< UflLib is told by its head
  std::optional<double> capacity;  ///< of every facility, for files that leave it out
  bool uncapacitated = false;      ///< every facility may carry everything
};

/// Loads in millionths of a unit of demand, money in millionths of the file's unit.
/// Throws std::runtime_error with file and what is wrong.
place::Instance read_facility(const std::string& path, const FacilityOptions& options);

}  // namespace isochrone::bench
