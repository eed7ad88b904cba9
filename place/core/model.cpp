#include "place/core/model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "base/parallel.h"

namespace isochrone::place {
namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw std::invalid_argument("placement instance: " + what);
}

void check_option(const Option& option, const Site& site, const Instance& instance,
                  const std::string& where) {
  const std::size_t counts = option.cost.size();
  require(option.commodity >= 0 && option.commodity < instance.commodities,
          where + ": unknown commodity");
  require(option.reach_class >= 0 && at(option.reach_class) < site.reach.size() &&
              option.degraded_class >= 0 &&
              at(option.degraded_class) < site.reach.size(),
          where + ": unknown reach class");
  require(option.bill.size() == counts && option.capacity.size() == counts &&
              option.degraded_capacity.size() == counts && option.gpus.size() == counts,
          where + ": cost, bill, capacity and gpus differ in length");
  require(option.stock_row >= 0 && at(option.stock_row) < site.stock.size(),
          where + ": unknown stock row");
}

struct Coupling {
  bool gpus = false;
  bool bill = false;
  bool loss = false;
};

/// Some point that costs no more does at least as much and uses no more of what
/// couples.
bool beats(const Point& a, const Point& b, const Coupling& coupling,
           const std::vector<std::vector<std::uint8_t>>& covers) {
  if (a.cost > b.cost || a.capacity < b.capacity) return false;
  if (covers[at(a.reach)][at(b.reach)] == 0) return false;
  if (coupling.loss && (a.degraded < b.degraded ||
                        covers[at(a.degraded_reach)][at(b.degraded_reach)] == 0)) {
    return false;
  }
  if (coupling.gpus && (a.stock_row != b.stock_row || a.gpus > b.gpus)) return false;
  return !coupling.bill || a.bill <= b.bill;
}

std::vector<std::vector<std::uint8_t>> covering_classes(const Site& site,
                                                        const Bits& mask) {
  std::vector<Bits> masked = site.reach;
  for (Bits& bits : masked) {
    for (std::size_t w = 0; w < bits.size(); ++w) bits[w] &= mask[w];
  }
  std::vector<std::vector<std::uint8_t>> covers(
      masked.size(), std::vector<std::uint8_t>(masked.size(), 0));
  for (std::size_t a = 0; a < masked.size(); ++a) {
    for (std::size_t b = 0; b < masked.size(); ++b) {
      covers[a][b] = contains(masked[a], masked[b]) ? 1 : 0;
    }
  }
  return covers;
}

std::vector<Point> points_in_stock(const Site& site, int commodity) {
  std::vector<Point> points;
  for (std::size_t o = 0; o < site.options.size(); ++o) {
    const Option& option = site.options[o];
    if (option.commodity != commodity) continue;
    for (std::size_t i = 0; i < option.cost.size(); ++i) {
      if (option.gpus[i] > site.stock[at(option.stock_row)]) continue;
      points.push_back({option.cost[i], option.capacity[i], option.degraded_capacity[i],
                        option.bill[i], option.gpus[i],
                        static_cast<std::int64_t>(i) + 1, static_cast<int>(o),
                        option.reach_class, option.degraded_class, option.stock_row,
                        option.whole});
    }
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.capacity > b.capacity;
  });
  return points;
}

/// Keeps a point unless a kept one beats it. The strongest kept points stand at the end
/// (more cost, more capacity), so the scan runs backwards and mostly ends at once.
std::vector<Point> without_beaten(
    const std::vector<Point>& points, const Coupling& coupling,
    const std::vector<std::vector<std::uint8_t>>& covers) {
  std::vector<Point> kept;
  for (const Point& point : points) {
    const bool beaten = std::any_of(
        kept.rbegin(), kept.rend(),
        [&](const Point& other) { return beats(other, point, coupling, covers); });
    if (!beaten) kept.push_back(point);
  }
  return kept;
}

std::vector<Model::Sketch> sketches_of(const std::vector<Point>& points) {
  std::map<std::pair<int, int>, std::size_t> known;
  std::vector<Model::Sketch> sketches;
  for (int p = 0; p < static_cast<int>(points.size()); ++p) {
    const Point& point = points[at(p)];
    const auto [found, fresh] =
        known.try_emplace({point.reach, point.degraded_reach}, sketches.size());
    if (fresh) sketches.push_back({point.reach, point.degraded_reach, {}});
    std::vector<int>& kept = sketches[found->second].points;
    const std::int64_t last = kept.empty() ? 0 : points[at(kept.back())].capacity;
    if (kept.empty() || point.capacity >= last + last / 8) kept.push_back(p);
  }
  return sketches;
}

std::vector<int> ranks_of(const std::vector<Point>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {},
                           [&](std::size_t p) { return points[p].capacity; });
  std::vector<int> ranks(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ranks[order[i]] = static_cast<int>(i) + 1;
  }
  return ranks;
}

}  // namespace

bool intersects(const Bits& a, const Bits& b) {
  for (std::size_t w = 0; w < a.size(); ++w) {
    if ((a[w] & b[w]) != 0) return true;
  }
  return false;
}

bool contains(const Bits& outer, const Bits& inner) {
  for (std::size_t w = 0; w < inner.size(); ++w) {
    if ((inner[w] & ~outer[w]) != 0) return false;
  }
  return true;
}

Model::Model(const Instance& instance) : instance_(instance) {
  check_shapes();
  index_demands();
  collect_points();
  sum_traffic();
  count_arcs();
  index_classes();
}

void Model::check_shapes() const {
  const Instance& in = instance_;
  require(in.blocks > 0 && in.commodities > 0, "needs a block and a commodity");
  require(in.group_premium.size() == at(in.groups), "one premium per group");
  for (std::size_t d = 0; d < in.demands.size(); ++d) {
    const DemandRow& row = in.demands[d];
    const std::string where = "demand " + std::to_string(d);
    require(row.commodity >= 0 && row.commodity < in.commodities,
            where + ": unknown commodity");
    require(row.load.size() == at(in.blocks), where + ": one load per block");
    require(std::ranges::all_of(row.load, [](auto load) { return load >= 0; }),
            where + ": negative load");
    require(row.coverage_group < static_cast<int>(in.coverage.size()),
            where + ": unknown coverage group");
    require(row.coverage_weight >= 0, where + ": negative coverage weight");
  }
  for (std::size_t s = 0; s < in.sites.size(); ++s) {
    const Site& site = in.sites[s];
    const std::string where = "site " + std::to_string(s);
    require(in.groups == 0 || (site.group >= 0 && site.group < in.groups),
            where + ": unknown group");
    for (const int e : site.elements) {
      require(e >= 0 && e < in.elements, where + ": unknown element");
    }
    for (const Bits& bits : site.reach) {
      require(bits.size() == (in.demands.size() + 63) / 64, where + ": reach width");
    }
    require(site.traffic_cost.empty() || site.traffic_cost.size() == at(in.blocks),
            where + ": traffic cost by block");
    for (const auto& block : site.traffic_cost) {
      require(block.size() == in.demands.size(), where + ": traffic cost by demand");
    }
    for (const Option& option : site.options) check_option(option, site, in, where);
  }
}

void Model::index_demands() {
  const std::size_t words = (instance_.demands.size() + 63) / 64;
  demands_of_.resize(at(commodities()));
  mask_of_.assign(at(commodities()), Bits(words, 0));
  std::vector<std::int64_t> total(at(blocks()), 0);
  for (int d = 0; d < demands(); ++d) {
    const int k = instance_.demands[at(d)].commodity;
    demands_of_[at(k)].push_back(d);
    set_bit(mask_of_[at(k)], d);
    for (int b = 0; b < blocks(); ++b) total[at(b)] += load(b, d);
  }
  // A share is rounded by less than one part in 10^9 per pool that it is split over.
  margin_ = 2 + *std::ranges::max_element(total) / 10'000'000;
  for (int b = 0; b < blocks(); ++b) all_blocks_.push_back(b);
  hard_blocks_of_.resize(at(commodities()));
  for (int k = 0; k < commodities(); ++k) {
    const auto covers = [&](int a, int b) {
      return std::ranges::all_of(demands_of(k),
                                 [&](int d) { return load(a, d) >= load(b, d); });
    };
    for (int b = 0; b < blocks(); ++b) {
      bool hard = true;
      for (int a = 0; a < blocks() && hard; ++a) {
        if (a != b && covers(a, b)) hard = covers(b, a) && b < a;
      }
      if (hard) hard_blocks_of_[at(k)].push_back(b);
    }
  }
  sites_of_.resize(at(instance_.elements));
  class_offset_.assign(1, 0);
  for (int s = 0; s < sites(); ++s) {
    const Site& site = instance_.sites[at(s)];
    for (const int e : site.elements) sites_of_[at(e)].push_back(s);
    class_offset_.push_back(class_offset_.back() + site.reach.size());
    has_traffic_cost_ = has_traffic_cost_ || !site.traffic_cost.empty();
  }
}

void Model::collect_points() {
  const Coupling coupling{
      commodities() > 1 ||
          (instance_.group_share &&
           instance_.group_share->of == Instance::GroupShare::Of::kGpus),
      instance_.budget.has_value() ||
          (instance_.group_share &&
           instance_.group_share->of == Instance::GroupShare::Of::kCost),
      instance_.elements > 0};
  whole_.assign(at(commodities()), 0);
  for (const Site& site : instance_.sites) {
    for (const Option& option : site.options) {
      if (option.whole) whole_[at(option.commodity)] = 1;
    }
  }
  for (const Site& site : instance_.sites) {
    for (const Option& option : site.options) {
      require(option.whole == whole(option.commodity),
              "a commodity mixes whole and divisible options");
    }
  }
  for (int k = 0; k < commodities(); ++k) {
    require(!whole(k) || demands_of(k).size() <= 1,
            "a whole commodity has more than one demand");
  }
  const std::size_t pairs = at(sites()) * at(commodities());
  points_ = parallel_map(pairs, [&](std::size_t i) {
    const Site& site = instance_.sites[i / at(commodities())];
    const int k = static_cast<int>(i % at(commodities()));
    return without_beaten(points_in_stock(site, k), coupling,
                          covering_classes(site, mask_of(k)));
  });
  for (const auto& points : points_) {
    sketches_.push_back(sketches_of(points));
    ranks_.push_back(ranks_of(points));
  }
}

void Model::sum_traffic() {
  month_traffic_.resize(instance_.sites.size());
  for (std::size_t s = 0; s < month_traffic_.size(); ++s) {
    const auto& cost = instance_.sites[s].traffic_cost;
    if (cost.empty()) continue;
    month_traffic_[s].assign(instance_.demands.size(), 0);
    for (const auto& block : cost) {
      for (std::size_t d = 0; d < block.size(); ++d) month_traffic_[s][d] += block[d];
    }
  }
  for (int d = 0; d < demands(); ++d) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int s = 0; s < sites(); ++s) least = std::min(least, month_traffic(s, d));
    if (sites() > 0) least_traffic_ += least;
  }
}

void Model::count_arcs() {
  reachable_.assign(instance_.demands.size(), 0);
  for (int s = 0; s < sites(); ++s) {
    for (int k = 0; k < commodities(); ++k) {
      Bits reached(mask_of(k).size(), 0);
      for (const Point& point : points(s, k)) {
        const Bits& bits = reach(s, point.reach);
        for (std::size_t w = 0; w < bits.size(); ++w) reached[w] |= bits[w];
      }
      for (const int d : demands_of(k)) {
        if (!has_bit(reached, d)) continue;
        ++arcs_;
        reachable_[at(d)] = 1;
      }
    }
  }
}

void Model::index_classes() {
  const Bits none((class_count() + 63) / 64, 0);
  classes_of_.assign(instance_.demands.size(), none);
  degraded_classes_of_ = classes_of_;
  for (int s = 0; s < sites(); ++s) {
    for (int k = 0; k < commodities(); ++k) {
      std::set<int> normal;
      std::set<int> degraded;
      for (const Point& point : points(s, k)) {
        normal.insert(point.reach);
        degraded.insert(point.degraded_reach);
      }
      for (const int d : demands_of(k)) {
        for (const int c : normal) {
          if (!has_bit(reach(s, c), d)) continue;
          set_bit(classes_of_[at(d)], static_cast<int>(class_index(s, c)));
        }
        for (const int c : degraded) {
          if (!has_bit(reach(s, c), d)) continue;
          set_bit(degraded_classes_of_[at(d)], static_cast<int>(class_index(s, c)));
        }
      }
    }
  }
}

std::vector<std::uint8_t> Model::classes_that_reach(const Bits& demands) const {
  std::vector<std::uint8_t> reaches(class_count(), 0);
  for (int s = 0; s < sites(); ++s) {
    const auto& classes = instance_.sites[at(s)].reach;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      reaches[class_offset_[at(s)] + c] = intersects(classes[c], demands) ? 1 : 0;
    }
  }
  return reaches;
}

}  // namespace isochrone::place
