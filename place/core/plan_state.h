#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "place/core/model.h"

namespace isochrone::place {

inline constexpr std::int64_t kWholeShare = 1'000'000'000;  ///< ppb

/// A built pool: the point chosen for a commodity at a site.
struct Pick {
  int site = 0;
  int commodity = 0;
  int point = 0;
  auto operator<=>(const Pick&) const = default;
};

/// Which part of each demand a plan serves, and the loads that follow.
class Service {
 public:
  Service(const Model& model, std::vector<std::int32_t> unserved_ppb);

  const std::vector<std::int32_t>& unserved() const { return unserved_; }
  /// Load that must be carried, rounded up; 0 if the block has none.
  std::int64_t load(int block, int demand) const {
    return load_[at(block) * unserved_.size() + at(demand)];
  }
  bool served(int demand) const { return unserved_[at(demand)] < kWholeShare; }

 private:
  std::vector<std::int32_t> unserved_;
  std::vector<std::int64_t> load_;
};

/// Demands whose joint load only the pools that reach one of them can carry; a
/// necessary condition of every plan. With `loss`: whichever element is lost, on
/// degraded terms.
struct Cut {
  int commodity = 0;
  int block = 0;
  bool loss = false;
  Bits demands;
  std::vector<std::uint8_t> reaches;  ///< by class of all sites
  std::int64_t need = 0;              ///< load of `demands` under the service
  /// Largest load that one group may carry (shares of traffic), in this block.
  std::int64_t group_limit = std::numeric_limits<std::int64_t>::max();

  /// Supplies do not simply add up: a loss or a group's limit is in between.
  bool metered() const {
    return loss || group_limit < std::numeric_limits<std::int64_t>::max();
  }
};

/// The picks of a plan and what can be told of them without routing.
class PlanState {
 public:
  explicit PlanState(const Model& model) : model_(&model) {}

  const std::vector<Pick>& picks() const { return picks_; }
  const Point& point(const Pick& pick) const {
    return model_->points(pick.site, pick.commodity)[at(pick.point)];
  }
  /// Point at (site, commodity), -1 if nothing is built.
  int chosen(int site, int commodity) const;
  bool open(int site) const;
  int open_sites() const;

  /// `point` -1 removes. O(picks).
  void choose(int site, int commodity, int point);

  /// Objective less traffic and unserved demand: fixed, points, premiums, constant.
  std::int64_t building_cost() const;
  /// Stock, max_sites, pins and group shares of GPUs or cost hold.
  bool within_limits() const;
  bool fits_stock() const;
  /// What the largest group has of GPUs or cost beyond its share, as a part of the
  /// whole; <= 0: nothing.
  double largest_excess() const;

 private:
  const Model* model_;
  std::vector<Pick> picks_;  // sorted
};

/// Tells the load of a cut that picks cannot carry (<= 0: they can). Reuses its memory.
class CutMeter {
 public:
  explicit CutMeter(const Model& model);
  std::int64_t deficit(const Cut& cut, const PlanState& state);

 private:
  std::int64_t usable(const Cut& cut, const PlanState& state);
  std::int64_t least_surviving(const Cut& cut, const PlanState& state);

  const Model& model_;
  std::vector<std::int64_t> sums_;  // by element or group
};

/// Every demand all month at the cheapest open pool within reach, room or not.
std::int64_t traffic_estimate(const Model& model, const PlanState& state,
                              const Service& service);

/// Of what the service leaves out, rounded down.
std::int64_t unserved_cost(const Model& model, const Service& service);

/// Sets the need and the group limit of a cut to those of a service.
void refresh(Cut& cut, const Service& service, const Model& model);

/// Largest load that one group may carry in a block; the largest int64 if shares are
/// not of traffic.
std::int64_t group_traffic_limit(const Model& model, const Service& service,
                                 int commodity, int block);

}  // namespace isochrone::place
