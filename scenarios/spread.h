#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenarios/countries.h"

namespace isochrone::scenarios {

/// Users (or, for an entry that states its peak, parts of 1) at one place.
struct PlacedUsers {
  std::string metro;
  std::string name;
  geo::CountryCode country;
  geo::Coordinates at;
  std::string time_zone;
  double users = 0;
};

/// One demand entry, spread over the map.
struct Spread {
  std::vector<PlacedUsers> places;  ///< sorted by metro id
  double asked = 0;
  double served = 0;
  std::map<geo::CountryCode, std::string> left_out;  ///< country -> why
  std::map<geo::CountryCode, double> left_out_users;
  std::size_t metros = 0;  ///< before small ones were merged
  double moved_users = 0;  ///< who count at another metro than their own
};

/// Where the users of entry `index` are. A total is spread over the union of the
/// entry's countries by Internet users, then over each country's metros by
/// weight_population. Countries that are embargoed, partner-run, without metros or
/// without data are taken out, never redistributed. The largest metro of each country
/// is kept, then the largest of all, `metros_max` together; the rest join the nearest
/// kept metro of their country, so users are conserved. Throws InputError at the entry
/// if the city is unknown or metros_max is below the number of countries.
Spread spread_users(const Scenario& scenario, std::size_t index,
                    const datasets::Catalog& catalog);

}  // namespace isochrone::scenarios
