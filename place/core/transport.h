#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "place/core/model.h"

namespace isochrone::place {

/// Least cost of serving everything from chosen points, of an instance with one block,
/// one commodity and nobody left unserved: every demand at its cheapest point, then
/// what is too much is moved along shortest paths between the points (successive
/// shortest paths; the network has a node per point, so a path costs little). In
/// doubles, to compare plans; settle() is exact. Not shared by threads;
/// copies are cheap.
class Transport {
 public:
  explicit Transport(const Model& model);

  struct Routed {
    double cost = 0;           ///< MicroUsd of traffic alone
    std::vector<double> rent;  ///< by site: worth of a unit of capacity, 0 if not open
  };
  /// `point` by site, -1: not open. nullopt: it cannot carry everything.
  std::optional<Routed> route(const std::vector<int>& point);

  /// After route() failed: demands whose load the points that reach them cannot carry.
  const std::vector<int>& stuck() const { return stuck_; }
  /// And by how much.
  std::int64_t excess() const { return excess_; }

  /// Cheapest price of serving all of each demand at these rents: the duals.
  std::vector<double> prices(const std::vector<int>& point, const Routed& routed) const;

 private:
  struct Part {
    int pool = 0;
    std::int64_t load = 0;
  };
  /// Cheapest way to move a unit from a pool to another, and whose.
  struct Move {
    double cost = 0;
    int demand = -1;
  };

  void gather(const std::vector<int>& point);
  bool assign();
  void scan(std::size_t from);
  bool relieve();
  void shift(int demand, int from, int to, std::int64_t load);
  double unit(std::size_t pool, int demand) const {
    return cost_[at(demand) * sites_.size() + pool];
  }
  Move& move(std::size_t from, std::size_t to) {
    return moves_[from * sites_.size() + to];
  }
  std::vector<double> distances_to_room() const;

  const Model& model_;
  /// [site][demand]: cost of a unit of load; endless: no arc. Shared by copies.
  std::shared_ptr<const std::vector<double>> unit_;
  std::vector<int> sites_;    // open ones: the pools
  std::vector<double> cost_;  // [demand][pool]: of a unit of load; endless: no arc
  std::vector<std::int64_t> room_;         // by pool; negative: too much
  std::vector<std::vector<Part>> parts_;   // by demand
  std::vector<std::vector<int>> demands_;  // by pool, with some load there
  std::vector<Move> moves_;
  std::vector<int> stuck_;
  std::int64_t excess_ = 0;
};

}  // namespace isochrone::place
