#pragma once

#include <cstdint>
#include <utility>
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
  double row_need(std::size_t row) const { return priced_[row].need; }
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
  /// Items of a commodity and block, densest first, and where runs of about equal load
  /// begin (run_begin[0] = 0; the last entry is the number of items).
  struct ItemList {
    std::vector<Item> items;
    std::vector<std::uint32_t> run_begin;
  };
  using ItemLists = std::vector<ItemList>;  // [commodity * blocks + block]

  /// Points of a site and commodity with one reach class, by capacity.
  struct ReachGroup {
    int reach_class = 0;
    int parent = -1;                   // a group within this one, to add `extra` to
    std::vector<std::uint16_t> extra;  // kinds of demands beyond the parent
    std::size_t first = 0;             // its points: order[first .. last)
    std::size_t last = 0;
  };
  /// What the points of a site and commodity have in common. Demands that the same
  /// groups reach are of one kind.
  struct Market {
    std::vector<ReachGroup> groups;   // parents before children
    std::vector<std::uint16_t> kind;  // by demand; 0: out of reach
    std::size_t kinds = 1;
    std::vector<int> order;            // points by group, then capacity
    std::vector<double> capacity;      // in that order
    std::vector<double> traffic_rate;  // per load, by block; empty: by demand
  };
  struct Question {
    const ItemLists& items;
    const Prices& prices;
    int site = 0;
    int commodity = 0;
    std::vector<double> net_cost;  // by point: cost less what survival rows pay
  };
  struct SiteResult {
    double value = 0;
    double reduced = 0;
    std::vector<int> pick;
  };

  Market make_market(int site, int commodity) const;
  void sort_into_kinds(int site, int commodity, Market& market) const;
  std::vector<double> traffic_rate(int site, int commodity) const;
  ItemLists sorted_items(const Prices& prices) const;
  static void arrange(ItemList& list);
  ItemList own_items(int site, const ItemList& all, int block) const;
  std::vector<double> net_costs(int site, int commodity, const Prices& prices) const;
  double whole_gain(int site, int commodity, const Prices& prices) const;
  std::vector<double> most_gains(const Question& question) const;
  std::vector<double> exact_gains(const Question& question,
                                  const ReachGroup& group) const;
  std::vector<double> optimistic_values(const Question& question) const;
  std::pair<double, int> best_choice(const Question& question,
                                     const std::vector<double>& optimistic) const;
  SiteResult value_of_site(int site, const ItemLists& items,
                           const Prices& prices) const;
  void choose_sites(const std::vector<SiteResult>& results, Outcome& outcome) const;
  void choose_unserved(const Prices& prices, Outcome& outcome) const;
  const Market& market(int site, int commodity) const {
    return markets_[at(site) * at(model_.commodities()) + at(commodity)];
  }

  /// A survival row, ready to be priced.
  struct Row {
    double need = 0;
    Bits demands;
    int commodity = 0;
    std::vector<std::uint8_t> reaches;  // by class
    std::vector<std::uint8_t> lost;     // by site; all 0 if any may be lost
    /// What a point supplies, by [site][point]; empty where no class reaches.
    std::vector<std::vector<float>> supply;
  };

  const Model& model_;
  std::vector<Market> markets_;
  std::vector<SurvivalRow> rows_;
  std::vector<Row> priced_;
};

}  // namespace isochrone::place
