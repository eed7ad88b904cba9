#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "geo/joint.h"
#include "geo/network.h"

namespace isochrone::geo {

/// Where networks of different countries meet on the public Internet: the gates of each
/// group of countries, numbered over all groups.
class TransitGates {
 public:
  /// Throws std::invalid_argument for a gate that is no hub, a country in two groups,
  /// or a group without gates.
  TransitGates(const std::vector<TransitGroup>& groups, const std::vector<Hub>& hubs);

  struct Group {
    std::vector<std::size_t> world;  ///< gates towards other groups
    std::vector<std::size_t> local;  ///< where two countries of the group meet
  };

  /// nullptr for a country that is in no group: it has no gates.
  const Group* group_of(CountryCode country) const;
  std::span<const HubId> gates() const { return gates_; }
  const Coordinates& at(std::size_t gate) const { return at_[gate]; }

 private:
  std::size_t number(const std::string& hub, const std::map<std::string, HubId>& ids,
                     const std::vector<Hub>& hubs);

  std::vector<Group> groups_;
  std::map<CountryCode, std::size_t> group_by_country_;
  std::vector<HubId> gates_;
  std::vector<Coordinates> at_;
};

/// Weighed and real length with the cuts, and without them.
struct WayLength {
  PathLength standing = PathLength::unreachable();
  PathLength intact = PathLength::unreachable();
};

/// What it takes an endpoint to reach gates.
struct GateReach {
  const TransitGates::Group* group = nullptr;
  std::vector<WayLength> own;    ///< in the order of group->world
  std::vector<WayLength> local;  ///< in the order of group->local
  std::vector<WayLength> every;  ///< every gate of the world, by way of an own one
};

/// The way of a pair through one gate of each side (which may be the same).
struct GateWay {
  std::size_t first = 0;
  std::size_t second = 0;
  Leg to_first;
  Leg from_second;
};

/// Finds ways through gates. The lengths must hold all gates as sources.
class GateRouter {
 public:
  GateRouter(const TransitGates& gates, const Lengths& lengths, ShortCap cap)
      : gates_(gates), lengths_(lengths), cap_(cap) {}

  GateReach reach(const Endpoint& endpoint, const Attachment& attachment) const;

  /// Shortest weighed way that leaves by a gate of `from` and enters by a gate of `to`;
  /// within one group, by a local gate. Unreachable if either has no gates. Symmetric.
  WayLength length(const GateReach& from, const GateReach& to) const;

  /// What cuts do to the lengths that length() compares, and whether it finds a way.
  struct Touch {
    bool changed = false;
    bool reachable = false;
  };
  Touch touch(const GateReach& from, const GateReach& to) const;

  /// The gates of that way: the first of those that tie.
  std::optional<GateWay> way(const Endpoint& from, const Attachment& from_hubs,
                             const Endpoint& to, const Attachment& to_hubs) const;

 private:
  Leg leg(std::size_t gate, const Endpoint& end, const Attachment& hubs) const;
  WayLength trunk(std::size_t gate, std::size_t other) const;

  const TransitGates& gates_;
  const Lengths& lengths_;
  ShortCap cap_;
};

}  // namespace isochrone::geo
