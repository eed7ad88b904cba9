#pragma once

#include <optional>
#include <vector>

#include "place/core/dual_ascent.h"
#include "place/core/transport.h"

namespace isochrone::place {

/// Search over which sites are open, for plain facility location: one block, one
/// commodity, one point per site, everybody served, no side rows. Every set of open
/// sites is priced by a transportation problem.
class OpenSearch {
 public:
  /// Whether the instance is of that kind.
  static bool fits(const Model& model);

  explicit OpenSearch(const Model& model);

  struct Found {
    std::vector<int> point;  ///< by site, -1: closed
    double cost = 0;
  };
  /// The average answer rounded, and mended where it cannot carry everything.
  std::optional<Found> round(const DualAscent& ascent) const;
  /// Opens, closes and swaps sites until nothing helps, then goes on past the best for
  /// `patience` flips without gain (tabu search).
  Found improve(Found start, int patience) const;
  /// With exact shares.
  std::optional<Solution> settled(const Found& found) const;
  /// The dual prices of a part of the plans that holds one set of open sites; if that
  /// cannot carry everything, prices at which it is worth more than `enough`.
  std::optional<Prices> prices(const Restriction& within, double enough) const;

 private:
  struct Flip {
    int open = -1;
    int close = -1;
    double least = 0;  // cost that the plan has at least after it
  };
  /// A plan and the duals of its transportation problem.
  struct Priced {
    Found found;
    std::vector<double> rent;    // by site
    std::vector<double> first;   // by demand: least cost and rent of serving all of it
    std::vector<double> second;  // at another site than `nearest`
    std::vector<int> nearest;
    double rents = 0;  // of all capacity
  };

  double building_cost(const std::vector<int>& point) const;
  std::optional<Found> evaluated(Transport& transport, std::vector<int> point) const;
  Priced priced(Transport& transport, Found found) const;
  double least_after(const Priced& now, const Flip& flip) const;
  double most_gain(const std::vector<double>& price, int site) const;
  std::vector<Flip> flips(const Priced& now) const;
  std::vector<Flip> swaps(const Priced& now, const std::vector<Flip>& flips) const;
  std::optional<Found> best_of(const Found& from, const std::vector<Flip>& flips,
                               double beat) const;

  const Model& model_;
  Transport transport_;
};

}  // namespace isochrone::place
