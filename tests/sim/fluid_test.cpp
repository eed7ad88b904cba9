#include "sim/fluid.h"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/window.h"

namespace isochrone::sim {
namespace {

TEST_SUITE("sim/fluid") {
  // A Gamma law of mean 1 and shape k has variance 1 / k. Midpoints of 1,024 cells lose
  // a little of the tail.
  TEST_CASE("multipliers have the mean and nearly the variance of their law") {
    for (const double shape : {1.5, 5.5, 40.0}) {
      double mean = 0;
      double square = 0;
      for (const double m : gamma_multipliers(shape)) {
        mean += m / 1024;
        square += m * m / 1024;
      }
      CHECK(mean == doctest::Approx(1));
      CHECK(square - 1 == doctest::Approx(1 / shape).epsilon(0.02));
    }
  }

  TEST_CASE("a path without fluctuation is one slot at the mean rate") {
    const FluidPath path({{3, {}}, {4, {}}}, 10, 5, 1000, Rng(1));

    CHECK(path.slots() == 1);
    CHECK(path.total_rate(0) == 7);
    CHECK(path.backlog(0) == 0);
  }

  TEST_CASE("every level of traffic has its right share on a path") {
    const FluidPath path({{10, {5.5, 600}}}, 1000, 75, 1024, Rng(1));

    double mean = 0;
    for (std::size_t i = 0; i < path.slots(); ++i) mean += path.total_rate(i);
    CHECK(path.slots() == 8 * 1024);
    CHECK(mean / static_cast<double>(path.slots()) ==
          doctest::Approx(10).epsilon(1e-6));
  }

  TEST_CASE("backlog grows with what exceeds capacity, and drains with what is left") {
    const FluidPath path({{10, {5.5, 600}}}, 12, 600, 200, Rng(1));

    for (std::size_t i = 0; i + 1 < path.slots(); ++i) {
      const double expected =
          std::clamp(path.backlog(i) + (path.total_rate(i) - 12) * 600, 0.0, 7200.0);
      CHECK(path.backlog(i + 1) == doctest::Approx(expected));
    }
    CHECK(path.backlog_at(path.slot_s() * 7.5) >= 0);
    CHECK(path.slot_at(-1) == path.slots() - 1);
  }

  TEST_CASE("under too much load the backlog stands at the time-out") {
    const FluidPath path({{11, {}}}, 10, 5, 10, Rng(1));

    CHECK(path.backlog(0) == 10 * kTimeOut_s);
  }

  TEST_CASE("states are drawn from the least busy to the most") {
    std::vector<FluidPath> paths;
    paths.emplace_back(std::vector<StreamGroup>{{10, {5.5, 600}}}, 20, 600, 64, Rng(1));
    const StateOrder order(paths);
    Rng rng(2);

    double last = 0;
    for (std::size_t part = 0; part < 64; ++part) {
      const FluidState state = order.draw(part, 64, rng);
      const double waiting = paths[0].backlog(state.slot) / 20 * 1000;
      const double score = waiting + paths[0].total_rate(state.slot) / 1e6;
      CHECK(score >= last);
      last = score;
    }
  }
}

}  // namespace
}  // namespace isochrone::sim
