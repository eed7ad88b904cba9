#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/catalog.h"

namespace isochrone::tools {

/// Ends what is said of a cut that changes nothing.
inline constexpr std::string_view kOthersBeside =
    ": others run beside it (real cuts also take capacity away)";

/// What somebody asks to be cut.
struct CutRequest {
  std::vector<std::string> names;
  std::optional<double> reserve_pct;  ///< of a strait, see geo/corridors.h

  /// The names, and the straits of which they take more than the reserve. Throws
  /// std::invalid_argument for an unknown name.
  std::vector<std::string> all(const geo::NetworkTables& tables) const;
};

/// What the cuts take of straits that others still pass, a line each; "" if nothing.
/// Throws std::invalid_argument for an unknown cut.
std::string corridor_text(const geo::NetworkTables& tables, const CutRequest& request);

/// What cuts do to the world, for a terminal: pairs of the countries' largest metros
/// and users' ways to their nearest site location, before and after, worst first.
/// Throws std::invalid_argument for an unknown cut.
std::string cut_effects(const datasets::Catalog& catalog, geo::Regime regime,
                        const CutRequest& request, std::size_t worst);

}  // namespace isochrone::tools
