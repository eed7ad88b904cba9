// The verifier's queue and the planner's stand side by side here and nowhere else: the
// only program that links both.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "place/planner/tables.h"
#include "place/verify/slow_capacity.h"

namespace isochrone::verify {
namespace {

TEST_SUITE("place/agreement") {
  TEST_CASE("both queues carry the same load within 5 %") {
    double widest = 0;
    std::string where;
    for (const double shape : {0.0, 8.0, 2.8}) {
      for (const double correlation_s : {120.0, 600.0}) {
        const scenarios::Modulation modulation{shape, correlation_s};
        const SlowEpochs epochs(modulation);
        for (const std::int64_t slots : {1, 8, 48}) {
          const std::vector<double> occupancy{1, static_cast<double>(slots)};
          const std::vector<double> residence{4, 4 + 0.05 * static_cast<double>(slots)};
          for (const std::int64_t n : {1, 4, 32}) {
            for (const double budget_s : {0.005, 0.32}) {
              const double fast = to_rps(place::carried_load(
                  occupancy, residence, slots, n, budget_s, 0.04, modulation));
              const SlowQueue queue({occupancy, residence, slots, n}, epochs);
              const double slow = queue.carried_rate(budget_s, 0.04);
              const double apart = std::abs(fast / slow - 1);
              if (apart <= widest) continue;
              widest = apart;
              where = fmt::format("shape {} over {} s, {} slots x {}, {} s: {} and {}",
                                  shape, correlation_s, slots, n, budget_s, fast, slow);
            }
          }
        }
      }
    }

    MESSAGE(fmt::format("widest: {:.2f} % at {}", 100 * widest, where));
    CHECK(widest < 0.05);
  }
}

}  // namespace
}  // namespace isochrone::verify
