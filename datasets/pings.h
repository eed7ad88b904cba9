#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "datasets/catalog.h"
#include "geo/network.h"

namespace isochrone::datasets {

/// How far below light in fibre a measured round trip may be: coordinates are city
/// centres, the machine may stand 100 km away.
inline constexpr double kLightGraceMs = 3;

/// A place of a measurement file: its name there, and where it lies.
struct PingPlace {
  std::string name;
  geo::Endpoint end;  ///< named by its city
  SourcePosition position;
};

/// One directed measurement. `from` and `to` index the places.
struct Ping {
  std::size_t from = 0;
  std::size_t to = 0;
  double rtt_ms = 0;  ///< > 0
  SourcePosition position;
};

/// Somebody's measured round trips: `from,to,rtt_ms_p50` and
/// `place,city,country,lat,lon`. Values are kept as they stand.
struct PingFile {
  std::vector<PingPlace> places;
  std::vector<Ping> pings;
  /// What looks wrong but is believed: values faster than light in fibre, pings of a
  /// place to itself over 5 ms, values that look like one-way delays (all of them, or
  /// those out of one place), and pairs of cities that are given twice: all count when
  /// a model is judged, and the first when they replace it. One line per kind or place,
  /// with the worst case. A file without rows is told too.
  std::vector<Diagnostic> warnings;

  /// Throws InputError with every unreadable row, unknown or repeated place.
  static PingFile read(const std::string& file, const std::string& places);
};

/// Places that do not lie where they say: in a country without a metro (UK for GB), or
/// more than 2,000 km from all metros of their own (latitude and longitude exchanged, a
/// sign lost). One warning per kind, with the first or worst.
std::vector<Diagnostic> misplaced(const PingFile& file, const Catalog& catalog);

}  // namespace isochrone::datasets
