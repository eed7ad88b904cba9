#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "place/core/plan_state.h"
#include "place/core/routing.h"

namespace isochrone::place {

/// What the dual knows and a search uses.
struct Guide {
  std::vector<std::vector<double>> weights;  ///< average answer, by (site, commodity)
  std::vector<int> candidates;               ///< sites worth a look, best first
};

/// A plan that is known to carry its service, and its cost with an estimate of traffic.
struct Incumbent {
  PlanState state;
  Service service;
  std::int64_t cost = 0;
};

/// Construction and local search over picks. A candidate is first held against the cuts
/// that earlier candidates violated, which takes about a microsecond, and only routed
/// if it passes all of them and would improve. Depends on its inputs and its Rng alone.
class LocalSearch {
 public:
  LocalSearch(const Model& model, const Guide& guide, Rng rng, std::vector<Cut> cuts);

  /// Rounds the average answer and mends it; nullopt if that fails.
  std::optional<Incumbent> construct(const Service& service, double threshold);
  /// Anneals from `heat` (parts of the cost), then improves by moves until none helps
  /// or `moves` are spent, then shakes and repeats.
  Incumbent improve(Incumbent start, std::int64_t moves, double heat);

  const std::vector<Cut>& cuts() const { return cuts_; }
  /// Cuts under a loss that a plan violated.
  const std::vector<SurvivalRow>& repaired() const { return repaired_; }
  std::int64_t moves() const { return moves_; }
  std::int64_t flows_solved() const { return router_.flows_solved(); }

 private:
  struct Change {
    int site = -1;
    int commodity = 0;
    int point = -1;
  };
  struct Shortage {
    std::size_t cut = 0;
    std::int64_t deficit = 0;
    double weight = 0;         // 1 / need
    int largest_site = -1;     // of what counts for a cut under a loss
    std::int64_t largest = 0;  // its supply
    std::int64_t second = 0;   // the largest supply of another site
  };

  /// What a change within one pair of reach classes does for one short cut.
  struct Want {
    bool loss = false;
    double scale = 1;
    double limit = 0;  // supply beyond it counts only as much as `beyond`
    double beyond = 0;
    double had = 0;  // supply before the change
    double deficit = 0;
    double weight = 0;
  };

  std::int64_t cost_of(const PlanState& state, const Service& service) const;
  bool passes_cuts(const PlanState& state);
  /// Remembers what `base` supplies to every cut, for passes_with().
  void rebase(const PlanState& base);
  /// passes_cuts() of the base after one change.
  bool passes_with(const PlanState& base, const Pick& change);
  bool reject(std::size_t position);
  /// Routes the plan; what it violates joins the cuts.
  bool carries(const PlanState& state, const Service& service);
  std::vector<Cut> violated(const PlanState& state, const Service& service);
  Incumbent anneal(Incumbent start, std::int64_t steps, double heat);
  bool acceptable(const PlanState& state, const Service& service);
  std::vector<Shortage> shortages(const PlanState& state);
  void use(const Service& service);

  void open_pinned(PlanState& state) const;
  void place_jobs(PlanState& state) const;
  bool mend(PlanState& state, const Service& service);
  /// kSketch looks at few sizes. kEverySize, where those do not help, at all of them,
  /// and counts half of what a site keeps beyond the largest other, for that one to
  /// follow.
  enum class Look { kSketch, kEverySize };
  Change best_growth(const PlanState& state, const std::vector<Shortage>& shortages,
                     Look look);
  std::int64_t supply_to(const Cut& cut, int site, const Point& point) const;
  std::vector<Want> wants_of(const std::vector<const Shortage*>& shortages, int site,
                             const Model::Sketch& sketch, const Point* before,
                             Look look) const;
  double relief(const std::vector<Want>& wants, const Point& point) const;
  double missing_with(const PlanState& base, const Pick& change);
  bool reaches_all_of(const Model::Sketch& sketch, int site, const Point& before) const;
  bool balance_groups(PlanState& state);

  bool descend(Incumbent& best, std::int64_t limit);
  bool try_replace(Incumbent& best, const Pick& pick);
  bool try_pair(Incumbent& best, const Pick& pick, int point);
  std::optional<PlanState> best_partner(const PlanState& base, std::int64_t beat,
                                        const Pick& changed, const Service& service);
  bool try_insert(Incumbent& best, int site, int commodity, int point);
  bool try_unserved(Incumbent& best);
  bool shrink_all(PlanState& state);
  void shake(PlanState& state);
  std::optional<Incumbent> shaken(const Incumbent& from, std::int64_t limit);
  bool accept(Incumbent& best, PlanState state);
  std::int64_t opening_cost(const PlanState& state, int site) const;

  const Model& model_;
  const Guide& guide_;
  Rng rng_;
  Router router_;
  CutMeter meter_;
  std::vector<Cut> cuts_;
  std::vector<std::size_t> order_;    // of cuts, latest violated first
  std::vector<std::int64_t> supply_;  // by cut, of the base; of ordinary cuts only
  std::vector<SurvivalRow> repaired_;
  std::vector<int> tabu_;      // by site: not to be opened before this turn
  std::vector<double> noise_;  // by site: factor on costs while mending
  int turn_ = 0;
  std::int64_t moves_ = 0;
};

}  // namespace isochrone::place
