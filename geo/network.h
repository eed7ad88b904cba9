#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "geo/place.h"

namespace isochrone::geo {

/// Provider backbone (site to site) or public Internet (user to site): two
/// calibrations.
enum class Regime { kBackbone, kPublic };

/// Where an RTT comes from. A plan says it for each.
enum class RttBasis { kModelled, kMeasured, kSatellite };

/// A cable segment or a land link between two hubs.
struct Link {
  std::string name;  ///< cable system, or "land"
  std::string from;  ///< hub names
  std::string to;
  double route_km = 0;
  bool submarine = false;
  std::vector<std::string> chokepoints;
  /// Transit policy: multiplies the length when paths are compared, never the time.
  /// 1 = carries transit freely; larger = traffic avoids it; with a reason in the
  /// table.
  double policy_weight = 1;
  int capacity_class = 0;  ///< 1 (least) .. 4, estimated; 0 = not known
};

struct Hub {
  std::string name;
  CountryCode country;
  Coordinates at;
};

/// One directed measurement between two named places.
struct MeasuredRtt {
  Endpoint from;
  Endpoint to;
  Regime regime = Regime::kBackbone;
  Micros rtt{0};
};

/// RTT = (2 * km / 204190 km/s * stretch + constant) * what neighbours say, per regime;
/// see geo/MODEL.md.
struct RegimeCoefficients {
  double stretch = 1;
  /// Constant of a path of ramp_km or more. Below, it grows linearly from near_ms: two
  /// places of one metro do not pay for the exchanges of a long-haul path.
  double constant_ms = 0;
  double near_ms = 0;
  double ramp_km = 0;  ///< 0 = constant_ms everywhere
  /// Instead of constant_ms between two places of one country; unset: constant_ms.
  std::optional<double> domestic_ms{};
  /// Short pairs: path km is at most cap_factor * great circle + cap_km below
  /// cap_until_km of great circle. Not where the links are over three times that:
  /// such a detour is no gap in the map but a closed border.
  double cap_until_km = 600;
  double cap_factor = 1.35;
  double cap_km = 60;
  double neighbour_km = 0;  ///< how far measured neighbours reach; see NeighbourWeight
};

/// Countries whose networks meet those of other countries at the same few hubs, on the
/// public Internet.
struct TransitGroup {
  std::string name;
  std::vector<CountryCode> countries;
  std::vector<std::string> world_gates;  ///< hubs: towards other groups
  std::vector<std::string> local_gates;  ///< hubs: between two countries of the group
};

/// A coefficient of the field that carries what measured backbone pairs differ by to
/// pairs near them. Hub names, in either order.
struct NeighbourWeight {
  std::string from;
  std::string to;
  double weight = 0;
};

struct NetworkTables {
  std::vector<Hub> hubs;
  std::vector<Link> links;  ///< in service only
  std::vector<MeasuredRtt> measured;
  RegimeCoefficients backbone;
  RegimeCoefficients public_internet;
  std::vector<TransitGroup> transit_groups{};  ///< none: every pair goes directly
  std::vector<NeighbourWeight> neighbours{};   ///< backbone only
};

struct RttEntry {
  Micros rtt{0};
  RttBasis basis = RttBasis::kModelled;
};

/// RTTs from every row endpoint to every column endpoint. Not promised: symmetry (only
/// the modelled part is symmetric) and the triangle inequality.
class RttMatrix {
 public:
  RttMatrix() = default;
  RttMatrix(std::size_t rows, std::size_t columns, std::vector<RttEntry> row_major);
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  const RttEntry& at(std::size_t row, std::size_t column) const {
    return entries_[row * columns_ + column];
  }

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<RttEntry> entries_;
};

/// One piece of a route; the pieces' times sum exactly to the RTT.
struct Hop {
  /// "tail", a cable name, "land", "short path" (capped, see RegimeCoefficients),
  /// "satellite", "gate" (0 km: networks meet here), "regime constant", "measured
  /// neighbours" and "measured difference" (both may be negative)
  std::string what;
  std::string from;
  std::string to;
  double km = 0;
  Micros rtt{0};  ///< this piece's share, there and back
};

struct Route {
  std::vector<Hop> hops;
  RttEntry total;
  double great_circle_km = 0;

  /// Length of tails and links; satellite hops count as zero.
  double path_km() const;
};

/// "modelled", "measured" or "by satellite".
std::string to_text(RttBasis basis);
/// One line per hop, then the total, for a terminal.
std::string to_text(const Route& route);

struct NetworkState;

/// The physical network with its two calibrations. Immutable: any number of threads may
/// share one.
class NetworkModel {
 public:
  /// `cuts`: `chokepoint/NAME`, `cable/NAME`, `link/A-B`, `country/CC`. Throws
  /// std::invalid_argument that names an unknown cut (and the nearest known one), an
  /// unknown hub of a link, or an isolated hub.
  explicit NetworkModel(NetworkTables tables, std::span<const std::string> cuts = {});
  ~NetworkModel();
  NetworkModel(NetworkModel&&) noexcept;
  NetworkModel& operator=(NetworkModel&&) noexcept;

  /// Modelled and, within its own regime, measured RTTs. O(distinct hubs * E log V).
  /// A measurement stands for endpoints within 40 km of its two places, in its own
  /// direction only; the result is the same for any number of threads.
  /// An endpoint farther than 400 km from any hub goes by satellite to the nearest hub
  /// (+600 ms); a pair that the cuts have parted goes by satellite altogether.
  /// Not promised: that a cut never lowers an RTT. It never shortens the
  /// policy-weighted path, but the way round may be less avoided and shorter in
  /// kilometres.
  RttMatrix rtts(Regime regime, std::span<const Endpoint> from,
                 std::span<const Endpoint> to) const;

  /// The same, faster, where the matrix of a model without cuts is at hand: what no cut
  /// touches is taken from it. `intact` must be the answer of a model of the same
  /// tables for the same endpoints; throws std::invalid_argument if it has another
  /// shape.
  RttMatrix rtts_from_intact(Regime regime, std::span<const Endpoint> from,
                             std::span<const Endpoint> to,
                             const RttMatrix& intact) const;

  /// Hop by hop; route().total equals the entry that rtts() gives for the pair.
  Route route(Regime regime, const Endpoint& from, const Endpoint& to) const;

  /// True if the endpoint is within 400 km of a hub.
  bool reaches_hub(const Endpoint& endpoint) const;

  /// Everything that may be named in a cut, sorted.
  std::vector<std::string> cut_names() const;

 private:
  std::unique_ptr<NetworkState> state_;
};

}  // namespace isochrone::geo
