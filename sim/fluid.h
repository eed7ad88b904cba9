#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/rng.h"
#include "scenarios/demand.h"

namespace isochrone::sim {

/// Traffic that fluctuates together: all streams of one (demand entry, region).
struct StreamGroup {
  double rate_rps = 0;  ///< mean
  scenarios::Modulation modulation;
};

/// Multipliers at the middles of 1,024 equal shares of the Gamma law of this shape and
/// mean 1, scaled so that their mean is 1.
std::vector<double> gamma_multipliers(double shape);

/// gamma_multipliers() of every shape among these, made once.
class GammaTables {
 public:
  explicit GammaTables(const std::vector<scenarios::Modulation>& modulations);
  const std::vector<double>& of(double shape) const { return tables_.at(shape); }

 private:
  std::map<double, std::vector<double>> tables_;
};

/// A request is given up, and counted as missed, after this time.
inline constexpr double kTimeOut_s = 600;

/// A long, closed path of the rates that a pool sees, and of the backlog of a fluid
/// that arrives at these rates and leaves at the pool's saturation throughput. It tells
/// where a window of simulation should begin, and with what queue.
///
/// The multipliers of each group are a random order of evenly spaced quantiles of its
/// Gamma law, so that the path holds every level of traffic in its right share.
class FluidPath {
 public:
  /// `slot_s` is the grid of the path; it is shortened to divide the shortest
  /// correlation time. Without any modulation the path is one slot.
  FluidPath(std::vector<StreamGroup> groups, double capacity_rps, double slot_s,
            std::size_t epochs, const GammaTables& tables, const Rng& rng);

  std::size_t slots() const { return backlog_.size(); }
  double slot_s() const { return slot_s_; }
  double length_s() const { return slot_s_ * static_cast<double>(slots()); }
  std::size_t groups() const { return groups_.size(); }
  double capacity_rps() const { return capacity_rps_; }
  double mean_rps() const { return mean_rps_; }

  /// Rate of a group in a slot.
  double rate(std::size_t group, std::size_t slot) const {
    const Wave& wave = waves_[group];
    return wave.rates[slot / wave.slots_per_epoch];
  }
  double total_rate(std::size_t slot) const;
  /// Requests that wait at the start of the slot.
  double backlog(std::size_t slot) const { return backlog_[slot]; }
  /// The same at any time; the path is a circle.
  double backlog_at(double time_s) const;
  std::size_t slot_at(double time_s) const;
  /// Time within a slot, from `from_s` to `to_s` after its start, in which more than
  /// `backlog` requests wait.
  double time_above(std::size_t slot, double from_s, double to_s, double backlog) const;

 private:
  struct Wave {
    std::size_t slots_per_epoch = 1;
    std::vector<double> rates;
  };
  double moved(double backlog, double rate, double time_s) const;
  Wave make_wave(const StreamGroup& group, std::size_t slots, const GammaTables& tables,
                 Rng rng) const;

  std::vector<StreamGroup> groups_;
  double capacity_rps_;
  double slot_s_;
  double mean_rps_ = 0;
  std::vector<Wave> waves_;
  std::vector<double> backlog_;
};

}  // namespace isochrone::sim
