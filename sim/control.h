#pragma once

#include <cstddef>
#include <vector>

#include "sim/fluid.h"

namespace isochrone::sim {

/// What the fluid says of one key: requests of some groups are late while more than
/// `backlog` requests wait. A key that waiting does not touch has no backlog that is
/// late.
struct FluidQuestion {
  std::vector<bool> groups;
  double late_backlog = 0;
  bool waits = true;
};

struct FluidAnswer {
  double requests = 0;
  double missed = 0;
};

/// Within `length_s` from `begin_s`; the path is a circle.
FluidAnswer ask(const FluidPath& path, const FluidQuestion& question, double begin_s,
                double length_s);

/// Per second, over the whole path, with the variance of `missed` as a sample of an
/// endless one, from the means of 16 stretches. The variance errs on the large side,
/// because a path holds every level of traffic in its exact share.
struct FluidLife {
  FluidAnswer rate;
  double missed_variance = 0;
};
FluidLife live(const FluidPath& path, const FluidQuestion& question);

}  // namespace isochrone::sim
