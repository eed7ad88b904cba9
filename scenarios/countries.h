#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <google/protobuf/repeated_ptr_field.h>

#include "datasets/catalog.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

using PlaceWords = google::protobuf::RepeatedPtrField<std::string>;
using CountrySet = std::set<geo::CountryCode>;

/// The countries that codes and blocs name together. Throws std::invalid_argument for a
/// word that is neither.
CountrySet expand(const PlaceWords& words, const datasets::Catalog& catalog);

/// Why nobody is served and nothing runs in `country` ("embargoed", "partner_run"), or
/// "". `sites.countries.allow` lifts it where it lists the country by its code: a bloc
/// that happens to hold the country does not.
std::string barred(geo::CountryCode country, const Scenario& scenario,
                   const datasets::Catalog& catalog);

/// True if `sites.countries.allow` lists the country by its code.
bool named_in_allow(geo::CountryCode country, const Scenario& scenario);

/// A place that a scenario names by city, by coordinates, or by both.
struct NamedPlace {
  std::string id;  ///< `de-frankfurt-am-main`; the metro's id where one is meant
  std::string name;
  geo::CountryCode country;
  geo::Coordinates at;
  std::string time_zone;  ///< of the nearest metro, own country first
};

/// A place as a scenario writes it; `at` wins over the city's own coordinates.
struct PlaceQuery {
  std::string city;
  std::optional<geo::Coordinates> at;
  std::string country;
};

/// Looks the city up among the country's metros, then its data-centre locations
/// (capitals of letters do not matter; the largest of equal names). nullopt: no such
/// city and no coordinates.
std::optional<NamedPlace> find_place(const PlaceQuery& query,
                                     const datasets::Catalog& catalog);

/// Names that find_place() knows in a country, for "did you mean".
std::vector<std::string> place_names(std::string_view country,
                                     const datasets::Catalog& catalog);

}  // namespace isochrone::scenarios
