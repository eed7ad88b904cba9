#pragma once

#include <cstdint>
#include <vector>

#include "place/core/lagrangian.h"

namespace isochrone::place {

/// The volume algorithm (Barahona and Anbil, Mathematical Programming 87, 2000): ascent
/// along the violation of an average of the sites' answers. The average tends to an
/// optimal fractional plan, which guides the construction of whole ones.
class DualAscent {
 public:
  /// The function must outlive the ascent.
  DualAscent(const Model& model, Lagrangian& lagrangian);

  /// Takes part from the next step on, with multiplier 0. Known rows are left alone.
  void add_row(const SurvivalRow& row);
  const std::vector<SurvivalRow>& rows() const { return lagrangian_.rows(); }

  /// Begins anew on a part of the plans from these prices, in small steps. Rows and
  /// scales stay.
  void restart(const Restriction& within, const Prices& prices);
  const Restriction& within() const { return within_; }

  /// Begins from these prices, and rows, if they are worth more than its own.
  void warm_start(const Certificate& certificate);

  /// `target` is an upper bound on the optimum (a plan's objective), if known.
  void run(std::int64_t steps, double target);

  double best_value() const { return best_value_; }
  std::int64_t steps() const { return steps_; }
  const Prices& best_prices() const { return best_; }
  /// Least over all steps is not meant: value of every site at the best prices.
  const std::vector<double>& site_values() const { return best_site_value_; }
  /// By site: at least what it adds to the function at the best prices to be open.
  const std::vector<double>& opening() const { return best_opening_; }
  /// Average answer: weight of every point of (site, commodity), and of leaving a
  /// demand unserved.
  const std::vector<std::vector<double>>& weights() const { return weight_; }
  const std::vector<double>& unserved() const { return unserved_; }

  /// The best prices as integers, to be proven.
  Certificate certificate() const { return certificate_of(best_); }
  Certificate certificate_of(const Prices& prices) const;

 private:
  void choose_scale();
  void start_prices();
  std::vector<double> violation(const Activity& activity,
                                const std::vector<double>& unserved) const;
  void average(const Outcome& outcome, const Activity& activity, double part);
  double averaging_part(const std::vector<double>& current,
                        const std::vector<double>& fresh) const;
  double weighted_product(const std::vector<double>& a,
                          const std::vector<double>& b) const;
  Prices moved(const std::vector<double>& direction, double step) const;
  void adopt(const Prices& prices, const Outcome& outcome);

  const Model& model_;
  Lagrangian& lagrangian_;
  Restriction within_;
  Slack slack_;
  Prices best_;
  double best_value_ = 0;
  std::vector<double> best_site_value_;
  std::vector<double> best_opening_;
  std::vector<double> scale_;   // by price, then by row: natural size in money
  std::vector<double> guess_;   // by demand: least cost of a unit of load (or job)
  std::vector<double> served_;  // averages
  std::vector<double> unserved_;
  std::vector<double> capacity_;
  std::vector<std::vector<double>> weight_;
  double money_ = 1;    // about what serving everything costs
  double relax_ = 0.5;  // step as a part of Polyak's
  double largest_part_ = 0.05;
  int without_gain_ = 0;
  std::int64_t steps_ = 0;
  double checkpoint_value_ = 0;
  bool started_ = false;
};

}  // namespace isochrone::place
