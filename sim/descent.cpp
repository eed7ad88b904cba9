#include "sim/descent.h"

#include <utility>

namespace isochrone::sim {

Minimum minimise(const Descent& descent, std::vector<double> start,
                 const std::function<double(const std::vector<double>&)>& function) {
  Minimum best{std::move(start), 0, 1};
  best.value = function(best.at);
  double step = descent.first_step;
  while (step >= descent.last_step) {
    bool improved = false;
    for (const std::vector<std::size_t>& direction : descent.directions) {
      for (const double factor : {1 + step, 1 / (1 + step)}) {
        if (best.evaluations >= descent.evaluations) return best;
        std::vector<double> trial = best.at;
        for (const std::size_t parameter : direction) trial[parameter] *= factor;
        const double value = function(trial);
        ++best.evaluations;
        if (value < best.value) {
          best.at = std::move(trial);
          best.value = value;
          improved = true;
          break;
        }
      }
    }
    if (!improved) step /= 2;
  }
  return best;
}

}  // namespace isochrone::sim
