#include "geo/measured.h"

#include <cmath>
#include <tuple>

namespace isochrone::geo {

MeasuredPairs::MeasuredPairs(std::span<const MeasuredRtt> measured, Regime regime) {
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const MeasuredRtt& row = measured[i];
    if (row.regime != regime) continue;
    const std::size_t from = place_index(row.from);
    const std::size_t to = place_index(row.to);
    pairs_.try_emplace({from, to}, Entry{i, row.rtt});
  }
}

std::size_t MeasuredPairs::place_index(const Endpoint& place) {
  const auto [entry, fresh] =
      index_.try_emplace({place.name, place.at}, places_.size());
  if (fresh) places_.push_back(place);
  return entry->second;
}

std::vector<MeasuredPairs::Near> MeasuredPairs::near(const Endpoint& endpoint) const {
  std::vector<Near> found;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    // A degree of latitude is 111 km: most places are out of the question at once.
    if (std::abs(places_[i].at.lat - endpoint.at.lat) > 0.5) continue;
    const double km = great_circle_km(places_[i].at, endpoint.at);
    if (km > kSameMetroKm) continue;
    found.push_back({i, places_[i].name == endpoint.name, static_cast<int>(km / 10)});
  }
  return found;
}

std::optional<Micros> MeasuredPairs::best(std::span<const Near> from,
                                          std::span<const Near> to) const {
  std::optional<Micros> rtt;
  std::tuple<int, int, std::size_t> best_rank;
  for (const Near& a : from) {
    for (const Near& b : to) {
      const auto pair = pairs_.find({a.place, b.place});
      if (pair == pairs_.end()) continue;
      const std::tuple rank(-int{a.same_name} - int{b.same_name},
                            a.tens_of_km + b.tens_of_km, pair->second.order);
      if (rtt && rank >= best_rank) continue;
      best_rank = rank;
      rtt = pair->second.rtt;
    }
  }
  return rtt;
}

}  // namespace isochrone::geo
