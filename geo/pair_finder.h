#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "geo/attachment.h"
#include "geo/gates.h"
#include "geo/hub_graph.h"
#include "geo/joint.h"
#include "geo/measured.h"
#include "geo/neighbour_field.h"
#include "geo/network.h"
#include "geo/regime_law.h"

namespace isochrone::geo {

/// By LinkId.
using HubEnds = std::vector<std::pair<HubId, HubId>>;

/// What NetworkModel holds: its tables made ready, with the cuts and without. Throws
/// std::invalid_argument like NetworkModel.
struct NetworkState {
  NetworkState(NetworkTables given, std::span<const std::string> cuts);

  const RegimeLaw& law(Regime regime) const {
    return regime == Regime::kBackbone ? backbone_law : public_law;
  }
  const MeasuredPairs& measured(Regime regime) const {
    return regime == Regime::kBackbone ? measured_backbone : measured_public;
  }

  /// Lengths from the hubs that `from` may use and, if networks meet there, from gates.
  Lengths lengths(Regime regime, std::span<const Attachment> from) const;

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

/// An endpoint with everything about it that does not depend on the other end.
struct End {
  Endpoint endpoint;
  Attachment hubs;
  GateReach gates;            ///< public Internet only
  NeighbourField::View view;  ///< backbone only
  std::vector<MeasuredPairs::Near> measured;
};

/// How two ends are joined, before lengths become times.
struct Pair {
  PairPath path;
  Leg direct;  ///< the way without gates; empty if it goes through gates
  bool through_gates = false;
};

/// The pairs of one question: endpoints prepared, then joined two by two.
class PairFinder {
 public:
  /// Only these may be the first of a pair.
  PairFinder(const NetworkState& model, Regime regime,
             std::span<const Attachment> from);

  PairFinder(const PairFinder&) = delete;
  PairFinder& operator=(const PairFinder&) = delete;

  End prepare(const Endpoint& endpoint, const Attachment& hubs) const;
  Pair join(const End& from, const End& to) const;
  RttEntry entry(const End& from, const End& to) const;

  /// True only if no cut changes a length that entry() compares for this pair: the
  /// entry is then that of the network without cuts. O(tails, or gates of both sides).
  bool untouched(const End& from, const End& to) const;

  const GateRouter& router() const { return router_; }

 private:
  const NetworkState& model_;
  Regime regime_;
  const RegimeLaw& law_;
  ShortCap cap_;
  Lengths lengths_;
  GateRouter router_;
};

}  // namespace isochrone::geo
