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
  std::vector<double> opening;     ///< by site: at least what it adds to be open
  std::vector<std::uint8_t> open;  ///< by site
  std::vector<int> pick;           ///< [site * commodities + commodity]: point, or -1
  std::vector<double> unserved;    ///< by demand, 0 .. 1
};

/// Lets sites alone that cannot be worth opening yet. A site can gain no more than the
/// prices within its reach rise, and what more survival rows pay; what it lacked at
/// `since` tells how far that is. Values stay exact, `opening` of the others is a
/// bound.
struct Slack {
  Prices since;
  std::vector<double> room;  ///< by site; <= 0: look at it
  int uses = 0;
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

  /// Of the plans within the restriction.
  Outcome evaluate(const Prices& prices, const Restriction& within) const;
  /// The same, sooner; `slack` is of the restriction, and empty at first.
  Outcome evaluate(const Prices& prices, const Restriction& within, Slack& slack) const;
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

  /// A demand as a site with traffic costs of its own sees it in a block.
  struct Arc {
    int demand = 0;
    double load = 0;
    double cost = 0;
  };
  /// What is worth more than its traffic, in no order, and its sums.
  struct OwnItems {
    std::vector<Item> items;
    double load = 0;
    double worth = 0;
  };

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
    std::vector<int> order;              // points by group, then capacity
    std::vector<double> capacity;        // in that order
    std::vector<double> traffic_rate;    // per load, by block; empty: by demand
    std::vector<std::vector<Arc>> arcs;  // then by block
  };
  struct Question {
    const ItemLists& items;
    const Prices& prices;
    int site = 0;
    int commodity = 0;
    Restriction::Range range;
    std::vector<double> net_cost;  // by point: cost less what survival rows pay
    std::vector<OwnItems> own;     // by block, of a market with traffic of its own
  };
  struct SiteResult {
    double value = 0;
    double reduced = 0;
    double opening = 0;
    std::vector<int> pick;
  };

  Market make_market(int site, int commodity) const;
  void sort_into_kinds(int site, int commodity, Market& market) const;
  std::vector<double> traffic_rate(int site, int commodity) const;
  ItemLists sorted_items(const Prices& prices) const;
  static void arrange(ItemList& list);
  std::vector<std::vector<Arc>> own_arcs(int site, int commodity) const;
  OwnItems own_items(const Market& market, int block, const Prices& prices) const;
  static void sort_by_density(std::vector<Item>& items);
  static void sort_densest(std::vector<Item>& items, double capacity);
  static void serve(const std::vector<Item>& items, double rate, const Bits& reach,
                    double left, double* served);
  std::vector<double> net_costs(int site, int commodity, const Prices& prices) const;
  double whole_gain(int site, int commodity, const Prices& prices) const;
  std::vector<double> most_gains(const Question& question) const;
  std::vector<double> own_gains(Question& question, const ReachGroup& group) const;
  std::vector<double> exact_gains(Question& question, const ReachGroup& group) const;
  std::vector<double> optimistic_values(Question& question) const;
  void keep_within(const Question& question, std::vector<double>& optimistic) const;
  std::pair<double, int> best_choice(Question& question,
                                     const std::vector<double>& optimistic) const;
  SiteResult value_of_site(int site, const ItemLists& items, const Prices& prices,
                           const Restriction& within) const;
  Outcome outcome_of(const Prices& prices, const Restriction& within,
                     const std::vector<SiteResult>& results) const;
  std::vector<SiteResult> results_of(const Prices& prices, const Restriction& within,
                                     const std::vector<double>& room) const;
  std::vector<double> rooms_left(const Prices& prices, const Slack& slack) const;
  void choose_sites(const std::vector<SiteResult>& results, const Restriction& within,
                    Outcome& outcome) const;
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
    std::vector<float> most_supply;  // by site
  };

  const Model& model_;
  std::vector<Market> markets_;
  std::vector<std::vector<int>> reached_;  // by site: demands that some point reaches
  bool shared_order_ = false;              // of items, used by some market
  std::vector<SurvivalRow> rows_;
  std::vector<Row> priced_;
};

}  // namespace isochrone::place
