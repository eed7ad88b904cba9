#pragma once

#include <cstdint>
#include <vector>

#include "geo/hub_graph.h"
#include "geo/network.h"

namespace isochrone::geo {

/// The stretch between an endpoint and a hub.
struct Tail {
  HubId hub;
  std::int64_t metres = 0;
};

/// How an endpoint reaches the network. Never without a tail.
struct Attachment {
  std::vector<Tail> tails;  ///< alternatives; the best one depends on the other end
  bool satellite = false;   ///< the only tail is a satellite hop to the nearest hub
};

/// To the hub of the endpoint's own metro (within 25 km), else to the nearest four
/// within 400 km; in both cases hubs of its own country come before foreign ones,
/// because national networks are joined at home. Else by satellite to the nearest hub.
Attachment attach(const Endpoint& endpoint, const std::vector<Hub>& hubs);

}  // namespace isochrone::geo
