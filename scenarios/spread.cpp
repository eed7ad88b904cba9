#include "scenarios/spread.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include <fmt/format.h>

namespace isochrone::scenarios {
namespace {

using datasets::Catalog;
using datasets::Metro;

constexpr int kDefaultMetrosMax = 600;

[[noreturn]] void refuse(const Scenario& scenario, const std::string& path,
                         std::string message, std::string hint = "") {
  throw InputError({{Severity::kError, scenario.source.at(path), std::move(message),
                     std::move(hint)}});
}

std::string path_of(std::size_t index, std::string_view field) {
  return fmt::format("demand[{}].{}", index, field);
}

/// What each country is asked to hold, before anything is taken out. The parts of an
/// entry that states its peak load sum to 1.
std::map<geo::CountryCode, double> users_by_country(const spec::Demand& entry,
                                                    const Catalog& catalog) {
  std::map<geo::CountryCode, double> users;
  const bool stated = !entry.users().by_country().empty();
  if (stated) {
    for (const auto& [code, count] : entry.users().by_country()) {
      if (const auto country = geo::CountryCode::parse(code)) users[*country] = count;
    }
  } else {
    for (const geo::CountryCode code : expand(entry.regions(), catalog)) {
      const auto country = catalog.country(code);
      users[code] = country ? catalog.countries[*country].internet_users : 0;
    }
  }
  double sum = 0;
  for (const auto& [code, count] : users) sum += count;
  const double total = entry.has_rps_peak() ? 1.0
                       : stated             ? sum
                                            : entry.users().total();
  for (auto& [code, count] : users) count = sum > 0 ? count / sum * total : 0;
  return users;
}

using MetrosByCountry = std::map<geo::CountryCode, std::vector<const Metro*>>;

MetrosByCountry metros_by_country(const Catalog& catalog) {
  MetrosByCountry metros;
  for (const Metro& metro : catalog.metros) {
    if (metro.weight_population > 0) metros[metro.country].push_back(&metro);
  }
  return metros;
}

void spread_over_metros(double users, const std::vector<const Metro*>& metros,
                        std::vector<PlacedUsers>& places) {
  double weight = 0;
  for (const Metro* metro : metros) weight += metro->weight_population;
  for (const Metro* metro : metros) {
    places.push_back({metro->id, metro->name, metro->country, metro->at,
                      metro->time_zone, users * metro->weight_population / weight});
  }
}

bool larger(const PlacedUsers& a, const PlacedUsers& b) {
  return std::tie(b.users, a.metro) < std::tie(a.users, b.metro);
}

/// Largest first, but the largest of each country before all others.
void rank(std::vector<PlacedUsers>& places) {
  std::ranges::sort(places, larger);
  CountrySet seen;
  std::vector<PlacedUsers> ranked, rest;
  for (PlacedUsers& place : places) {
    (seen.insert(place.country).second ? ranked : rest).push_back(std::move(place));
  }
  std::ranges::move(rest, std::back_inserter(ranked));
  places = std::move(ranked);
}

void merge_small_metros(Spread& spread, std::size_t metros_max) {
  rank(spread.places);
  const std::size_t kept = std::min(metros_max, spread.places.size());
  for (std::size_t i = kept; i < spread.places.size(); ++i) {
    const PlacedUsers& small = spread.places[i];
    PlacedUsers* nearest = nullptr;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < kept; ++j) {
      PlacedUsers& candidate = spread.places[j];
      if (candidate.country != small.country) continue;
      const double km = geo::great_circle_km(candidate.at, small.at);
      if (!nearest || std::tie(km, candidate.metro) < std::tie(best, nearest->metro)) {
        nearest = &candidate;
        best = km;
      }
    }
    INVARIANT(nearest, "no metro is kept in " + small.country.text());
    nearest->users += small.users;
    spread.moved_users += small.users;
  }
  spread.places.resize(kept);
}

Spread at_one_place(const Scenario& scenario, std::size_t index,
                    const Catalog& catalog) {
  const spec::Demand& entry = scenario.spec.demand(static_cast<int>(index));
  PlaceQuery query{entry.at().city(), std::nullopt, entry.at().country()};
  if (entry.at().has_lat() && entry.at().has_lon()) {
    query.at = geo::Coordinates{entry.at().lat(), entry.at().lon()};
  }
  const auto place = find_place(query, catalog);
  if (!place) {
    const std::vector<std::string> names = place_names(query.country, catalog);
    refuse(
        scenario, path_of(index, "at.city"),
        fmt::format("no city \"{}\" is known in {}; name another or give lat and lon",
                    query.city, query.country),
        did_you_mean(query.city, names));
  }
  Spread spread;
  spread.metros = 1;
  spread.asked = entry.has_rps_peak() ? 1.0 : entry.users().total();
  const std::string why = barred(place->country, scenario, catalog);
  if (!why.empty()) {
    spread.left_out[place->country] = why;
    spread.left_out_users[place->country] = spread.asked;
    return spread;
  }
  spread.served = spread.asked;
  spread.places.push_back({place->id, place->name, place->country, place->at,
                           place->time_zone, spread.asked});
  return spread;
}

std::string why_left_out(geo::CountryCode code, const Scenario& scenario,
                         const Catalog& catalog, const MetrosByCountry& metros) {
  if (std::string why = barred(code, scenario, catalog); !why.empty()) return why;
  return metros.contains(code) ? "" : "no metro is known";
}

}  // namespace

Spread spread_users(const Scenario& scenario, std::size_t index,
                    const Catalog& catalog) {
  const spec::Demand& entry = scenario.spec.demand(static_cast<int>(index));
  if (entry.has_at()) return at_one_place(scenario, index, catalog);

  const MetrosByCountry metros = metros_by_country(catalog);
  Spread spread;
  std::size_t countries = 0;
  for (const auto& [code, users] : users_by_country(entry, catalog)) {
    spread.asked += users;
    std::string why = why_left_out(code, scenario, catalog, metros);
    if (why.empty() && !(users > 0)) {
      if (!entry.users().by_country().empty()) continue;
      why = "no number of Internet users is known";
    }
    if (!why.empty()) {
      spread.left_out[code] = why;
      spread.left_out_users[code] = users;
      continue;
    }
    ++countries;
    spread.served += users;
    spread_over_metros(users, metros.at(code), spread.places);
  }
  spread.metros = spread.places.size();
  const int metros_max =
      entry.has_metros_max() ? entry.metros_max() : kDefaultMetrosMax;
  if (static_cast<std::size_t>(metros_max) < countries) {
    refuse(
        scenario, path_of(index, "metros_max"),
        fmt::format("metros_max {} is below the {} countries of \"{}\", each of which "
                    "keeps its largest metro",
                    metros_max, countries, entry.name()));
  }
  merge_small_metros(spread, static_cast<std::size_t>(metros_max));
  std::ranges::sort(spread.places, {}, &PlacedUsers::metro);
  return spread;
}

}  // namespace isochrone::scenarios
