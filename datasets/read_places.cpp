#include <fmt/format.h>

#include "datasets/catalog_reader.h"

namespace isochrone::datasets {
namespace {

constexpr std::string_view kContinents[] = {"Africa", "Americas", "Asia", "Europe",
                                            "Oceania"};
constexpr std::string_view kAccessMethods[] = {"measured", "measured_p50", "pooled"};
constexpr double kMaxAccessMs = 5000;

geo::AccessLaw access_from(const Row& row) {
  geo::AccessLaw law;
  law.p50_ms = row.number("p50_ms", 0.1, kMaxAccessMs);
  law.p75_ms = row.number("p75_ms", 0.1, kMaxAccessMs);
  law.p90_ms = row.number("p90_ms", 0.1, kMaxAccessMs);
  law.p95_ms = row.number("p95_ms", 0.1, kMaxAccessMs);
  law.p99_ms = row.number("p99_ms", 0.1, kMaxAccessMs);
  law.download_mbps = row.number("download_mbps", 0.01, 100000);
  law.estimated = row.text("method") == "pooled";
  if (!(law.p50_ms <= law.p75_ms && law.p75_ms <= law.p90_ms &&
        law.p90_ms <= law.p95_ms && law.p95_ms <= law.p99_ms)) {
    row.fault("p50_ms", "percentiles must not fall from p50 to p99");
  }
  return law;
}

/// The tail of the mobile law keeps the country's own ratios to p75: nothing was
/// measured for mobile users alone.
geo::AccessLaw mobile_from(const Row& row, const geo::AccessLaw& mixed) {
  geo::AccessLaw law = mixed;
  law.p50_ms = row.number("mobile_p50_ms", mixed.p50_ms, kMaxAccessMs);
  law.p75_ms = row.number("mobile_p75_ms", law.p50_ms, kMaxAccessMs);
  if (mixed.p75_ms > 0) {
    law.p90_ms = law.p75_ms * (mixed.p90_ms / mixed.p75_ms);
    law.p95_ms = law.p75_ms * (mixed.p95_ms / mixed.p75_ms);
    law.p99_ms = law.p75_ms * (mixed.p99_ms / mixed.p75_ms);
  }
  law.estimated = true;
  return law;
}

}  // namespace

void CatalogReader::read_countries() {
  Keys keys;
  each_row("countries", [&](const Row& row) {
    Country country;
    const std::string& code = row.required("country");
    keys.claim(row, "country", code);
    const auto parsed = geo::CountryCode::parse(code);
    if (!parsed) row.fault("country", "a country is two upper-case letters");
    country.code = parsed.value_or(geo::CountryCode{});
    country.name = row.required("name");
    country.region = row.word("continent", kContinents);
    country.population = row.number("population", 1, 3e9);
    country.internet_users = row.number("internet_users", 0, country.population);
    const CountryId id = catalog_.countries.push_back(std::move(country));
    catalog_.country_index_.emplace(code, id.value);
    country_codes_.insert(catalog_.countries[id].code);
  });
}

void CatalogReader::read_access() {
  Keys keys;
  std::set<std::string> seen;
  each_row("access", [&](const Row& row) {
    keys.claim(row, "country", row.text("country"));
    const auto index = row.refer("country", catalog_.country_index_);
    const geo::AccessLaw mixed = access_from(row);
    const geo::AccessLaw mobile = mobile_from(row, mixed);
    const std::string& method = row.word("method", kAccessMethods);
    if (!index) return;
    Country& country = catalog_.countries[CountryId{*index}];
    country.access = mixed;
    country.access_mobile = mobile;
    country.access_basis = method;
    seen.insert(row.text("country"));
  });
  each_row("countries", [&](const Row& row) {
    if (seen.contains(row.text("country"))) return;
    row.fault("country", fmt::format("country \"{}\" has no row in access.csv",
                                     row.text("country")));
  });
}

void CatalogReader::read_blocs() {
  Keys keys;
  std::map<std::string, std::set<geo::CountryCode>> members;
  each_row("blocs", [&](const Row& row) {
    const std::string& bloc = row.required("bloc");
    keys.claim(row, "bloc", bloc);
    // A two-letter word in a scenario is then a country or this bloc, never both.
    if (catalog_.country_index_.contains(bloc)) {
      row.fault("bloc", fmt::format("bloc \"{}\" has the name of a country", bloc));
    }
    std::set<geo::CountryCode> countries;
    for (const std::string& member : row.list("countries")) {
      if (!countries.insert(country(row, "countries", member)).second) {
        row.fault("countries", fmt::format("\"{}\" stands twice in the list", member));
      }
    }
    if (countries.empty()) row.fault("countries", "a bloc needs countries");
    bloc_index_.emplace(bloc, static_cast<std::uint32_t>(bloc_index_.size()));
    members.emplace(bloc, std::move(countries));
  });
  catalog_.blocs = geo::Blocs(std::move(members));
}

void CatalogReader::read_territories() {
  Keys keys;
  each_row("territories", [&](const Row& row) {
    keys.claim(row, "territory", row.text("territory"));
    const geo::CountryCode territory = country(row, "territory");
    const std::string& follows = row.required("follows");
    if (follows != "own" && follows != "unknown") (void)country(row, "follows");
    if (follows == row.text("territory")) {
      row.fault("follows", "a territory cannot follow itself", "write own");
    }
    catalog_.territories.emplace(territory, follows);
  });
}

void CatalogReader::read_restrictions() {
  static constexpr std::string_view kKinds[] = {"embargoed", "export_controlled",
                                                "partner_run"};
  static constexpr std::string_view kScopes[] = {"all", "h100_class", "foreign_cloud"};
  Keys keys;
  each_row("restrictions", [&](const Row& row) {
    keys.claim(row, "restriction", row.text("country") + " " + row.text("restriction"));
    catalog_.restrictions.push_back({country(row, "country"),
                                     row.word("restriction", kKinds),
                                     row.word("applies_to", kScopes), row.origin()});
  });
}

void CatalogReader::read_metros() {
  Keys keys;
  each_row("metros", [&](const Row& row) {
    Metro metro;
    metro.id = row.required("metro");
    keys.claim(row, "metro", metro.id);
    metro.name = row.required("name");
    metro.country = country(row, "country");
    metro.at = row.coordinates();
    metro.weight_population = row.number("weight_population", 1, 1e8);
    metro.time_zone = row.required("time_zone");
    const std::string id = metro.id;
    catalog_.metro_index_.emplace(id,
                                  catalog_.metros.push_back(std::move(metro)).value);
  });
}

void CatalogReader::read_locations() {
  const std::size_t before = faults_.all().size();
  Keys keys;
  each_row("locations", [&](const Row& row) {
    Location location;
    location.id = row.required("location");
    keys.claim(row, "location", location.id);
    location.city = row.required("city");
    location.country = country(row, "country");
    location.at = row.coordinates();
    const std::string id = location.id;
    location_index_.emplace(id,
                            catalog_.locations.push_back(std::move(location)).value);
  });
  locations_sound_ = faults_.all().size() == before;
}

}  // namespace isochrone::datasets
