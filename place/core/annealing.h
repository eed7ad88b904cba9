#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "place/core/local_search.h"

namespace isochrone::place {

/// Simulated annealing over picks. What a plan lacks of a cut is priced, so that the
/// walk may pass through plans that do not carry everything; a change costs a
/// microsecond or two, since only the cuts that its reach classes touch move. A plan
/// that lacks nothing and would be the best is routed; cuts that it violates join.
/// Depends on its inputs and its Rng alone.
class Annealing {
 public:
  /// Cuts that a plan violates; none: it carries everything.
  using Violated = std::function<std::vector<Cut>(const PlanState&)>;

  Annealing(const Model& model, const Guide& guide, Rng& rng, const Service& service);

  void add_cut(Cut cut);
  /// Best plan that carries everything and is no dearer than `start`, which does. Heat
  /// is in parts of the cost of the plan: a rise by so much is accepted once in e
  /// times.
  Incumbent run(Incumbent start, std::int64_t steps, double heat,
                const Violated& violated);

 private:
  /// What a move must know of a plain cut, packed: it is what the time is spent on.
  struct Priced {
    std::int64_t need = 0;
    std::int64_t supply = 0;  // of the current plan
    double price = 0;         // per unit lacking
    int commodity = 0;
  };

  struct Energy {
    std::int64_t cost = 0;
    double penalty = 0;
  };

  void set_prices(const Incumbent& start);
  bool below(double limit);
  void enter(const PlanState& state);
  void meter(std::size_t cut);
  bool propose();
  bool propose_resize();
  bool propose_swap();
  bool propose_move();
  bool open_allowed(int site) const;
  void change(int site, int commodity, int point);
  void undo();
  double metered_penalty();
  int point_with(int site, int commodity, std::int64_t capacity);
  int random_point(int site, int commodity);
  const Pick& random_pick();
  int random_candidate();
  double first_price(const Cut& cut) const;
  std::size_t loosest() const;

  const Model& model_;
  const Guide& guide_;
  Rng& rng_;
  const Service& service_;
  CutMeter meter_;
  PlanState state_;
  std::vector<Cut> cuts_;
  std::vector<Priced> priced_;        // by cut
  std::vector<std::size_t> metered_;  // positions in cuts_
  std::vector<std::uint64_t>
      touched_;                 // [class * words + word]: plain cuts it supplies
  std::int64_t unserved_cost_;  // of the service, the same for all plans
  std::vector<std::vector<int>> by_capacity_;  // points of (site, commodity)
  std::vector<Pick>
      changed_;  // of this proposal: what was there before (point -1: none)
  double plain_penalty_ = 0;
  double unit_price_ = 0;
  double money_ = 1;
  Energy fresh_;
};

}  // namespace isochrone::place
