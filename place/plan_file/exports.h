#pragma once

#include <span>
#include <string>
#include <string_view>

#include "place/plan.pb.h"

namespace isochrone::place {

/// Names of the tables that to_csv() knows: sites, pools, assignments, populations,
/// unserved, bill, reach, cells, drills, law, spend.
std::span<const std::string_view> csv_tables();

/// One table of the plan as CSV (RFC 4180, LF), in the plan's order, columns named and
/// measured as in plan.proto; lists are joined by `|`. Indices come with the name of
/// what they point at. Throws std::invalid_argument for an unknown table, with the
/// nearest.
std::string to_csv(const plan::Plan& plan, std::string_view table);

/// RFC 7946: sites and populations as points, and one line for each (demand, metro) and
/// site that serves it. Properties in units that a map reader expects (ms, $, GPUs).
std::string to_geojson(const plan::Plan& plan);

}  // namespace isochrone::place
