#include "tools/isochrone/rtt_endpoint.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/diagnostics.h"
#include "scenarios/json.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

using scenarios::json_array;
using scenarios::json_member;
using scenarios::json_object;
using scenarios::json_text;

/// A place that a word may mean.
struct Match {
  std::string id;
  geo::Endpoint endpoint;
  double people = 0;  ///< 0 for a location without a metro
};

/// Cities of a name, of one country where it is given; metros before locations of the
/// same place, the largest first.
std::vector<Match> cities_named(const datasets::Catalog& catalog,
                                const std::string& name,
                                std::optional<geo::CountryCode> country) {
  std::vector<Match> matches;
  const auto wanted = [&](const std::string& called, geo::CountryCode in) {
    return called == name && (!country || in == *country);
  };
  for (const datasets::Metro& metro : catalog.metros) {
    if (!wanted(metro.name, metro.country)) continue;
    matches.push_back({metro.id,
                       {metro.name, metro.country, metro.at},
                       std::max(metro.weight_population, 1.0)});
  }
  for (const datasets::Location& location : catalog.locations) {
    if (!wanted(location.city, location.country)) continue;
    const bool known = std::ranges::any_of(matches, [&](const Match& match) {
      return match.endpoint.country == location.country;
    });
    if (known) continue;
    matches.push_back({location.id, {location.city, location.country, location.at}});
  }
  std::ranges::stable_sort(matches, std::greater{}, &Match::people);
  return matches;
}

/// `London, CA` -> London and Canada.
std::optional<std::pair<std::string, geo::CountryCode>> city_and_country(
    const std::string& word) {
  const auto comma = word.rfind(',');
  if (comma == std::string::npos) return std::nullopt;
  const auto code = word.find_first_not_of(' ', comma + 1);
  if (code == std::string::npos) return std::nullopt;
  const auto country = geo::CountryCode::parse(word.substr(code));
  if (!country) return std::nullopt;
  return std::pair{word.substr(0, comma), *country};
}

std::optional<geo::Endpoint> by_id(const datasets::Catalog& catalog,
                                   const std::string& word) {
  if (const auto site = catalog.site(word)) {
    const datasets::Site& s = catalog.sites[*site];
    return geo::Endpoint{s.id, s.country, s.at};
  }
  for (const datasets::Metro& metro : catalog.metros) {
    if (metro.id == word) return geo::Endpoint{metro.name, metro.country, metro.at};
  }
  for (const datasets::Location& location : catalog.locations) {
    if (location.id == word) {
      return geo::Endpoint{location.city, location.country, location.at};
    }
  }
  return std::nullopt;
}

std::vector<std::string> all_names(const datasets::Catalog& catalog) {
  std::vector<std::string> names;
  for (const datasets::Metro& metro : catalog.metros) names.push_back(metro.name);
  for (const datasets::Site& site : catalog.sites) names.push_back(site.id);
  return names;
}

std::string ms(Micros time) { return fmt::format("{:.3f}", to_ms(time)); }

std::string end_json(const geo::Endpoint& end) {
  return json_object({json_member("name", json_text(end.name)),
                      json_member("country", json_text(end.country.text()))});
}

}  // namespace

NamedEndpoint find_endpoint(const datasets::Catalog& catalog, const std::string& word) {
  if (const auto endpoint = by_id(catalog, word)) return {*endpoint, {}};
  std::vector<Match> matches = cities_named(catalog, word, std::nullopt);
  if (matches.empty()) {
    if (const auto parts = city_and_country(word)) {
      matches = cities_named(catalog, parts->first, parts->second);
    }
  }
  if (matches.empty()) {
    usage_error(fmt::format("no site, metro or city is called \"{}\"", word),
                did_you_mean(word, all_names(catalog)));
  }
  NamedEndpoint found{matches.front().endpoint, {}};
  for (std::size_t i = 1; i < matches.size(); ++i) {
    const Match& other = matches[i];
    found.others.push_back(fmt::format("{}, {} ({})", other.endpoint.name,
                                       other.endpoint.country.text(), other.id));
  }
  return found;
}

std::string route_json(const geo::Route& route, const geo::Endpoint& from,
                       const geo::Endpoint& to, std::string_view regime) {
  std::vector<std::string> hops;
  for (const geo::Hop& hop : route.hops) {
    hops.push_back(json_object({json_member("what", json_text(hop.what)),
                                json_member("from", json_text(hop.from)),
                                json_member("to", json_text(hop.to)),
                                json_member("km", fmt::format("{:.1f}", hop.km)),
                                json_member("rtt_ms", ms(hop.rtt))}));
  }
  return scenarios::json_indented(json_object(
      {json_member("from", end_json(from)), json_member("to", end_json(to)),
       json_member("regime", json_text(regime)),
       json_member("rtt_ms", ms(route.total.rtt)),
       json_member("basis", json_text(to_text(route.total.basis))),
       json_member("great_circle_km", fmt::format("{:.1f}", route.great_circle_km)),
       json_member("path_km", fmt::format("{:.1f}", route.path_km())),
       json_member("hops", json_array(hops))}));
}

std::string route_csv(const geo::Route& route) {
  std::string text = "what,from,to,km,rtt_ms\n";
  for (const geo::Hop& hop : route.hops) {
    text += fmt::format("{},{},{},{:.1f},{}\n", csv_cell(hop.what), csv_cell(hop.from),
                        csv_cell(hop.to), hop.km, ms(hop.rtt));
  }
  return text;
}

}  // namespace isochrone::tools
