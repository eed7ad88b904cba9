#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "place/core/instance.h"

namespace isochrone::place {

using Bits = std::vector<std::uint64_t>;

inline bool has_bit(const Bits& bits, int index) {
  const auto i = static_cast<std::size_t>(index);
  return ((bits[i >> 6] >> (i & 63)) & 1U) != 0;
}
inline void set_bit(Bits& bits, int index) {
  const auto i = static_cast<std::size_t>(index);
  bits[i >> 6] |= std::uint64_t{1} << (i & 63);
}
bool intersects(const Bits& a, const Bits& b);
bool contains(const Bits& outer, const Bits& inner);

inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// One way to build at a site for a commodity: an option with a number of replicas.
struct Point {
  std::int64_t cost = 0;
  std::int64_t capacity = 0;
  std::int64_t degraded = 0;
  std::int64_t bill = 0;
  std::int64_t gpus = 0;
  std::int64_t replicas = 0;
  int option = 0;
  int reach = 0;
  int degraded_reach = 0;
  int stock_row = 0;
  bool whole = false;
};

/// An instance made ready for the bound and the search: points that fit the stock on
/// their own, without those that another point beats in every respect. Immutable; keeps
/// a reference to the instance.
class Model {
 public:
  /// Throws std::invalid_argument that names the first row of impossible shape.
  explicit Model(const Instance& instance);

  const Instance& instance() const { return instance_; }
  int sites() const { return static_cast<int>(instance_.sites.size()); }
  int demands() const { return static_cast<int>(instance_.demands.size()); }
  int blocks() const { return instance_.blocks; }
  int commodities() const { return instance_.commodities; }

  /// By cost, ascending. No point is beaten in cost, capacity, degraded capacity and
  /// both reaches; where stock, shares or the budget couple, not in those either.
  const std::vector<Point>& points(int site, int commodity) const {
    return points_[at(site) * at(commodities()) + at(commodity)];
  }
  /// Place of every point in the order by capacity, from 1; 0 stands for no point.
  const std::vector<int>& ranks(int site, int commodity) const {
    return ranks_[at(site) * at(commodities()) + at(commodity)];
  }
  /// Points of one pair of reach classes, thinned to steps of an eighth in capacity.
  struct Sketch {
    int reach = 0;
    int degraded_reach = 0;
    std::vector<int> points;
  };
  const std::vector<Sketch>& sketches(int site, int commodity) const {
    return sketches_[at(site) * at(commodities()) + at(commodity)];
  }
  const std::vector<int>& demands_of(int commodity) const {
    return demands_of_[at(commodity)];
  }
  const Bits& mask_of(int commodity) const { return mask_of_[at(commodity)]; }
  /// Blocks in which no other block's loads are all at least as large.
  const std::vector<int>& hard_blocks_of(int commodity) const {
    return hard_blocks_of_[at(commodity)];
  }
  const std::vector<int>& all_blocks() const { return all_blocks_; }
  /// The commodity is one job that is served whole or not at all.
  bool whole(int commodity) const { return whole_[at(commodity)] != 0; }
  const Bits& reach(int site, int reach_class) const {
    return instance_.sites[at(site)].reach[at(reach_class)];
  }
  bool has_traffic_cost() const { return has_traffic_cost_; }
  bool free_traffic(int site) const {
    return instance_.sites[at(site)].traffic_cost.empty();
  }
  std::int64_t traffic_cost(int site, int block, int demand) const {
    const auto& cost = instance_.sites[at(site)].traffic_cost;
    return cost.empty() ? 0 : cost[at(block)][at(demand)];
  }
  /// The same over all blocks.
  std::int64_t month_traffic(int site, int demand) const {
    const auto& cost = month_traffic_[at(site)];
    return cost.empty() ? 0 : cost[at(demand)];
  }
  /// Of all demands, each at its cheapest site, whatever is built.
  std::int64_t least_traffic() const { return least_traffic_; }
  std::int64_t load(int block, int demand) const {
    return instance_.demands[at(demand)].load[at(block)];
  }
  /// Capacity that plans leave free on every pool, so that shares can be rounded.
  std::int64_t margin() const { return margin_; }
  /// What plans may put on a point.
  std::int64_t usable(const Point& point) const {
    return std::max<std::int64_t>(0, point.capacity - margin_);
  }
  /// Pairs of site and demand that some point reaches.
  std::int64_t arcs() const { return arcs_; }
  /// Whether some point of some site reaches the demand.
  bool reachable(int demand) const { return reachable_[at(demand)] != 0; }
  const std::vector<int>& sites_of(int element) const { return sites_of_[at(element)]; }

  /// Position of a reach class of a site among all classes of all sites.
  std::size_t class_index(int site, int reach_class) const {
    return class_offset_[at(site)] + at(reach_class);
  }
  std::size_t class_count() const { return class_offset_.back(); }
  /// By class index: classes of points that reach the demand, as built or after a loss.
  const Bits& classes_of(int demand, bool degraded) const {
    return (degraded ? degraded_classes_of_ : classes_of_)[at(demand)];
  }
  /// For every class of every site, whether it reaches one of `demands`.
  std::vector<std::uint8_t> classes_that_reach(const Bits& demands) const;

 private:
  void check_shapes() const;
  void index_demands();
  void collect_points();
  void count_arcs();
  void index_classes();
  void sum_traffic();

  const Instance& instance_;
  std::vector<std::vector<Point>> points_;
  std::vector<std::vector<int>> ranks_;
  std::vector<std::vector<Sketch>> sketches_;
  std::vector<std::vector<int>> demands_of_;
  std::vector<Bits> mask_of_;
  std::vector<std::vector<int>> hard_blocks_of_;
  std::vector<std::uint8_t> reachable_;
  std::vector<int> all_blocks_;
  std::vector<std::uint8_t> whole_;
  std::vector<std::vector<int>> sites_of_;
  std::vector<std::size_t> class_offset_;
  std::vector<Bits> classes_of_;
  std::vector<Bits> degraded_classes_of_;
  bool has_traffic_cost_ = false;
  std::vector<std::vector<std::int64_t>> month_traffic_;
  std::int64_t least_traffic_ = 0;
  std::int64_t margin_ = 0;
  std::int64_t arcs_ = 0;
};

/// All plans.
inline Restriction everything(const Model& model) {
  return {at(model.sites()), at(model.commodities())};
}

}  // namespace isochrone::place
