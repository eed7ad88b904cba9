#include "sim/descent.h"

#include <utility>

namespace isochrone::sim {
namespace {

void search(const Descent& descent, Minimum& best,
            const std::function<double(const std::vector<double>&)>& function) {
  double step = descent.first_step;
  while (step >= descent.last_step) {
    bool improved = false;
    for (const Descent::Direction& direction : descent.directions) {
      for (const double factor : {1 + step, 1 / (1 + step)}) {
        if (best.evaluations >= descent.evaluations) return;
        std::vector<double> trial = best.at;
        for (const std::size_t parameter : direction.up) trial[parameter] *= factor;
        for (const std::size_t parameter : direction.down) trial[parameter] /= factor;
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
}

}  // namespace

Minimum minimise(const Descent& descent, std::vector<double> start,
                 const std::function<double(const std::vector<double>&)>& function) {
  Minimum best{std::move(start), 0, 1};
  best.value = function(best.at);
  double before = 0;
  do {
    before = best.value;
    search(descent, best, function);
  } while (best.value < 0.99 * before && best.evaluations < descent.evaluations);
  return best;
}

}  // namespace isochrone::sim
