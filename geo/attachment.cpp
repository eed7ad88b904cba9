#include "geo/attachment.h"

#include <algorithm>
#include <cmath>

namespace isochrone::geo {
namespace {

constexpr double kTailFactor = 1.25;
constexpr double kHubReachKm = 400;
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
    // 400 km are less than 3.7 degrees of latitude.
    if (std::abs(hubs[i].at.lat - endpoint.at.lat) > 3.7) continue;
    const double km = great_circle_km(hubs[i].at, endpoint.at);
    if (km > kHubReachKm) continue;
    found.push_back({HubId{i}, km, hubs[i].country != endpoint.country});
  }
  std::ranges::stable_sort(found, {}, &Candidate::km);
  return found;
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
  if (near.empty()) {
    return {.tails = {{nearest_hub(endpoint, hubs), 0}}, .satellite = true};
  }
  if (std::ranges::any_of(near, [](const Candidate& c) { return !c.foreign; })) {
    std::erase_if(near, [](const Candidate& c) { return c.foreign; });
  }
  Attachment attachment;
  const std::size_t tried = near.front().km <= kHubMetroKm ? 1 : kTailsTried;
  for (const Candidate& hub : near) {
    if (attachment.tails.size() == tried) break;
    attachment.tails.push_back(tail_to(hub));
  }
  return attachment;
}

}  // namespace isochrone::geo
