#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/catalog.h"

namespace isochrone::tools {

/// Ends what is said of a cut that changes nothing.
inline constexpr std::string_view kOthersBeside =
    ": others run beside it (real cuts also take capacity away, which is not modelled)";

/// What cuts do to the world, for a terminal: pairs of the countries' largest metros
/// and users' ways to their nearest site location, before and after, worst first.
/// Throws std::invalid_argument for an unknown cut.
std::string cut_effects(const datasets::Catalog& catalog, geo::Regime regime,
                        const std::vector<std::string>& cuts, std::size_t worst);

}  // namespace isochrone::tools
