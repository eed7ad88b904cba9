#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "place/core/max_flow.h"
#include "place/core/plan_state.h"

namespace isochrone::place {

/// A cut that a plan violates, and under the loss of what (-1: of nothing).
struct Violation {
  Cut cut;
  int element = -1;
};

/// Load of a demand on a pick in a block.
struct Carried {
  int demand = 0;
  int pick = 0;  ///< index in PlanState::picks()
  std::int64_t load = 0;
};

/// Routes the served loads of a plan, block by block, on demands aggregated by the set
/// of pools that may carry them. Exact integers. Not shared by threads.
class Router {
 public:
  explicit Router(const Model& model) : model_(model) {}

  /// Violated cuts of ordinary work; if there are none, the first under a loss. Each is
  /// as strong as its supply allows: see strengthen(). Empty: the plan carries
  /// everything, and survives.
  std::vector<Violation> violations(const PlanState& state, const Service& service);

  /// Routes one block of one commodity, or nullopt if that is impossible.
  std::optional<std::vector<Carried>> route(const PlanState& state,
                                            const Service& service, int commodity,
                                            int block);
  std::int64_t flows_solved() const { return flows_solved_; }

 private:
  /// Demands that the same pools may carry.
  struct DemandClass {
    std::vector<int> demands;
    Bits pools;  // by position in pools_
  };

  struct Loss {
    int element = 0;
    std::vector<std::uint8_t> pools;  // by position in pools_
  };

  void gather(const PlanState& state, const Service& service, int commodity,
              bool degraded);
  void build_network(const PlanState& state, bool grouped);
  std::vector<Bits> shortfall(const PlanState& state, const Service& service, int block,
                              bool degraded, const std::vector<std::uint8_t>& lost);
  std::vector<Bits> demands_apart() const;
  Violation make_violation(Bits demands, int block, int element,
                           const Service& service) const;
  void strengthen(Cut& cut, const Service& service) const;
  std::vector<Loss> losses(const PlanState& state) const;

  const Model& model_;
  MaxFlow network_;
  std::vector<int> pools_;  // indices of picks of the commodity
  std::vector<DemandClass> classes_;
  std::size_t groups_ = 0;
  std::size_t first_arc_ = 0;
  std::size_t sink_ = 0;
  int commodity_ = 0;
  std::int64_t flows_solved_ = 0;
};

}  // namespace isochrone::place
