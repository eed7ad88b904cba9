#include "sim/fluid.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/control.h"
#include "sim/window.h"

namespace isochrone::sim {
namespace {

const GammaTables kTables({{5.5, 600}});

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
    const FluidPath path({{3, {}}, {4, {}}}, 10, 5, 1000, kTables, Rng(1));

    CHECK(path.slots() == 1);
    CHECK(path.total_rate(0) == 7);
    CHECK(path.backlog(0) == 0);
  }

  TEST_CASE("every level of traffic has its right share on a path") {
    const FluidPath path({{10, {5.5, 600}}}, 1000, 75, 1024, kTables, Rng(1));

    double mean = 0;
    for (std::size_t i = 0; i < path.slots(); ++i) mean += path.total_rate(i);
    CHECK(path.slots() == 2 * 1024);
    CHECK(mean / static_cast<double>(path.slots()) ==
          doctest::Approx(10).epsilon(1e-6));
  }

  TEST_CASE("backlog grows with what exceeds capacity, and drains with what is left") {
    const FluidPath path({{10, {5.5, 600}}}, 12, 600, 200, kTables, Rng(1));

    for (std::size_t i = 0; i + 1 < path.slots(); ++i) {
      const double expected =
          std::clamp(path.backlog(i) + (path.total_rate(i) - 12) * 600, 0.0, 7200.0);
      CHECK(path.backlog(i + 1) == doctest::Approx(expected));
    }
    CHECK(path.backlog_at(path.slot_s() * 7.5) >= 0);
    CHECK(path.slot_at(-1) == path.slots() - 1);
  }

  TEST_CASE("under too much load the backlog stands at the time-out") {
    const FluidPath path({{11, {}}}, 10, 5, 10, kTables, Rng(1));

    CHECK(path.backlog(0) == 10 * kTimeOut_s);
  }

  // Erlang C for 5 servers at load 4 is .5541 (see queue_law_test); the cell that holds
  // utilisation .8 has its middle at .8008.
  TEST_CASE("the chance that all servers are busy is Erlang C") {
    CHECK(busy_chances(5)[102] == doctest::Approx(0.5541).epsilon(0.01));
    CHECK(busy_chances(1)[64] == doctest::Approx(0.5).epsilon(0.01));
  }

  // What the fluid says of pieces must add up to what it says of the whole circle.
  TEST_CASE("answers about windows add up to the life of the path") {
    const FluidPath path({{6, {5.5, 600}}, {5, {}}}, 12, 300, 64, kTables, Rng(3));
    const FluidQuestion question({true, false}, 5.0, 12, busy_chances(20));

    FluidAnswer sum;
    for (int piece = 0; piece < 50; ++piece) {
      const double length = path.length_s() / 50;
      const FluidAnswer answer = ask(path, question, (piece - 7) * length, length);
      sum.requests += answer.requests;
      sum.missed += answer.missed;
    }
    const FluidLife life = live(path, question);
    CHECK(life.rate.missed > 0);
    CHECK(sum.requests == doctest::Approx(life.rate.requests * path.length_s()));
    CHECK(sum.missed == doctest::Approx(life.rate.missed * path.length_s()));
    CHECK(life.missed_variance > 0);
  }

  // Weights undo the uneven drawing: their mean over draws is 1, within five standard
  // errors of a weight that lies between 0 and 8.
  TEST_CASE("weights of drawn states average to one") {
    std::vector<FluidPath> paths;
    paths.emplace_back(std::vector<StreamGroup>{{10, {5.5, 600}}}, 18, 300, 512,
                       kTables, Rng(1));
    const StateOrder order(paths, 1);
    Rng rng(5);

    double sum = 0;
    for (std::size_t i = 0; i < 4000; ++i) sum += order.draw(i, 4000, rng).weight;
    CHECK(sum / 4000 == doctest::Approx(1).epsilon(0.01));
  }

  TEST_CASE("states are drawn from the least busy to the most") {
    std::vector<FluidPath> paths;
    paths.emplace_back(std::vector<StreamGroup>{{10, {5.5, 600}}}, 20, 600, 64, kTables,
                       Rng(1));
    const StateOrder order(paths, 1);
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
