#pragma once

#include <span>
#include <string>
#include <vector>

#include "geo/network.h"

namespace isochrone::geo {

/// Every name that cuts something of these tables, sorted and unique: `cable/NAME`,
/// `chokepoint/NAME`, `country/CC`, `link/A-B`.
std::vector<std::string> known_cuts(const NetworkTables& tables);

/// `did you mean "chokepoint/red_sea"?` of `Red Sea`: a known cut spelt alike, with or
/// without what stands before its slash; else the nearest name; "" if none is near.
std::string cut_hint(const NetworkTables& tables, const std::string& name);

/// For each link whether it stands after the cuts. `link/A-B` takes all parallel links
/// between the two hubs, named in either order; `country/CC` all that touch a hub
/// there. Throws std::invalid_argument that names every unknown cut and the nearest
/// known one.
std::vector<bool> standing_links(const NetworkTables& tables,
                                 std::span<const std::string> cuts);

}  // namespace isochrone::geo
