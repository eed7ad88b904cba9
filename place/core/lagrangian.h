#pragma once

#include <cstdint>
#include <vector>

#include "place/core/model.h"

namespace isochrone::place {

/// Prices of the relaxed rows, in MicroUsd.
struct Prices {
  std::vector<double> demand;  ///< [block * demands + demand], for all of it
  std::vector<double> row;     ///< per unit of load, >= 0, by survival row
};

/// What the sites would do, each alone, at given prices.
struct Outcome {
  double value = 0;                ///< of the Lagrangian, up to rounding
  std::vector<double> site_value;  ///< fixed cost and best choices; < 0: worth opening
  std::vector<std::uint8_t> open;  ///< by site
  std::vector<int> pick;           ///< [site * commodities + commodity]: point, or -1
  std::vector<double> unserved;    ///< by demand, 0 .. 1
};

/// What an outcome does to the relaxed rows.
struct Activity {
  std::vector<double> served;    ///< [block * demands + demand]: sum of shares
  std::vector<double> capacity;  ///< by survival row: degraded capacity that counts
};

/// The Lagrangian function in double precision, for the ascent. The proof is
/// evaluate_bound(). Parallel over sites; the result does not depend on the threads.
class Lagrangian {
 public:
  explicit Lagrangian(const Model& model);

  void add_row(const SurvivalRow& row);
  const std::vector<SurvivalRow>& rows() const { return rows_; }
  /// Load of a demand within a survival row, 0 if it is not of the row.
  double row_need(std::size_t row) const { return needs_[row]; }
  double row_load(std::size_t row, int demand) const;

  Outcome evaluate(const Prices& prices) const;
  Activity activity(const Outcome& outcome, const Prices& prices) const;

 private:
  struct Item {
    int demand = 0;
    double worth = 0;
    double load = 0;
    double density = 0;
  };
  using ItemLists = std::vector<std::vector<Item>>;  // [commodity * blocks + block]

  /// Points of a site and commodity with one reach class, by capacity.
  struct ReachGroup {
    int reach_class = 0;
    bool all = false;  // reaches all that the site's other groups reach
    std::vector<int> points;
  };
  /// What the points of a site and commodity have in common.
  struct Market {
    std::vector<ReachGroup> groups;
    Bits reached;                   // by any of the groups
    std::vector<double> grid;       // capacities at which gains are computed, from 0
    std::vector<std::size_t> cell;  // by point: last grid capacity not above its own
    std::vector<std::size_t> group_of;  // by point
    std::vector<double> traffic_rate;   // per load, by block; empty: by demand
  };
  struct Question {
    const ItemLists& items;
    const Prices& prices;
    int site = 0;
    int commodity = 0;
    std::vector<double> reward;  // by degraded class
  };
  struct SiteResult {
    double value = 0;
    double reduced = 0;
    std::vector<int> pick;
  };

  Market make_market(int site, int commodity) const;
  std::vector<double> traffic_rate(int site, int commodity) const;
  ItemLists sorted_items(const Prices& prices) const;
  std::vector<Item> own_items(int site, const std::vector<Item>& all, int block) const;
  std::vector<double> rewards(int site, int commodity, const Prices& prices) const;
  double whole_gain(int site, int commodity, const Prices& prices) const;
  std::vector<double> gains_at(const Question& question, const Bits& reach,
                               const std::vector<double>& capacities) const;
  double at_most(const Market& market, const std::vector<double>& gains, int point,
                 double capacity) const;
  std::vector<double> optimistic_values(const Question& question) const;
  std::vector<double> exact_values(const Question& question, const ReachGroup& group,
                                   const std::vector<int>& points) const;
  std::pair<double, int> best_choice(const Question& question,
                                     std::vector<double>& optimistic) const;
  double net_cost(const Question& question, const Point& point) const;
  SiteResult value_of_site(int site, const ItemLists& items,
                           const Prices& prices) const;
  void choose_sites(const std::vector<SiteResult>& results, Outcome& outcome) const;
  void choose_unserved(const Prices& prices, Outcome& outcome) const;
  const Market& market(int site, int commodity) const {
    return markets_[at(site) * at(model_.commodities()) + at(commodity)];
  }

  const Model& model_;
  std::vector<Market> markets_;
  std::vector<SurvivalRow> rows_;
  std::vector<double> needs_;
  std::vector<Bits> row_demands_;
  std::vector<int> row_commodity_;
  std::vector<std::vector<std::uint8_t>> row_reaches_;  // by class
  std::vector<std::vector<std::uint8_t>> row_lost_;     // by site
};

}  // namespace isochrone::place
