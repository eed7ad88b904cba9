#include <doctest/doctest.h>

#include "core/worlds.h"
#include "place/core/model.h"
#include "place/core/solve.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kDollar = 1'000'000;

/// One job that any of `sites` sites does for $100 a month, each open for $10.
Instance one_job(int sites) {
  Instance world;
  DemandRow job;
  job.load = {0};
  world.demands.push_back(job);
  world.groups = sites;
  world.group_premium.assign(at(sites), 0);
  for (int s = 0; s < sites; ++s) {
    Option option;
    option.whole = true;
    option.cost = option.bill = {100 * kDollar};
    option.capacity = option.degraded_capacity = {0};
    option.gpus = {16};
    Site site;
    site.group = s;
    site.fixed_cost = site.fixed_bill = 10 * kDollar;
    site.reach = {Bits{1}};
    site.stock = {32};
    site.options.push_back(option);
    world.sites.push_back(site);
  }
  return world;
}

TEST_SUITE("core/jobs") {
  TEST_CASE("a job finds its place however many sites cost the same") {
    for (const int sites : {1, 2, 3, 10, 40}) {
      CAPTURE(sites);
      Effort effort;
      effort.dual_steps = 100;
      effort.moves = 800;

      const Solution solution = solve(one_job(sites), effort);

      REQUIRE(solution.status == Status::kSolved);
      CHECK(solution.choices.size() == 1);
      CHECK(solution.objective == 110 * kDollar);
    }
  }
}

}  // namespace
}  // namespace isochrone::place
