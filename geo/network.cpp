// How an RTT comes about.
//
// 1. An endpoint is attached to hubs: to the hub of its own metro, else to the nearest
//    few of its country, by a tail of 1.25 times the great circle. Farther than 400 km
//    from any hub it goes by satellite to the nearest one.
// 2. The path between the hubs is the one that is shortest by policy-weighted length;
//    the tails are part of the comparison. One Dijkstra per hub that some row uses.
// 3. On the public Internet two countries meet at gates (gates.cpp).
// 4. A map of a thousand links lacks the local ones, so a short pair's path is capped
//    by its great circle. A cut is felt through the cap: what it adds to the path is
//    added.
// 5. RTT = real length there and back at the speed of light in fibre, times a stretch,
//    plus a constant, both fitted per regime; on the backbone, times what measured
//    neighbours differ by (neighbour_field.cpp).
// 6. A measurement of the same regime replaces the result.
//
// rtts() and route() share every step, so they cannot disagree.

#include "geo/network.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "geo/attachment.h"
#include "geo/cuts.h"
#include "geo/gates.h"
#include "geo/hub_graph.h"
#include "geo/joint.h"
#include "geo/measured.h"
#include "geo/neighbour_field.h"
#include "geo/regime_law.h"

namespace isochrone::geo {
namespace {

using HubEnds = std::vector<std::pair<HubId, HubId>>;

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

struct NetworkState {
  NetworkState(NetworkTables given, std::span<const std::string> cuts)
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

  const RegimeLaw& law(Regime regime) const {
    return regime == Regime::kBackbone ? backbone_law : public_law;
  }
  const MeasuredPairs& measured(Regime regime) const {
    return regime == Regime::kBackbone ? measured_backbone : measured_public;
  }

  /// Lengths from the hubs that `from` may use and, if networks meet there, from gates.
  Lengths lengths(Regime regime, std::span<const Attachment> from) const {
    std::vector<HubId> sources;
    for (const Attachment& end : from) {
      for (const Tail& tail : end.tails) sources.push_back(tail.hub);
    }
    if (regime == Regime::kPublic) {
      sources.insert(sources.end(), gates.gates().begin(), gates.gates().end());
    }
    Lengths known{LengthTable(standing, sources), std::nullopt};
    if (cut) known.intact.emplace(intact, sources);
    return known;
  }

  NetworkTables tables;
  HubEnds ends;
  bool cut = false;
  HubGraph intact;
  HubGraph standing;
  MeasuredPairs measured_backbone;
  MeasuredPairs measured_public;
  TransitGates gates;
  NeighbourField neighbours;
  RegimeLaw backbone_law;
  RegimeLaw public_law;
};

namespace {

/// An endpoint with everything about it that does not depend on the other end.
struct End {
  Endpoint endpoint;
  Attachment hubs;
  GateReach gates;            ///< public Internet only
  NeighbourField::View view;  ///< backbone only
  std::vector<MeasuredPairs::Near> measured;
};

struct Pair {
  PairPath path;
  Leg direct;
  bool through_gates = false;
};

std::vector<Attachment> attach_all(std::span<const Endpoint> endpoints,
                                   const std::vector<Hub>& hubs) {
  return parallel_map(endpoints.size(),
                      [&](std::size_t i) { return attach(endpoints[i], hubs); });
}

/// The pairs of one question: endpoints prepared, then joined two by two.
class PairFinder {
 public:
  /// Only these may be the first of a pair.
  PairFinder(const NetworkState& model, Regime regime, std::span<const Attachment> from)
      : model_(model),
        regime_(regime),
        law_(model.law(regime)),
        cap_{law_.coefficients().cap_until_km, law_.coefficients().cap_factor,
             law_.coefficients().cap_km},
        lengths_(model.lengths(regime, from)),
        router_(model.gates, lengths_, cap_) {}

  PairFinder(const PairFinder&) = delete;
  PairFinder& operator=(const PairFinder&) = delete;

  End prepare(const Endpoint& endpoint, const Attachment& hubs) const {
    End end{endpoint, hubs, {}, {}, {}};
    if (regime_ == Regime::kPublic) {
      end.gates = router_.reach(endpoint, end.hubs);
    } else {
      end.view = model_.neighbours.view(endpoint.at);
    }
    end.measured = model_.measured(regime_).near(endpoint);
    return end;
  }

  Pair join(const End& from, const End& to) const {
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

  std::optional<Micros> measured(const End& from, const End& to) const {
    return model_.measured(regime_).best(from.measured, to.measured);
  }

  RttEntry entry(const End& from, const End& to) const {
    const Pair pair = join(from, to);
    if (const auto rtt = measured(from, to)) {
      return law_.with_measured(pair.path, *rtt);
    }
    return law_.modelled(pair.path);
  }

  const GateRouter& router() const { return router_; }

 private:
  const NetworkState& model_;
  Regime regime_;
  const RegimeLaw& law_;
  ShortCap cap_;
  Lengths lengths_;
  GateRouter router_;
};

/// Writes down the hops of one pair.
class RouteWriter {
 public:
  RouteWriter(const NetworkState& model, const RegimeLaw& law)
      : model_(model), hops_(law) {}

  HopList& hops() { return hops_; }

  void write(const PairFinder& pairs, const Pair& pair, const End& from,
             const End& to) {
    if (!pair.path.reachable) {
      hops_.add("satellite", from.endpoint.name, to.endpoint.name, kSatelliteRtt);
      return;
    }
    if (from.hubs.satellite) satellite(from);
    if (pair.through_gates) {
      const auto way =
          pairs.router().way(from.endpoint, from.hubs, to.endpoint, to.hubs);
      INVARIANT(way.has_value(), "no way through gates that a length joins");
      through_gates(*way, from.endpoint.name, to.endpoint.name);
    } else {
      leg(pair.direct, from.endpoint.name, to.endpoint.name);
    }
    if (to.hubs.satellite) satellite(to);
  }

 private:
  const std::string& name(HubId hub) const {
    return model_.tables.hubs[hub.index()].name;
  }

  void satellite(const End& end) {
    hops_.add("satellite", end.endpoint.name, name(end.hubs.tails.front().hub),
              kSatelliteRtt);
  }

  void through_gates(const GateWay& way, const std::string& from,
                     const std::string& to) {
    const HubId first = model_.gates.gates()[way.first];
    const HubId second = model_.gates.gates()[way.second];
    // Legs are known from the gate outwards; travellers see the first one backwards.
    Leg out = way.to_first;
    std::swap(out.joint.from, out.joint.to);
    leg(out, from, name(first));
    hops_.add("gate", name(first), name(first), Micros{0});
    if (first != second) {
      links(first, second);
      hops_.add("gate", name(second), name(second), Micros{0});
    }
    leg(way.from_second, name(second), to);
  }

  /// Tails and links one by one. Where the cap holds, one hop stands for the local
  /// links that the map lacks, and what a cut adds is part of it.
  void leg(const Leg& leg, const std::string& from, const std::string& to) {
    if (leg.capped) {
      hops_.travel("short path", from, to, leg.path_m);
      return;
    }
    const Joint& joint = leg.joint;
    if (joint.from.metres > 0) {
      hops_.travel("tail", from, name(joint.from.hub), joint.from.metres);
    }
    links(joint.from.hub, joint.to.hub);
    if (joint.to.metres > 0) {
      hops_.travel("tail", name(joint.to.hub), to, joint.to.metres);
    }
  }

  void links(HubId from, HubId to) {
    const auto path = model_.standing.best_path(from, to);
    INVARIANT(path.has_value(), "no path between hubs that a length joins");
    HubId at = from;
    for (const LinkId link : *path) {
      const auto& [a, b] = model_.ends[link.index()];
      const HubId next = a == at ? b : a;
      const Link& taken = model_.tables.links[link.index()];
      hops_.travel(taken.name, name(at), name(next),
                   std::llround(taken.route_km * 1e3));
      at = next;
    }
  }

  const NetworkState& model_;
  HopList hops_;
};

}  // namespace

NetworkModel::NetworkModel(NetworkTables tables, std::span<const std::string> cuts)
    : state_(std::make_unique<NetworkState>(std::move(tables), cuts)) {}
NetworkModel::~NetworkModel() = default;
NetworkModel::NetworkModel(NetworkModel&&) noexcept = default;
NetworkModel& NetworkModel::operator=(NetworkModel&&) noexcept = default;

RttMatrix NetworkModel::rtts(Regime regime, std::span<const Endpoint> from,
                             std::span<const Endpoint> to) const {
  const std::vector<Attachment> near_from = attach_all(from, state_->tables.hubs);
  const std::vector<Attachment> near_to = attach_all(to, state_->tables.hubs);
  const PairFinder pairs(*state_, regime, near_from);
  const auto prepare_all = [&](std::span<const Endpoint> endpoints,
                               std::span<const Attachment> hubs) {
    return parallel_map(endpoints.size(), [&](std::size_t i) {
      return pairs.prepare(endpoints[i], hubs[i]);
    });
  };
  const std::vector<End> rows = prepare_all(from, near_from);
  const std::vector<End> columns = prepare_all(to, near_to);
  std::vector<RttEntry> entries(from.size() * to.size());
  parallel_for_each_index(from.size(), [&](std::size_t i) {
    for (std::size_t j = 0; j < to.size(); ++j) {
      entries[i * to.size() + j] = pairs.entry(rows[i], columns[j]);
    }
  });
  return {from.size(), to.size(), std::move(entries)};
}

Route NetworkModel::route(Regime regime, const Endpoint& from,
                          const Endpoint& to) const {
  const RegimeLaw& law = state_->law(regime);
  const Attachment near_from = attach(from, state_->tables.hubs);
  const PairFinder pairs(*state_, regime, std::span(&near_from, 1));
  const End start = pairs.prepare(from, near_from);
  const End finish = pairs.prepare(to, attach(to, state_->tables.hubs));
  const Pair pair = pairs.join(start, finish);
  Route route;
  route.great_circle_km = great_circle_km(from.at, to.at);
  route.total = pairs.entry(start, finish);

  RouteWriter writer(*state_, law);
  writer.write(pairs, pair, start, finish);
  HopList& hops = writer.hops();
  Micros shown = law.modelled(pair.path).rtt;
  hops.add("regime constant", from.name, to.name,
           pair.path.reachable ? law.constant(pair.path, pair.path.path_m)
                               : shown - kSatelliteRtt);
  if (pair.path.reachable && law.neighbours(pair.path) != Micros{0}) {
    hops.add("measured neighbours", from.name, to.name, law.neighbours(pair.path));
  }
  // The path stays to be seen; what a measurement differs by is a hop of its own.
  if (route.total.rtt != shown) {
    hops.add("measured difference", from.name, to.name, route.total.rtt - shown);
  }
  route.hops = hops.take();
  return route;
}

bool NetworkModel::reaches_hub(const Endpoint& endpoint) const {
  return !attach(endpoint, state_->tables.hubs).satellite;
}

std::vector<std::string> NetworkModel::cut_names() const {
  return known_cuts(state_->tables);
}

}  // namespace isochrone::geo
