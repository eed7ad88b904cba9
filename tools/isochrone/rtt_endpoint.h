#pragma once

#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "geo/network.h"

namespace isochrone::tools {

/// What a word of the command line means as an end of a route.
struct NamedEndpoint {
  geo::Endpoint endpoint;
  /// The other places of that name, `London, CA (london-ca)`, largest first: the caller
  /// tells them, since one was chosen.
  std::vector<std::string> others;
};

/// A site (`aws/us-east-1`), a metro or location by id, or a city by its name, alone or
/// with its country (`London, CA`). Of several cities of a name the largest is taken.
/// Throws InputError with the nearest name if there is none.
NamedEndpoint find_endpoint(const datasets::Catalog& catalog, const std::string& word);

/// One route for other programs; `basis`, times in ms, a row or item per hop.
std::string route_json(const geo::Route& route, const geo::Endpoint& from,
                       const geo::Endpoint& to, std::string_view regime);
std::string route_csv(const geo::Route& route);

}  // namespace isochrone::tools
