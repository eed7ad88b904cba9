#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "place/core/restriction.h"

namespace isochrone::place {

/// Modular, multi-commodity, hour-blocked, split-source capacitated facility location
/// with side rows: numbers only, no GPUs. Loads and capacities are int64 (MicroRps),
/// money is int64 (MicroUsd per month).
///
///   min  sum over open sites (fixed + cost of the chosen option at n)
///        + sum over (demand, pool, block) share * traffic cost
///        + sum over demands unserved share * unserved cost
///        + sum over groups used (premium)
///   s.t. shares of a demand in a block + its unserved share = 1
///        load on a pool in a block <= capacity(option, n)
///        shares only on arcs that the option's reach class admits
///        at most one option per (site, commodity)
///        stock, max_sites, group shares, coverage, survival rows, budget, pins.
struct DemandRow {
  int commodity = 0;                 ///< workload
  std::vector<std::int64_t> load;    ///< by block
  int coverage_group = -1;           ///< index, -1: must be served whole
  std::int64_t unserved_cost = 0;    ///< of leaving all of it unserved, per month
  std::int64_t coverage_weight = 0;  ///< users, in the coverage row
};

/// At most `slack` of coverage weight may stay unserved within the group.
struct CoverageGroup {
  std::int64_t slack = 0;
};

/// One way to serve a commodity at a site, n = 1 .. cost.size().
struct Option {
  int commodity = 0;
  int reach_class = 0;     ///< index in Site::reach
  int degraded_class = 0;  ///< index in Site::reach: arcs admitted during a loss
  std::vector<std::int64_t> cost;      ///< objective cost of n replicas, non-decreasing
  std::vector<std::int64_t> bill;      ///< part of `cost` that is billed (budget)
  std::vector<std::int64_t> capacity;  ///< load that n replicas carry, non-decreasing
  std::vector<std::int64_t> degraded_capacity;  ///< the same during a loss, >= capacity
  std::vector<std::int64_t> gpus;  ///< rented units, in the stock row and in shares
  int stock_row = 0;               ///< index in Site::stock
  bool whole = false;     ///< serves its demand entirely or not at all (batch jobs):
                          ///< capacity is meaningless, the one demand has load 0
  std::size_t label = 0;  ///< caller's index, to find profile, level and offer again
};

struct Site {
  std::int64_t fixed_cost = 0;  ///< objective, if open
  std::int64_t fixed_bill = 0;
  int group = 0;              ///< provider: shares and premiums
  std::vector<int> elements;  ///< loss elements that it belongs to
  std::vector<Option> options;
  std::vector<std::int64_t> stock;                ///< units available per stock row
  std::vector<std::vector<std::uint64_t>> reach;  ///< class -> bitset over demands
  /// demand -> cost of carrying all of it for a month in the block, from this site.
  /// traffic_cost[block][demand]; lowest marginal price (a bound), exact in the caller.
  /// Empty: free.
  std::vector<std::vector<std::int64_t>> traffic_cost;
  bool pinned = false;
};

struct Instance {
  int blocks = 1;
  int commodities = 1;
  std::vector<DemandRow> demands;
  std::vector<CoverageGroup> coverage;
  std::vector<Site> sites;
  int groups = 0;
  std::vector<std::int64_t> group_premium;  ///< objective, if any site of it is open
  int elements = 0;  ///< losses to survive, one at a time; 0: none
  std::optional<int> max_sites;
  std::optional<std::int64_t> budget;  ///< on the bill; checked, not priced
  struct GroupShare {
    enum class Of { kGpus, kCost, kTraffic } of = Of::kGpus;
    double share = 1;
  };
  std::optional<GroupShare> group_share;
  /// Constant part of the objective (e.g. free egress tiers): added to plan and bound.
  std::int64_t constant = 0;
};

/// What is built at one site for one commodity.
struct Choice {
  int site = 0;
  int option = 0;  ///< index in Site::options
  std::int64_t replicas = 0;
};

/// Share of a demand on a choice, in parts per 10^9, by block.
struct Flow {
  int demand = 0;
  int choice = 0;  ///< index in Solution::choices
  std::vector<std::int32_t> ppb;
};

/// Of a survival row that holds because any one element may be lost.
inline constexpr int kAnyLoss = -1;
/// Of a row of ordinary work in whole units.
inline constexpr int kNoLoss = -2;

/// What the pools that reach K keep after a loss carries K. Of one element: the
/// degraded capacity of the sites that do not belong to it is at least the need. Of
/// any: see place/core/any_loss.h. Of none: capacities and the load of K, each rounded
/// up to whole units; nobody in K may be left unserved.
struct SurvivalRow {
  int element = 0;  ///< or kAnyLoss, kNoLoss
  int block = 0;
  std::vector<int> demands;  ///< K of the min cut
  std::int64_t need = 0;     ///< its load
  std::int64_t unit = 0;     ///< of kNoLoss, >= 1
};

/// Multipliers that prove a bound: see evaluate_bound().
struct Certificate {
  /// price[block][demand], MicroUsd for all of the demand in the block.
  std::vector<std::vector<std::int64_t>> price;
  struct PricedRow {
    SurvivalRow row;
    /// nano-dollars (1e-3 MicroUsd) per unit of 1e-6 load... integer >= 0
    std::int64_t multiplier = 0;
  };
  std::vector<PricedRow> rows;
};

/// What one part of a tree of plans was found to cost at least.
struct PartProof {
  Restriction within;
  Certificate certificate;
  /// Empty: the whole part. Else the smaller parts in which one site is open (kYes) or
  /// closed (kNo); the rest of the part is in other proofs.
  struct Excluded {
    int site = 0;
    Restriction::Open open = Restriction::Open::kFree;
  };
  std::vector<Excluded> excluded;
};

enum class Status { kSolved, kInfeasible, kUndecided, kInterrupted };

/// Why nothing can be built: demands without an arc, or a set whose joint load no
/// admissible build can carry. Or why it is open whether something can.
struct Conflict {
  /// no_arc | capacity | survival | max_sites | sites_to_survive | sites_to_share |
  /// group_share | budget | pins; of an undecided question: budget_open.
  std::string kind;
  std::vector<int> demands;
  int element = -1;
  int block = -1;
  std::string detail;
};

struct Solution {
  Status status = Status::kUndecided;
  std::vector<Choice> choices;
  std::vector<Flow> flows;
  std::vector<std::int32_t> unserved_ppb;  ///< by demand
  std::int64_t objective = 0;  ///< exact, of this solution, in the instance's own costs
  std::int64_t bound = 0;      ///< proven lower bound, rounded down
  Certificate certificate;
  /// After branch and bound: every plan is within one of them, and none costs less than
  /// the bound. Empty: the certificate alone proves the bound.
  std::vector<PartProof> parts;
  std::vector<Conflict> conflicts;
  std::vector<SurvivalRow>
      repaired;  ///< cuts that a plan violated and that were mended
  struct Statistics {
    std::int64_t dual_steps = 0;
    std::int64_t nodes = 0;
    std::int64_t moves = 0;
    std::int64_t flows_solved = 0;
    std::int64_t arcs = 0;
  } statistics;
};

}  // namespace isochrone::place
