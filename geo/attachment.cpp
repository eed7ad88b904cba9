#include "geo/attachment.h"

#include <algorithm>
#include <cmath>

namespace isochrone::geo {
namespace {

constexpr double kTailFactor = 1.25;
constexpr double kHubReachKm = 400;
constexpr double kHomeReachKm = 1000;
constexpr double kHubMetroKm = 25;
constexpr std::size_t kTailsTried = 4;

struct Candidate {
  HubId hub;
  double km = 0;
  bool foreign = false;
};

/// Hubs within reach, nearest first, ties by table order.
std::vector<Candidate> within_reach(const Endpoint& endpoint,
                                    const std::vector<Hub>& hubs) {
  std::vector<Candidate> found;
  for (std::uint32_t i = 0; i < hubs.size(); ++i) {
    // 1000 km are less than 9.1 degrees of latitude.
    if (std::abs(hubs[i].at.lat - endpoint.at.lat) > 9.1) continue;
    const double km = great_circle_km(hubs[i].at, endpoint.at);
    const bool foreign = hubs[i].country != endpoint.country;
    if (km > (foreign ? kHubReachKm : kHomeReachKm)) continue;
    found.push_back({HubId{i}, km, foreign});
  }
  std::ranges::stable_sort(found, {}, &Candidate::km);
  return found;
}

/// Leaves the hubs at home or, where those are far, that of a metro across the border
/// (Kousseri by N'Djamena); without any at home, the foreign ones.
void keep_preferred(std::vector<Candidate>& near) {
  const auto home = std::ranges::find(near, false, &Candidate::foreign);
  const bool far = home == near.end() || home->km > kHubReachKm;
  const bool abroad = home == near.end() || (far && near.front().km <= kHubMetroKm);
  const double reach_km = far ? kHomeReachKm : kHubReachKm;
  std::erase_if(
      near, [&](const Candidate& c) { return c.foreign != abroad || c.km > reach_km; });
}

HubId nearest_hub(const Endpoint& endpoint, const std::vector<Hub>& hubs) {
  const auto nearest = std::ranges::min_element(
      hubs, {}, [&](const Hub& hub) { return great_circle_km(hub.at, endpoint.at); });
  return HubId{static_cast<std::uint32_t>(nearest - hubs.begin())};
}

Tail tail_to(const Candidate& hub) {
  return {hub.hub, std::llround(hub.km * kTailFactor * 1e3)};
}

}  // namespace

Attachment attach(const Endpoint& endpoint, const std::vector<Hub>& hubs) {
  std::vector<Candidate> near = within_reach(endpoint, hubs);
  if (near.empty() || near.front().km > kHubReachKm) {
    return {.tails = {{nearest_hub(endpoint, hubs), 0}}, .satellite = true};
  }
  keep_preferred(near);
  Attachment attachment;
  const std::size_t tried = near.front().km <= kHubMetroKm ? 1 : kTailsTried;
  for (const Candidate& hub : near) {
    if (attachment.tails.size() == tried) break;
    attachment.tails.push_back(tail_to(hub));
  }
  return attachment;
}

}  // namespace isochrone::geo
