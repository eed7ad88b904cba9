#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace isochrone::sim {

/// Minimum of a function of positive parameters, found by compass search: a direction
/// multiplies some of them by 1 + step and divides others by it, or the reverse; an
/// improvement is kept, and the step halves when no direction improves. When it is
/// small enough the search starts over with the first step, until that gains no
/// hundredth. Needs no derivative, so it bears functions that jump, as simulated
/// latencies do. Finds a local minimum; deterministic.
struct Descent {
  struct Direction {
    std::vector<std::size_t> up;
    std::vector<std::size_t> down;
  };
  std::vector<Direction> directions;
  double first_step = 0.2;
  double last_step = 0.002;
  std::size_t evaluations = 4000;  ///< at most
};

struct Minimum {
  std::vector<double> at;
  double value = 0;
  std::size_t evaluations = 0;
};

Minimum minimise(const Descent& descent, std::vector<double> start,
                 const std::function<double(const std::vector<double>&)>& function);

}  // namespace isochrone::sim
