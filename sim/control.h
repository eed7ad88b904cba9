#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/fluid.h"

namespace isochrone::sim {

/// Chance that all servers are busy, by utilisation in 128 equal cells of 0 .. 1:
/// Erlang C with so many servers.
std::vector<double> busy_chances(std::int64_t servers);

/// What the fluid says of one key: requests of some groups are late while more than
/// `late_backlog` requests wait; with less, an M/M/c queue at the rate of the moment
/// makes some of them late.
class FluidQuestion {
 public:
  /// Requests can wait `slack_s`; nullopt: waiting does not touch them.
  FluidQuestion(std::vector<bool> groups, std::optional<double> slack_s,
                double capacity_rps, const std::vector<double>& busy_chances);

  bool holds(std::size_t group) const { return groups_[group]; }
  bool waits() const { return waits_; }
  double late_backlog() const { return late_backlog_; }
  /// Share that is late without a backlog of the fluid.
  double late_share(double utilisation) const;

 private:
  std::vector<bool> groups_;
  bool waits_;
  double late_backlog_;
  std::vector<double> late_shares_;  // by cells of utilisation
};

struct FluidAnswer {
  double requests = 0;
  double missed = 0;
};

/// Within `length_s` from `begin_s`; the path is a circle.
FluidAnswer ask(const FluidPath& path, const FluidQuestion& question, double begin_s,
                double length_s);

/// Per second, over the whole path, with the variance of `missed` as a sample of an
/// endless one, from the means of 16 stretches. The variance errs on the large side,
/// because a path holds every level of traffic in its exact share.
struct FluidLife {
  FluidAnswer rate;
  double missed_variance = 0;
};
FluidLife live(const FluidPath& path, const FluidQuestion& question);

}  // namespace isochrone::sim
