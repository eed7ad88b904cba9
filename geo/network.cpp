// How an RTT comes about.
//
// 1. An endpoint is attached to hubs: to the hub of its own metro, else to the nearest
//    few of its country, by a tail of 1.25 times the great circle. Farther than 400 km
//    from any hub it goes by satellite to the nearest one.
// 2. The path between the hubs is the one that is shortest by policy-weighted length;
//    the tails are part of the comparison. One Dijkstra per hub that some row uses.
// 3. A map of a thousand links lacks the local ones, so a short pair's path is capped
// by
//    its great circle. A cut is felt through the cap: what it adds to the path is
//    added.
// 4. RTT = real length there and back at the speed of light in fibre, times a stretch,
//    plus a constant, both fitted per regime.
// 5. A measurement of the same regime replaces the result.
//
// rtts() and route() share every step, so they cannot disagree.

#include "geo/network.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/parallel.h"
#include "geo/attachment.h"
#include "geo/cuts.h"
#include "geo/hub_graph.h"
#include "geo/measured.h"

namespace isochrone::geo {
namespace {

constexpr double kFibreKmPerSecond = 204190;
constexpr Micros kSatelliteRtt{600'000};
// A path between hubs that is so many times longer than the cap is no gap in the map
// but a closed border (Lahore-Delhi, Beirut-Jerusalem): neighbours that meet at a far
// exchange.
constexpr std::int64_t kTrombone = 3;

using HubEnds = std::vector<std::pair<HubId, HubId>>;

/// Best path lengths from those hubs that somebody asked for.
struct LengthTable {
  std::vector<std::uint32_t> row;  ///< by HubId; meaningless for hubs not asked for
  std::vector<std::vector<PathLength>> lengths;

  const PathLength& at(HubId from, HubId to) const {
    return lengths[row[from.index()]][to.index()];
  }
};

LengthTable lengths_from(const HubGraph& graph, std::span<const Attachment> ends) {
  std::set<HubId> distinct;
  for (const Attachment& end : ends) {
    for (const Tail& tail : end.tails) distinct.insert(tail.hub);
  }
  const std::vector<HubId> hubs(distinct.begin(), distinct.end());
  LengthTable table;
  table.row.resize(graph.size());
  for (std::uint32_t i = 0; i < hubs.size(); ++i) table.row[hubs[i].index()] = i;
  table.lengths = parallel_map(
      hubs.size(), [&](std::size_t i) { return graph.lengths_from(hubs[i]); });
  return table;
}

/// The best pair of tails and the path between them.
struct Joint {
  Tail from;
  Tail to;
  PathLength length = PathLength::unreachable();

  std::int64_t links_m() const { return length.real_m - from.metres - to.metres; }
};

Joint best_joint(const Attachment& from, const Attachment& to,
                 const LengthTable& lengths) {
  Joint best;
  for (const Tail& a : from.tails) {
    for (const Tail& b : to.tails) {
      const PathLength& path = lengths.at(a.hub, b.hub);
      if (!path.reachable()) continue;
      const std::int64_t tails_m = a.metres + b.metres;
      const PathLength whole = path + PathLength{tails_m, tails_m};
      if (whole < best.length) best = {a, b, whole};
    }
  }
  return best;
}

/// What is known about a pair before it is turned into time.
struct Pair {
  Joint joint;
  std::int64_t path_m = 0;    ///< after cap and cuts
  std::int64_t intact_m = 0;  ///< the same without the cuts
  bool capped = false;
  int satellite_hops = 0;
};

/// Grows from near_ms to constant_ms with the path; never falls.
Micros constant(std::int64_t path_m, const RegimeCoefficients& c) {
  const double km = static_cast<double>(path_m) / 1e3;
  const double grown = c.ramp_km > 0 ? std::min(1.0, km / c.ramp_km) : 1.0;
  return micros_from_ms(c.near_ms + (c.constant_ms - c.near_ms) * grown);
}

Micros travel_time(std::int64_t path_m, const RegimeCoefficients& c) {
  const double km = static_cast<double>(path_m) / 1e3;
  return Micros{std::llround(2e6 * km / kFibreKmPerSecond * c.stretch)};
}

RttEntry modelled(const Pair& pair, const RegimeCoefficients& c) {
  if (!pair.joint.length.reachable()) {
    return {kSatelliteRtt + micros_from_ms(c.constant_ms), RttBasis::kSatellite};
  }
  const Micros rtt = travel_time(pair.path_m, c) + constant(pair.path_m, c);
  if (pair.satellite_hops == 0) return {rtt, RttBasis::kModelled};
  return {rtt + pair.satellite_hops * kSatelliteRtt, RttBasis::kSatellite};
}

/// A measurement was made on the intact network: where a cut has changed the path, what
/// the model says of the change is added, and the result is no longer called measured.
RttEntry with_measured(const Pair& pair, RttEntry model, Micros measured,
                       const RegimeCoefficients& c) {
  if (pair.path_m == pair.intact_m) return {measured, RttBasis::kMeasured};
  if (model.basis == RttBasis::kSatellite) return model;
  const Micros change = travel_time(pair.path_m, c) + constant(pair.path_m, c) -
                        travel_time(pair.intact_m, c) - constant(pair.intact_m, c);
  return {measured + std::max(Micros{0}, change), RttBasis::kModelled};
}

/// Collects hops. Times are differences of rounded running totals, so that they sum to
/// the rounded total.
class HopList {
 public:
  explicit HopList(const RegimeCoefficients& c) : coefficients_(c) {}

  void travel(std::string what, std::string from, std::string to, std::int64_t metres) {
    const Micros before = travel_time(path_m_, coefficients_);
    path_m_ += metres;
    add(std::move(what), std::move(from), std::move(to),
        travel_time(path_m_, coefficients_) - before,
        static_cast<double>(metres) / 1e3);
  }
  void add(std::string what, std::string from, std::string to, Micros rtt,
           double km = 0) {
    hops_.push_back({std::move(what), std::move(from), std::move(to), km, rtt});
  }
  std::vector<Hop> take() { return std::move(hops_); }

 private:
  const RegimeCoefficients& coefficients_;
  std::vector<Hop> hops_;
  std::int64_t path_m_ = 0;
};

void check_coefficients(const RegimeCoefficients& c, const char* regime) {
  if (!(c.stretch >= 1) || !(c.near_ms >= 0) || !(c.constant_ms >= c.near_ms) ||
      !(c.cap_factor >= 1) || !(c.cap_km >= 0)) {
    throw std::invalid_argument(
        fmt::format("{} coefficients let an RTT beat light in fibre", regime));
  }
}

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

struct NetworkModel::Impl {
  Impl(NetworkTables given, std::span<const std::string> cuts)
      : tables(std::move(given)),
        ends(resolve_ends(tables)),
        cut(!cuts.empty()),
        intact(tables.hubs.size(), tables.links, ends,
               std::vector<bool>(tables.links.size(), true)),
        standing(tables.hubs.size(), tables.links, ends, standing_links(tables, cuts)),
        measured_backbone(tables.measured, Regime::kBackbone),
        measured_public(tables.measured, Regime::kPublic) {
    check_coefficients(tables.backbone, "backbone");
    check_coefficients(tables.public_internet, "public");
  }

  const RegimeCoefficients& coefficients(Regime regime) const {
    return regime == Regime::kBackbone ? tables.backbone : tables.public_internet;
  }
  const MeasuredPairs& measured(Regime regime) const {
    return regime == Regime::kBackbone ? measured_backbone : measured_public;
  }

  std::vector<Attachment> attach_all(std::span<const Endpoint> endpoints) const {
    return parallel_map(endpoints.size(), [&](std::size_t i) {
      return attach(endpoints[i], tables.hubs);
    });
  }

  /// Lengths before and after the cuts, from the hubs that `ends` may use.
  struct Lengths {
    LengthTable standing;
    std::optional<LengthTable> intact;  ///< only if something is cut
  };
  Lengths lengths(std::span<const Attachment> from) const {
    Lengths tables_from{lengths_from(standing, from), std::nullopt};
    if (cut) tables_from.intact = lengths_from(intact, from);
    return tables_from;
  }

  Pair pair(const Attachment& from, const Attachment& to, double great_circle,
            const RegimeCoefficients& c, const Lengths& known) const {
    Pair found{.joint = best_joint(from, to, known.standing)};
    found.satellite_hops = int{from.satellite} + int{to.satellite};
    const Joint before =
        known.intact ? best_joint(from, to, *known.intact) : found.joint;
    found.path_m = found.joint.length.real_m;
    found.intact_m = before.length.real_m;
    if (found.satellite_hops > 0 || great_circle >= c.cap_until_km) return found;
    if (!found.joint.length.reachable()) return found;
    const std::int64_t cap_m =
        std::llround((c.cap_factor * great_circle + c.cap_km) * 1e3);
    if (before.links_m() > kTrombone * cap_m) return found;
    const std::int64_t detour_m =
        std::max<std::int64_t>(0, found.path_m - found.intact_m);
    found.intact_m = std::min(found.intact_m, cap_m);
    found.capped = found.intact_m + detour_m != found.path_m;
    found.path_m = found.intact_m + detour_m;
    return found;
  }

  /// Tails and links one by one. Where the cap holds, one hop stands for the local
  /// links that the map lacks, and what a cut adds is part of it.
  void add_path(HopList& hops, const Pair& pair, const Endpoint& from,
                const Endpoint& to) const {
    if (pair.capped) {
      hops.travel("short path", from.name, to.name, pair.path_m);
      return;
    }
    const Joint& joint = pair.joint;
    HubId at = joint.from.hub;
    const auto name = [&](HubId hub) { return tables.hubs[hub.index()].name; };
    if (joint.from.metres > 0) {
      hops.travel("tail", from.name, name(at), joint.from.metres);
    }
    const auto path = standing.best_path(at, joint.to.hub);
    INVARIANT(path.has_value(), "no path between hubs that a length joins");
    for (const LinkId link : *path) {
      const auto& [a, b] = ends[link.index()];
      const HubId next = a == at ? b : a;
      hops.travel(tables.links[link.index()].name, name(at), name(next),
                  std::llround(tables.links[link.index()].route_km * 1e3));
      at = next;
    }
    if (joint.to.metres > 0) hops.travel("tail", name(at), to.name, joint.to.metres);
  }

  NetworkTables tables;
  HubEnds ends;
  bool cut = false;
  HubGraph intact;
  HubGraph standing;
  MeasuredPairs measured_backbone;
  MeasuredPairs measured_public;
};

NetworkModel::NetworkModel(NetworkTables tables, std::span<const std::string> cuts)
    : impl_(std::make_unique<Impl>(std::move(tables), cuts)) {}
NetworkModel::~NetworkModel() = default;
NetworkModel::NetworkModel(NetworkModel&&) noexcept = default;
NetworkModel& NetworkModel::operator=(NetworkModel&&) noexcept = default;

RttMatrix NetworkModel::rtts(Regime regime, std::span<const Endpoint> from,
                             std::span<const Endpoint> to) const {
  const RegimeCoefficients& c = impl_->coefficients(regime);
  const MeasuredPairs& measured = impl_->measured(regime);
  const std::vector<Attachment> rows = impl_->attach_all(from);
  const std::vector<Attachment> columns = impl_->attach_all(to);
  const Impl::Lengths lengths = impl_->lengths(rows);
  const auto near_columns =
      parallel_map(to.size(), [&](std::size_t j) { return measured.near(to[j]); });
  std::vector<RttEntry> entries(from.size() * to.size());
  parallel_for_each_index(from.size(), [&](std::size_t i) {
    const auto near_row = measured.near(from[i]);
    for (std::size_t j = 0; j < to.size(); ++j) {
      RttEntry& entry = entries[i * to.size() + j];
      const double km = great_circle_km(from[i].at, to[j].at);
      const Pair pair = impl_->pair(rows[i], columns[j], km, c, lengths);
      entry = modelled(pair, c);
      if (const auto rtt = measured.best(near_row, near_columns[j])) {
        entry = with_measured(pair, entry, *rtt, c);
      }
    }
  });
  return {from.size(), to.size(), std::move(entries)};
}

Route NetworkModel::route(Regime regime, const Endpoint& from,
                          const Endpoint& to) const {
  const RegimeCoefficients& c = impl_->coefficients(regime);
  const MeasuredPairs& measured = impl_->measured(regime);
  const Attachment near_from = attach(from, impl_->tables.hubs);
  const Attachment near_to = attach(to, impl_->tables.hubs);
  Route route;
  route.great_circle_km = great_circle_km(from.at, to.at);
  const Pair pair = impl_->pair(near_from, near_to, route.great_circle_km, c,
                                impl_->lengths(std::span(&near_from, 1)));
  route.total = modelled(pair, c);

  HopList hops(c);
  if (!pair.joint.length.reachable()) {
    hops.add("satellite", from.name, to.name, kSatelliteRtt);
  } else {
    const auto hub_name = [&](const Tail& tail) {
      return impl_->tables.hubs[tail.hub.index()].name;
    };
    if (near_from.satellite) {
      hops.add("satellite", from.name, hub_name(pair.joint.from), kSatelliteRtt);
    }
    impl_->add_path(hops, pair, from, to);
    if (near_to.satellite) {
      hops.add("satellite", hub_name(pair.joint.to), to.name, kSatelliteRtt);
    }
  }
  hops.add("regime constant", from.name, to.name,
           pair.joint.length.reachable() ? constant(pair.path_m, c)
                                         : micros_from_ms(c.constant_ms));
  if (const auto rtt = measured.best(measured.near(from), measured.near(to))) {
    // The path stays to be seen; what the measurement differs by is a hop of its own.
    const RttEntry entry = with_measured(pair, route.total, *rtt, c);
    if (entry.rtt != route.total.rtt) {
      hops.add("measured difference", from.name, to.name, entry.rtt - route.total.rtt);
    }
    route.total = entry;
  }
  route.hops = hops.take();
  return route;
}

bool NetworkModel::reaches_hub(const Endpoint& endpoint) const {
  return !attach(endpoint, impl_->tables.hubs).satellite;
}

std::vector<std::string> NetworkModel::cut_names() const {
  return known_cuts(impl_->tables);
}

}  // namespace isochrone::geo
