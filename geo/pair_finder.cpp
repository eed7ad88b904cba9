#include "geo/pair_finder.h"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "geo/cuts.h"

namespace isochrone::geo {
namespace {

std::map<std::string, HubId> number_hubs(const std::vector<Hub>& hubs) {
  if (hubs.empty()) throw std::invalid_argument("a network needs at least one hub");
  std::map<std::string, HubId> ids;
  for (std::uint32_t i = 0; i < hubs.size(); ++i) {
    if (!ids.emplace(hubs[i].name, HubId{i}).second) {
      throw std::invalid_argument("hub \"" + hubs[i].name + "\" appears twice");
    }
  }
  return ids;
}

HubId known_hub(const std::map<std::string, HubId>& ids, const Link& link,
                const std::string& name) {
  const auto hub = ids.find(name);
  if (hub != ids.end()) return hub->second;
  std::vector<std::string> known;
  known.reserve(ids.size());
  for (const auto& [other, id] : ids) known.push_back(other);
  std::string message = fmt::format("link {} {}-{}: unknown hub \"{}\"", link.name,
                                    link.from, link.to, name);
  const std::string hint = did_you_mean(name, known);
  throw std::invalid_argument(hint.empty() ? message : message + "; " + hint);
}

HubEnds resolve_ends(const NetworkTables& tables) {
  const auto ids = number_hubs(tables.hubs);
  HubEnds ends;
  std::vector<bool> joined(tables.hubs.size());
  for (const Link& link : tables.links) {
    if (!(link.route_km > 0) || !(link.policy_weight > 0)) {
      throw std::invalid_argument(
          fmt::format("link {} {}-{}: length and policy weight must be positive",
                      link.name, link.from, link.to));
    }
    ends.emplace_back(known_hub(ids, link, link.from), known_hub(ids, link, link.to));
    joined[ends.back().first.index()] = true;
    joined[ends.back().second.index()] = true;
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (!joined[i] && tables.hubs.size() > 1) {
      throw std::invalid_argument("hub \"" + tables.hubs[i].name + "\" has no link");
    }
  }
  return ends;
}

}  // namespace

NetworkState::NetworkState(NetworkTables given, std::span<const std::string> cuts)
    : tables(std::move(given)),
      ends(resolve_ends(tables)),
      cut(!cuts.empty()),
      intact(tables.hubs.size(), tables.links, ends,
             std::vector<bool>(tables.links.size(), true)),
      standing(tables.hubs.size(), tables.links, ends, standing_links(tables, cuts)),
      measured_backbone(tables.measured, Regime::kBackbone),
      measured_public(tables.measured, Regime::kPublic),
      gates(tables.transit_groups, tables.hubs),
      neighbours(tables.neighbours, tables.hubs, tables.backbone.neighbour_km),
      backbone_law(tables.backbone, "backbone"),
      public_law(tables.public_internet, "public") {}

Lengths NetworkState::lengths(Regime regime, std::span<const Attachment> from) const {
  std::vector<HubId> sources;
  for (const Attachment& end : from) {
    for (const Tail& tail : end.tails) sources.push_back(tail.hub);
  }
  if (regime == Regime::kPublic) {
    sources.insert(sources.end(), gates.gates().begin(), gates.gates().end());
  }
  return {intact, cut ? &standing : nullptr, std::move(sources)};
}

PairFinder::PairFinder(const NetworkState& model, Regime regime,
                       std::span<const Attachment> from)
    : model_(model),
      regime_(regime),
      law_(model.law(regime)),
      cap_{law_.coefficients().cap_until_km, law_.coefficients().cap_factor,
           law_.coefficients().cap_km},
      lengths_(model.lengths(regime, from)),
      router_(model.gates, lengths_, cap_) {}

End PairFinder::prepare(const Endpoint& endpoint, const Attachment& hubs) const {
  End end{endpoint, hubs, {}, {}, {}};
  if (regime_ == Regime::kPublic) {
    end.gates = router_.reach(endpoint, end.hubs);
  } else {
    end.view = model_.neighbours.view(endpoint.at);
  }
  end.measured = model_.measured(regime_).near(endpoint);
  return end;
}

Pair PairFinder::join(const End& from, const End& to) const {
  Pair pair;
  const bool domestic = from.endpoint.country == to.endpoint.country;
  if (!domestic && regime_ == Regime::kPublic) {
    const WayLength way = router_.length(from.gates, to.gates);
    pair.through_gates = way.standing.reachable();
    pair.path = {pair.through_gates, false, 0, way.standing.real_m,
                 way.intact.real_m,  0};
  }
  if (!pair.through_gates) {
    const double km = great_circle_km(from.endpoint.at, to.endpoint.at);
    pair.direct = leg_between(from.hubs, to.hubs, km, cap_, lengths_);
    pair.path = {pair.direct.reachable(), domestic, 0, pair.direct.path_m,
                 pair.direct.intact_m,    0};
  }
  pair.path.satellite_hops = int{from.hubs.satellite} + int{to.hubs.satellite};
  if (regime_ == Regime::kBackbone) {
    pair.path.neighbours = NeighbourField::correction(from.view, to.view);
  }
  return pair;
}

RttEntry PairFinder::entry(const End& from, const End& to) const {
  const Pair pair = join(from, to);
  if (const auto rtt = model_.measured(regime_).best(from.measured, to.measured)) {
    return law_.with_measured(pair.path, *rtt);
  }
  return law_.modelled(pair.path);
}

bool PairFinder::untouched(const End& from, const End& to) const {
  const bool domestic = from.endpoint.country == to.endpoint.country;
  if (!domestic && regime_ == Regime::kPublic) {
    const GateRouter::Touch touch = router_.touch(from.gates, to.gates);
    if (touch.changed) return false;
    if (touch.reachable) return true;
  }
  return same_lengths(from.hubs, to.hubs, lengths_);
}

}  // namespace isochrone::geo
