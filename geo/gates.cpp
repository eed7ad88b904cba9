// On the public Internet two networks of different countries seldom meet at the border
// between them. Each buys transit or peers at a few exchanges, so that traffic leaves
// by a gate of the one side and enters by a gate of the other: Kampala reaches Mumbai
// by London or Marseille, Tirana reaches Thessaloniki by Frankfurt. Providers'
// backbones do not: they go the shortest way they own.
//
// For the matrix the far side is folded first: for every gate x of the world, the
// length from x to an endpoint by the best gate of the endpoint. A pair then takes one
// sum per gate of the near side.

#include "geo/gates.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace isochrone::geo {
namespace {

/// Sums of up to three unreachable lengths do not overflow and stay above one.
WayLength operator+(const WayLength& a, const WayLength& b) {
  return {a.standing + b.standing, a.intact + b.intact};
}

void improve(WayLength& best, const WayLength& way) {
  best.standing = std::min(best.standing, way.standing);
  best.intact = std::min(best.intact, way.intact);
}

WayLength length_of(const Leg& leg) {
  WayLength length;
  if (leg.reachable()) {
    length.standing = {leg.joint.length.weighted_m, leg.path_m};
  }
  if (leg.intact.reachable()) length.intact = {leg.intact.weighted_m, leg.intact_m};
  return length;
}

}  // namespace

TransitGates::TransitGates(const std::vector<TransitGroup>& groups,
                           const std::vector<Hub>& hubs) {
  std::map<std::string, HubId> ids;
  for (std::uint32_t i = 0; i < hubs.size(); ++i) ids.emplace(hubs[i].name, HubId{i});
  for (const TransitGroup& group : groups) {
    if (group.world_gates.empty() || group.local_gates.empty()) {
      throw std::invalid_argument(
          fmt::format("transit group {} has no gates", group.name));
    }
    Group numbered;
    for (const std::string& hub : group.world_gates) {
      numbered.world.push_back(number(hub, ids, hubs));
    }
    for (const std::string& hub : group.local_gates) {
      numbered.local.push_back(number(hub, ids, hubs));
    }
    for (const CountryCode country : group.countries) {
      if (!group_by_country_.emplace(country, groups_.size()).second) {
        throw std::invalid_argument(
            fmt::format("country {} is in two transit groups", country.text()));
      }
    }
    groups_.push_back(std::move(numbered));
  }
}

std::size_t TransitGates::number(const std::string& hub,
                                 const std::map<std::string, HubId>& ids,
                                 const std::vector<Hub>& hubs) {
  const auto id = ids.find(hub);
  if (id == ids.end()) {
    throw std::invalid_argument(fmt::format("transit gate \"{}\" is no hub", hub));
  }
  const auto known = std::ranges::find(gates_, id->second);
  if (known != gates_.end()) return static_cast<std::size_t>(known - gates_.begin());
  gates_.push_back(id->second);
  at_.push_back(hubs[id->second.index()].at);
  return gates_.size() - 1;
}

const TransitGates::Group* TransitGates::group_of(CountryCode country) const {
  const auto group = group_by_country_.find(country);
  return group == group_by_country_.end() ? nullptr : &groups_[group->second];
}

Leg GateRouter::leg(std::size_t gate, const Endpoint& end,
                    const Attachment& hubs) const {
  const Attachment at_gate{.tails = {{gates_.gates()[gate], 0}}, .satellite = false};
  return leg_between(at_gate, hubs, great_circle_km(gates_.at(gate), end.at), cap_,
                     lengths_);
}

WayLength GateRouter::trunk(std::size_t gate, std::size_t other) const {
  const HubId a = gates_.gates()[gate];
  const HubId b = gates_.gates()[other];
  return {lengths_.standing.at(a, b), lengths_.before().at(a, b)};
}

GateReach GateRouter::reach(const Endpoint& endpoint,
                            const Attachment& attachment) const {
  GateReach reach;
  reach.group = gates_.group_of(endpoint.country);
  if (reach.group == nullptr) return reach;
  for (const std::size_t gate : reach.group->world) {
    reach.own.push_back(length_of(leg(gate, endpoint, attachment)));
  }
  for (const std::size_t gate : reach.group->local) {
    reach.local.push_back(length_of(leg(gate, endpoint, attachment)));
  }
  reach.every.resize(gates_.gates().size());
  for (std::size_t gate = 0; gate < reach.every.size(); ++gate) {
    for (std::size_t k = 0; k < reach.own.size(); ++k) {
      improve(reach.every[gate], trunk(gate, reach.group->world[k]) + reach.own[k]);
    }
  }
  return reach;
}

WayLength GateRouter::length(const GateReach& from, const GateReach& to) const {
  WayLength best;
  if (from.group == nullptr || to.group == nullptr) return best;
  if (from.group == to.group) {
    for (std::size_t k = 0; k < from.local.size(); ++k) {
      improve(best, from.local[k] + to.local[k]);
    }
    return best;
  }
  for (std::size_t k = 0; k < from.own.size(); ++k) {
    improve(best, from.own[k] + to.every[from.group->world[k]]);
  }
  return best;
}

GateRouter::Touch GateRouter::touch(const GateReach& from, const GateReach& to) const {
  Touch touch;
  if (from.group == nullptr || to.group == nullptr) return touch;
  const bool local = from.group == to.group;
  const std::vector<WayLength>& near = local ? from.local : from.own;
  for (std::size_t k = 0; k < near.size(); ++k) {
    const WayLength& far = local ? to.local[k] : to.every[from.group->world[k]];
    if (near[k].standing != near[k].intact || far.standing != far.intact) {
      touch.changed = true;
      return touch;
    }
    touch.reachable |= (near[k].standing + far.standing).reachable();
  }
  return touch;
}

std::optional<GateWay> GateRouter::way(const Endpoint& from,
                                       const Attachment& from_hubs, const Endpoint& to,
                                       const Attachment& to_hubs) const {
  const auto* group = gates_.group_of(from.country);
  const auto* other = gates_.group_of(to.country);
  if (group == nullptr || other == nullptr) return std::nullopt;
  const bool local = group == other;
  std::optional<GateWay> best;
  PathLength shortest = PathLength::unreachable();
  for (const std::size_t a : local ? group->local : group->world) {
    const Leg out = leg(a, from, from_hubs);
    for (const std::size_t b : local ? std::vector{a} : other->world) {
      const Leg in = leg(b, to, to_hubs);
      const WayLength whole = length_of(out) + trunk(a, b) + length_of(in);
      if (whole.standing >= shortest) continue;
      shortest = whole.standing;
      best = GateWay{a, b, out, in};
    }
  }
  return best;
}

}  // namespace isochrone::geo
