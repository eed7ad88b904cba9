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
  site.stock = with.stock
                   ? std::vector<std::int64_t>{between(rng, 1, 6), between(rng, 0, 4)}
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
    world.group_share =
        Instance::GroupShare{kinds[rng.below(3)], 0.5 + 0.5 * rng.uniform()};
  }
  world.constant = between(rng, -20'000'000, 20'000'000);
  return world;
}

namespace {

struct Spot {
  double lat = 0;
  double lon = 0;
};

/// Kilometres along the sphere.
double distance(const Spot& a, const Spot& b) {
  constexpr double kRadius = 6371;
  const double inner = std::sin(a.lat) * std::sin(b.lat) +
                       std::cos(a.lat) * std::cos(b.lat) * std::cos(a.lon - b.lon);
  return kRadius * std::acos(std::clamp(inner, -1.0, 1.0));
}

/// People gather: around a dozen centres, within some 1500 km.
Spot random_spot(Rng& rng, const std::vector<Spot>& centres) {
  const Spot& centre = centres[rng.below(centres.size())];
  return {std::clamp(centre.lat + 0.2 * rng.normal(), -1.2, 1.2),
          centre.lon + 0.25 * rng.normal()};
}

/// One profile at one batch depth: deeper batches carry more and reach less far.
struct Level {
  double capacity = 0;  // requests per second and replica
  double reach_km = 0;
  int profile = 0;
};

std::vector<Level> make_levels(Rng& rng, const WorldSize& size) {
  std::vector<Level> levels;
  for (int p = 0; p < size.profiles; ++p) {
    const double strength = 0.6 + 1.2 * rng.uniform();
    for (int l = 0; l < size.levels; ++l) {
      const double depth = (l + 1.0) / size.levels;
      levels.push_back({2.5 * strength * std::pow(depth, 0.5),
                        13000 * std::pow(1 - 0.8 * depth, 0.8), p});
    }
  }
  return levels;
}

/// Fixed part of the pooling loss: n replicas carry less than n times one of many.
double pooled(double n) { return n * (1 - 0.55 / std::sqrt(n + 1)); }

}  // namespace

Instance round_world(std::uint64_t seed, const WorldSize& size) {
  Rng rng = Rng(seed).stream("round world");
  Instance world;
  world.blocks = size.blocks;
  std::vector<Spot> centres;
  for (int i = 0; i < 12; ++i) {
    centres.push_back({-0.6 + 1.5 * rng.uniform(), 6.28 * rng.uniform()});
  }
  std::vector<Spot> metros;
  std::vector<double> users;
  double all_users = 0;
  for (int d = 0; d < size.demands; ++d) {
    metros.push_back(random_spot(rng, centres));
    users.push_back(std::pow(rng.uniform(), -0.8));
    all_users += std::min(users.back(), 60.0);
  }
  const double peak_rps = 2.0 * size.replicas;
  for (int d = 0; d < size.demands; ++d) {
    DemandRow row;
    const double share = std::min(users[at(d)], 60.0) / all_users;
    for (int b = 0; b < size.blocks; ++b) {
      const double hour = 6.28 * b / size.blocks + metros[at(d)].lon;
      const double daily = 0.55 + 0.45 * std::cos(hour);
      row.load.push_back(
          static_cast<std::int64_t>(1e6 * peak_rps * 1.5 * share * daily));
    }
    world.demands.push_back(row);
  }
  const std::vector<Level> levels = make_levels(rng, size);
  world.groups = 20;
  world.group_premium.assign(20, 0);
  world.max_sites = size.max_sites;
  world.elements = size.survive_site ? size.sites : 0;
  std::vector<double> price;
  for (int p = 0; p < size.profiles; ++p) {
    double capacity = 0;
    for (const Level& level : levels) {
      if (level.profile == p) capacity = std::max(capacity, level.capacity);
    }
    price.push_back(1500 * capacity * (0.9 + 0.3 * rng.uniform()));
  }
  for (int s = 0; s < size.sites; ++s) {
    Site site;
    const Spot spot = random_spot(rng, centres);
    site.group = static_cast<int>(rng.below(20));
    if (size.survive_site) site.elements = {s};
    site.fixed_cost = static_cast<std::int64_t>(1e6 * (300 + 500 * rng.uniform()));
    site.fixed_bill = site.fixed_cost;
    site.stock.assign(at(size.profiles), 1000);
    const double local = 0.85 + 0.5 * rng.uniform();
    for (const Level& level : levels) {
      Bits bits((world.demands.size() + 63) / 64, 0);
      Bits wider = bits;
      for (int d = 0; d < size.demands; ++d) {
        const double km = distance(spot, metros[at(d)]);
        if (km <= level.reach_km) set_bit(bits, d);
        if (km <= 1.3 * level.reach_km) set_bit(wider, d);
      }
      const auto class_of = [&](const Bits& wanted) {
        const auto found = std::ranges::find(site.reach, wanted);
        if (found != site.reach.end())
          return static_cast<int>(found - site.reach.begin());
        site.reach.push_back(wanted);
        return static_cast<int>(site.reach.size()) - 1;
      };
      Option option;
      option.reach_class = class_of(bits);
      option.degraded_class = class_of(wider);
      option.stock_row = level.profile;
      for (int n = 1; n <= size.most_replicas; ++n) {
        const double cost = 1e6 * price[at(level.profile)] * local * n;
        option.cost.push_back(static_cast<std::int64_t>(cost));
        option.bill.push_back(option.cost.back());
        option.gpus.push_back(n * 4);
        option.capacity.push_back(
            static_cast<std::int64_t>(1e6 * level.capacity * pooled(n)));
        option.degraded_capacity.push_back(
            static_cast<std::int64_t>(1.1e6 * level.capacity * pooled(n)));
      }
      site.options.push_back(std::move(option));
    }
    if (size.traffic) {
      for (int b = 0; b < size.blocks; ++b) {
        site.traffic_cost.emplace_back();
        for (const DemandRow& row : world.demands) {
          site.traffic_cost.back().push_back(static_cast<std::int64_t>(
              2 * local * static_cast<double>(row.load[at(b)])));
        }
      }
    }
    world.sites.push_back(std::move(site));
  }
  return world;
}

}  // namespace isochrone::place
