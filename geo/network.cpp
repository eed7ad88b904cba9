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

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "geo/cuts.h"
#include "geo/pair_finder.h"

namespace isochrone::geo {
namespace {

std::vector<Attachment> attach_all(std::span<const Endpoint> endpoints,
                                   const std::vector<Hub>& hubs) {
  return parallel_map(endpoints.size(),
                      [&](std::size_t i) { return attach(endpoints[i], hubs); });
}

/// `intact`: the matrix without cuts, for what no cut touches; nullptr: not known.
RttMatrix matrix(const NetworkState& model, Regime regime,
                 std::span<const Endpoint> from, std::span<const Endpoint> to,
                 const RttMatrix* intact) {
  const std::vector<Attachment> near_from = attach_all(from, model.tables.hubs);
  const std::vector<Attachment> near_to = attach_all(to, model.tables.hubs);
  const PairFinder pairs(model, regime, near_from);
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
      entries[i * to.size() + j] = intact && pairs.untouched(rows[i], columns[j])
                                       ? intact->at(i, j)
                                       : pairs.entry(rows[i], columns[j]);
    }
  });
  return {from.size(), to.size(), std::move(entries)};
}

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
  return matrix(*state_, regime, from, to, nullptr);
}

RttMatrix NetworkModel::rtts_from_intact(Regime regime, std::span<const Endpoint> from,
                                         std::span<const Endpoint> to,
                                         const RttMatrix& intact) const {
  if (intact.rows() != from.size() || intact.columns() != to.size()) {
    throw std::invalid_argument("the matrix before the cuts is of other endpoints");
  }
  return matrix(*state_, regime, from, to, &intact);
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
