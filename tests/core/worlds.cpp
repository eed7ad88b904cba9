#include "core/worlds.h"

#include <algorithm>
#include <array>
#include <cmath>


#include "place/core/model.h"

namespace isochrone::place {
namespace {

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(
                   rng.below(static_cast<std::uint64_t>(high - low + 1)));
}
bool chance(Rng& rng, double probability) { return rng.uniform() < probability; }

Option random_option(Rng& rng, int commodity, int classes, bool stock) {
  Option option;
  option.commodity = commodity;
  option.reach_class = static_cast<int>(between(rng, 0, classes - 1));
  option.degraded_class = classes - 1;  // the widest
  if (chance(rng, 0.5)) option.degraded_class = option.reach_class;
  std::int64_t cost = 0;
  std::int64_t capacity = 0;
  const std::int64_t counts = between(rng, 1, 3);
  for (std::int64_t n = 1; n <= counts; ++n) {
    cost += between(rng, 50'000'000, 400'000'000);
    capacity += between(rng, 500'000, 3'000'000);
    option.cost.push_back(cost);
    option.bill.push_back(cost - 1'000'000);
    option.capacity.push_back(capacity);
    option.degraded_capacity.push_back(capacity + between(rng, 0, 1'500'000));
    option.gpus.push_back(n * between(rng, 1, 2));
  }
  if (stock) option.stock_row = static_cast<int>(between(rng, 0, 1));
  return option;
}

Site random_site(Rng& rng, const Features& with, int demands, int commodities,
                 int whole_commodity, int index) {
  Site site;
  site.fixed_cost = between(rng, 0, 200'000'000);
  site.fixed_bill = site.fixed_cost;
  site.group = static_cast<int>(between(rng, 0, 1));
  site.pinned = with.pinned && chance(rng, 0.3);
  if (with.survival) site.elements = {index, 4 + site.group};
  site.stock = with.stock ? std::vector<std::int64_t>{between(rng, 1, 6), between(rng, 0, 4)}
                          : std::vector<std::int64_t>{1000, 1000};
  // Classes nest: each adds demands to the one before.
  Bits bits(1, 0);
  const int classes = 3;
  for (int c = 0; c < classes; ++c) {
    for (int d = 0; d < demands; ++d) {
      if (chance(rng, c == 0 ? 0.5 : 0.4)) set_bit(bits, d);
    }
    site.reach.push_back(bits);
  }
  for (int k = 0; k < commodities; ++k) {
    const std::int64_t options = between(rng, k == 0 ? 1 : 0, commodities > 1 ? 2 : 3);
    for (std::int64_t o = 0; o < options; ++o) {
      site.options.push_back(random_option(rng, k, classes, with.stock));
      if (k == whole_commodity) {
        site.options.back().whole = true;
        std::ranges::fill(site.options.back().capacity, 0);
        std::ranges::fill(site.options.back().degraded_capacity, 0);
      }
    }
  }
  return site;
}

}  // namespace

Features random_features(Rng& rng) {
  Features with;
  with.survival = chance(rng, 0.4);
  with.coverage = chance(rng, 0.3);
  with.max_sites = chance(rng, 0.3);
  with.stock = chance(rng, 0.3);
  with.whole = chance(rng, 0.2);
  with.traffic = chance(rng, 0.3);
  with.group_share = chance(rng, 0.2);
  with.premium = chance(rng, 0.3);
  with.pinned = chance(rng, 0.15);
  with.two_commodities = !with.whole && chance(rng, 0.3);
  return with;
}

Instance tiny_world(Rng& rng, const Features& with) {
  Instance world;
  const bool two = with.two_commodities || with.whole;
  world.blocks = static_cast<int>(between(rng, 1, 2));
  world.commodities = two ? 2 : 1;
  const int whole_commodity = with.whole ? 1 : -1;
  const int demands = static_cast<int>(between(rng, two ? 2 : 1, 4));
  for (int d = 0; d < demands; ++d) {
    DemandRow row;
    row.commodity = two && d == demands - 1 ? 1 : 0;
    for (int b = 0; b < world.blocks; ++b) {
      const bool idle = row.commodity == whole_commodity || chance(rng, 0.1);
      row.load.push_back(idle ? 0 : between(rng, 200'000, 2'500'000));
    }
    if (with.coverage && row.commodity != whole_commodity && chance(rng, 0.7)) {
      row.coverage_group = 0;
      row.unserved_cost = chance(rng, 0.5) ? between(rng, 0, 500'000'000) : 0;
      row.coverage_weight = between(rng, 0, 100);
    }
    world.demands.push_back(row);
  }
  if (with.coverage) world.coverage.push_back({between(rng, 0, 150)});
  world.groups = 2;
  world.group_premium = {0, 0};
  if (with.premium) {
    for (auto& premium : world.group_premium) {
      premium = between(rng, -100'000'000, 200'000'000);
    }
  }
  world.elements = with.survival ? 6 : 0;
  const int sites = static_cast<int>(between(rng, 2, two ? 3 : 4));
  for (int s = 0; s < sites; ++s) {
    world.sites.push_back(
        random_site(rng, with, demands, world.commodities, whole_commodity, s));
    if (!with.traffic || chance(rng, 0.3)) continue;
    // Per unit of load, so that a minimum-cost flow is exact in integers.
    auto& cost = world.sites.back().traffic_cost;
    for (int b = 0; b < world.blocks; ++b) {
      cost.emplace_back();
      for (const DemandRow& row : world.demands) {
        cost.back().push_back(between(rng, 0, 60) * row.load[at(b)]);
      }
    }
  }
  if (with.max_sites) world.max_sites = static_cast<int>(between(rng, 1, sites));
  if (with.group_share) {
    using Of = Instance::GroupShare::Of;
    const std::array<Of, 3> kinds{Of::kGpus, Of::kCost, Of::kTraffic};
    world.group_share = Instance::GroupShare{kinds[rng.below(3)], 0.5 + 0.5 * rng.uniform()};
  }
  world.constant = between(rng, -20'000'000, 20'000'000);
  return world;
}

}  // namespace isochrone::place
