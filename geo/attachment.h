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

/// By satellite to the nearest hub if none lies within 400 km. Else to the hub of the
/// endpoint's own metro (within 25 km) or to the nearest four. Hubs of its own country
/// come before foreign ones, because national networks are joined at home, and if none
/// lies within 400 km those within 1,000 do (Guwahati at Kolkata, not at Thimphu), but
/// for the hub of a metro that lies across a border.
Attachment attach(const Endpoint& endpoint, const std::vector<Hub>& hubs);

}  // namespace isochrone::geo
