#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "geo/network.h"

namespace isochrone::geo {

/// Measured RTTs of one regime, found by where their ends lie. Directed: a measurement
/// from A to B says nothing about B to A.
class MeasuredPairs {
 public:
  /// Ends of a measurement stand for every endpoint within this distance.
  static constexpr double kSameMetroKm = 40;

  MeasuredPairs(std::span<const MeasuredRtt> measured, Regime regime);

  /// A measured place near an endpoint.
  struct Near {
    std::size_t place = 0;
    bool same_name = false;
    int tens_of_km = 0;
  };
  std::vector<Near> near(const Endpoint& endpoint) const;

  /// The measurement that fits two endpoints best: most equal names, then least
  /// distance (in steps of 10 km, finer is noise), then first in the table.
  std::optional<Micros> best(std::span<const Near> from,
                             std::span<const Near> to) const;

 private:
  struct Entry {
    std::size_t order = 0;
    Micros rtt{0};
  };
  std::size_t place_index(const Endpoint& place);

  std::vector<Endpoint> places_;
  std::map<std::pair<std::string, Coordinates>, std::size_t> index_;
  std::map<std::pair<std::size_t, std::size_t>, Entry> pairs_;
};

}  // namespace isochrone::geo
