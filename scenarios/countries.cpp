#include "scenarios/countries.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace isochrone::scenarios {
namespace {

using datasets::Catalog;
using datasets::Location;
using datasets::Metro;

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a')
                                        : letter;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// `de-frankfurt-am-main` from DE and "Frankfurt am Main".
std::string slug(std::string_view country, std::string_view name) {
  std::string id;
  for (const char letter : country) id += lower(letter);
  for (const char letter : name) {
    const char low = lower(letter);
    const bool plain = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') ||
                       static_cast<unsigned char>(low) >= 0x80;
    if (id.size() == country.size() || (!plain && id.back() != '-')) id += '-';
    if (plain) id += low;
  }
  while (id.ends_with('-')) id.pop_back();
  return id;
}

const Metro* largest_metro(std::string_view city, geo::CountryCode country,
                           const Catalog& catalog) {
  const Metro* found = nullptr;
  for (const Metro& metro : catalog.metros) {
    if (metro.country != country || !same_name(metro.name, city)) continue;
    if (!found || metro.weight_population > found->weight_population) found = &metro;
  }
  return found;
}

const Location* location_of(std::string_view city, geo::CountryCode country,
                            const Catalog& catalog) {
  for (const Location& location : catalog.locations) {
    if (location.country == country && same_name(location.city, city)) return &location;
  }
  return nullptr;
}

std::string zone_at(geo::Coordinates at, geo::CountryCode country,
                    const Catalog& catalog) {
  // A metro across a border keeps other hours, so the own country's come first.
  constexpr double kForeign = 1e6;
  double best = std::numeric_limits<double>::infinity();
  std::string zone = "Etc/UTC";
  for (const Metro& metro : catalog.metros) {
    const double km =
        geo::great_circle_km(at, metro.at) + (metro.country == country ? 0 : kForeign);
    if (km < best) {
      best = km;
      zone = metro.time_zone;
    }
  }
  return zone;
}

}  // namespace

CountrySet expand(const PlaceWords& words, const Catalog& catalog) {
  const CountrySet known = catalog.country_codes();
  CountrySet all;
  for (const std::string& word : words) {
    const auto members = catalog.blocs.expand(word, known);
    if (!members) throw std::invalid_argument("no country or bloc: \"" + word + "\"");
    all.insert(members->begin(), members->end());
  }
  return all;
}

bool named_in_allow(geo::CountryCode country, const Scenario& scenario) {
  const PlaceWords& allow = scenario.spec.sites().countries().allow();
  return std::ranges::find(allow, country.text()) != allow.end();
}

std::string barred(geo::CountryCode country, const Scenario& scenario,
                   const Catalog& catalog) {
  if (named_in_allow(country, scenario)) return "";
  for (const datasets::Restriction& row : catalog.restrictions) {
    const bool bars = row.kind == "embargoed" || row.kind == "partner_run";
    if (bars && row.country == country) return row.kind;
  }
  return "";
}

std::optional<NamedPlace> find_place(const PlaceQuery& query, const Catalog& catalog) {
  const auto country = geo::CountryCode::parse(query.country);
  if (!country) return std::nullopt;
  NamedPlace place;
  place.country = *country;
  if (const Metro* metro = largest_metro(query.city, *country, catalog)) {
    place = {metro->id, metro->name, *country, metro->at, metro->time_zone};
  } else if (const Location* location = location_of(query.city, *country, catalog)) {
    place.id = slug(query.country, location->city);
    place.name = location->city;
    place.at = location->at;
    place.time_zone = zone_at(place.at, *country, catalog);
  } else if (!query.at) {
    return std::nullopt;
  }
  if (query.at) {
    place.at = *query.at;
    place.time_zone = zone_at(place.at, *country, catalog);
    const std::string point = fmt::format("{:.4f} {:.4f}", place.at.lat, place.at.lon);
    if (place.name.empty()) place.name = query.city.empty() ? point : query.city;
    if (place.id.empty()) place.id = slug(query.country, place.name);
  }
  return place;
}

std::vector<std::string> place_names(std::string_view country, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Metro& metro : catalog.metros) {
    if (metro.country.text() == country) names.push_back(metro.name);
  }
  for (const Location& location : catalog.locations) {
    if (location.country.text() == country) names.push_back(location.city);
  }
  return names;
}

}  // namespace isochrone::scenarios
