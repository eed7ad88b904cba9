#include "place/core/conflicts.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/worlds.h"
#include "place/core/solve.h"

namespace isochrone::place {
namespace {

/// One demand of `rps` requests/s; `sites` sites, each of a group and an element of its
/// own, of at most three replicas of 1 request/s and one GPU.
Instance demand_of(int rps, int sites) {
  Instance world;
  DemandRow demand;
  demand.load = {rps * 1'000'000};
  world.demands.push_back(demand);
  world.groups = world.elements = sites;
  world.group_premium.assign(at(sites), 0);
  for (int s = 0; s < sites; ++s) {
    Option option;
    for (std::int64_t n = 1; n <= 3; ++n) {
      option.cost.push_back(100 * n);
      option.bill.push_back(100 * n);
      option.capacity.push_back(1'000'100 * n);
      option.degraded_capacity.push_back(1'000'100 * n);
      option.gpus.push_back(n);
    }
    Site site;
    site.group = s;
    site.elements = {s};
    site.reach = {Bits{1}};
    site.stock = {3};
    site.options.push_back(option);
    world.sites.push_back(site);
  }
  return world;
}

Instance without_losses(Instance world) {
  world.elements = 0;
  for (Site& site : world.sites) site.elements.clear();
  return world;
}

/// Kind of the first proof; "" if nothing is proven.
std::string proof(const Instance& world) {
  const Model model(world);
  const std::vector<Conflict> found = structural_conflicts(model);
  return found.empty() ? "" : found.front().kind;
}

TEST_SUITE("core/conflicts") {
  TEST_CASE("one site does not survive its own loss, two may") {
    Instance world = demand_of(1, 3);
    world.max_sites = 1;
    CHECK(proof(world) == "sites_to_survive");
    CHECK(proof(without_losses(world)).empty());

    world.max_sites = 2;
    CHECK(proof(world).empty());
  }

  TEST_CASE("nothing to carry survives anything") {
    Instance world = demand_of(0, 3);
    world.max_sites = 1;

    CHECK(proof(world).empty());
  }

  // ceil(1 / 0.4) = 3.
  TEST_CASE("at most 40 % each takes three, and as many sites") {
    Instance world = without_losses(demand_of(3, 3));
    world.group_share = Instance::GroupShare{Instance::GroupShare::Of::kGpus, 0.4};
    CHECK(proof(world).empty());

    world.max_sites = 2;
    CHECK(proof(world) == "sites_to_share");
  }

  // 6 requests/s need 6 GPUs; of them 2.4 may be of one provider, 1 is all of the
  // third: 2.4 + 2.4 + 1 = 5.8.
  TEST_CASE("a provider with little stock leaves the others too much to share") {
    Instance world = without_losses(demand_of(6, 3));
    world.group_share = Instance::GroupShare{Instance::GroupShare::Of::kGpus, 0.4};
    CHECK(proof(world).empty());

    world.sites[2].stock = {1};
    CHECK(proof(world) == "group_share");
  }

  // Each site carries 3: one is too little for 5, two are not, but one of two is lost.
  // A provider lists many kinds of GPU without a known end of stock; the sum of these
  // ends is no number.
  TEST_CASE("stock without end is no short stock, however many rows it has") {
    Instance world = without_losses(demand_of(3, 2));
    world.group_share = {Instance::GroupShare::Of::kGpus, 0.6};
    for (Site& site : world.sites) {
      site.stock.assign(20, std::numeric_limits<std::int64_t>::max());
    }
    CHECK(proof(world) == "");
  }

  TEST_CASE("the largest sites that are allowed may carry too little") {
    Instance world = demand_of(5, 4);
    world.max_sites = 1;
    CHECK(proof(without_losses(world)) == "max_sites");

    world.max_sites = 2;
    CHECK(proof(without_losses(world)).empty());
    CHECK(proof(world) == "sites_to_survive");

    world.max_sites = 3;
    CHECK(proof(world).empty());
  }

  TEST_CASE("what is proven impossible has no deployment") {
    const Rng root(5);
    int proven = 0;
    for (std::uint64_t w = 0; w < 400; ++w) {
      CAPTURE(w);
      Rng rng = root.stream("world", w);
      Features features = random_features(rng);
      features.survival = w % 2 == 0;
      features.group_share = w % 3 != 0;
      features.max_sites = true;
      Instance world = tiny_world(rng, features);
      world.max_sites = 1 + static_cast<int>(rng.below(2));
      if (proof(world).empty()) continue;
      ++proven;
      CHECK_FALSE(cheapest_deployment(world).has_value());
    }
    CHECK(proven > 50);
  }
}

}  // namespace
}  // namespace isochrone::place
