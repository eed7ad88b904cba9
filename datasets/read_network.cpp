#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "datasets/catalog_reader.h"
#include "datasets/pings.h"
#include "geo/transit_policy.h"

namespace isochrone::datasets {
void CatalogReader::read_hubs() {
  Keys keys;
  each_row("hubs", [&](const Row& row) {
    const std::string& name = row.required("hub");
    keys.claim(row, "hub", name);
    hub_index_.emplace(name, static_cast<std::uint32_t>(catalog_.network.hubs.size()));
    catalog_.network.hubs.push_back({name, country(row, "country"), row.coordinates()});
  });
}

void CatalogReader::read_link(const Row& row, std::string name, bool submarine) {
  static constexpr std::string_view kStatus[] = {"in_service", "planned", "retired"};
  geo::Link link;
  link.name = std::move(name);
  link.from = row.text("from");
  link.to = row.text("to");
  link.submarine = submarine;
  link.route_km = row.number("route_km", 1, 50000);
  link.chokepoints = row.list("chokepoints");
  if (!row.empty("capacity_class")) {
    link.capacity_class = static_cast<int>(row.number("capacity_class", 1, 4));
  }
  const auto from = row.refer("from", hub_index_);
  const auto to = row.refer("to", hub_index_);
  if (from && to) {
    if (*from == *to) row.fault("to", "a link needs two different ends");
    const double straight = geo::great_circle_km(catalog_.network.hubs[*from].at,
                                                 catalog_.network.hubs[*to].at);
    if (link.route_km < straight) {
      row.fault("route_km",
                fmt::format("route_km is {}, but the great circle has {:.0f} km",
                            link.route_km, straight));
    }
  }
  if (row.has("policy_weight") && !row.empty("policy_weight")) {
    link.policy_weight = row.number("policy_weight", 0.1, 1000);
  }
  const bool in_service = row.word("status", kStatus) == "in_service";
  if (in_service) catalog_.network.links.push_back(std::move(link));
}

void CatalogReader::read_terrestrial_links() {
  Keys keys;
  each_row("terrestrial_links", [&](const Row& row) {
    const auto [low, high] = std::minmax(row.text("from"), row.text("to"));
    keys.claim(row, "from", low + " - " + high);
    read_link(row, "land", false);
  });
}

void CatalogReader::read_submarine_segments() {
  Keys keys;
  each_row("submarine_segments", [&](const Row& row) {
    const auto [low, high] = std::minmax(row.text("from"), row.text("to"));
    keys.claim(row, "from", fmt::format("{}: {} - {}", row.text("system"), low, high));
    read_link(row, row.required("system"), true);
  });
}

void CatalogReader::read_transit_policy() {
  using Scope = geo::TransitRule::Scope;
  static constexpr std::pair<std::string_view, Scope> kScopes[] = {
      {"country", Scope::kCountry},
      {"border", Scope::kBorder},
      {"cable", Scope::kCable},
      {"link", Scope::kLink}};
  Keys keys;
  std::vector<geo::TransitRule> rules;
  each_row("transit_policy", [&](const Row& row) {
    const auto [low, high] = std::minmax(row.text("a"), row.text("b"));
    keys.claim(row, "a", fmt::format("{}: {} - {}", row.text("scope"), low, high));
    row.required("reason");
    rules.push_back({row.one_of<Scope>("scope", kScopes), row.required("a"),
                     row.text("b"), row.number("weight", 0.1, 1000)});
  });
  for (const std::size_t unused :
       apply_transit_policy(rules, catalog_.network.hubs, catalog_.network.links)) {
    Row(tables_.table("transit_policy"), unused, faults_)
        .fault("a", "names no link that is in service");
  }
}

void CatalogReader::read_transit_gates() {
  Keys countries;
  std::set<geo::CountryCode> placed;
  each_row("transit_gates", [&](const Row& row) {
    geo::TransitGroup group;
    group.name = row.required("group");
    for (const std::string& name : row.list("countries")) {
      countries.claim(row, "countries", name);
      group.countries.push_back(country(row, "countries", name));
      placed.insert(group.countries.back());
    }
    const auto gates = [&](const char* column) {
      std::vector<std::string> hubs = row.list(column);
      if (hubs.empty()) row.fault(column, "a group needs a gate");
      for (const std::string& hub : hubs) row.refer(column, hub, hub_index_);
      return hubs;
    };
    group.world_gates = gates("world_gates");
    group.local_gates = gates("local_gates");
    catalog_.network.transit_groups.push_back(std::move(group));
  });
  for (const geo::CountryCode code : country_codes_) {
    if (placed.contains(code)) continue;
    faults_.error({tables_.table("transit_gates").name(), 1, 1},
                  fmt::format("country {} is in no group", code.text()));
  }
}

void CatalogReader::read_neighbour_weights() {
  Keys keys;
  each_row("neighbour_weights", [&](const Row& row) {
    const auto [low, high] = std::minmax(row.text("from"), row.text("to"));
    keys.claim(row, "from", low + " - " + high);
    row.refer("from", hub_index_);
    row.refer("to", hub_index_);
    catalog_.network.neighbours.push_back(
        {row.text("from"), row.text("to"), row.number("weight", -100, 100)});
  });
}

void CatalogReader::read_regimes() {
  static constexpr std::string_view kRegimes[] = {"backbone", "public"};
  Keys keys;
  std::set<std::string> seen;
  each_row("network_regimes", [&](const Row& row) {
    const std::string& regime = row.word("regime", kRegimes);
    keys.claim(row, "regime", regime);
    seen.insert(regime);
    geo::RegimeCoefficients fitted;
    fitted.stretch = row.number("stretch", 1, 4);
    fitted.near_ms = row.number("near_ms", 0, 100);
    fitted.constant_ms = row.number("constant_ms", fitted.near_ms, 100);
    fitted.domestic_ms = row.number("domestic_ms", fitted.near_ms, 100);
    fitted.ramp_km = row.number("ramp_km", 0, 10000);
    fitted.cap_until_km = row.number("cap_until_km", 0, 20000);
    fitted.cap_factor = row.number("cap_factor", 1, 10);
    fitted.cap_km = row.number("cap_km", 0, 10000);
    fitted.neighbour_km = row.number("neighbour_km", 0, 20000);
    (regime == "public" ? catalog_.network.public_internet
                        : catalog_.network.backbone) = fitted;
  });
  for (const std::string_view regime : kRegimes) {
    if (seen.contains(std::string(regime))) continue;
    faults_.error({tables_.table("network_regimes").name(), 1, 1},
                  fmt::format("regime \"{}\" has no row", regime));
  }
}

void CatalogReader::read_measured() {
  NameIndex places;
  std::vector<geo::Endpoint> endpoints;
  Keys place_keys;
  each_row("measured_places", [&](const Row& row) {
    const std::string& name = row.required("place");
    place_keys.claim(row, "place", name);
    places.emplace(name, static_cast<std::uint32_t>(endpoints.size()));
    endpoints.push_back({name, country(row, "country"), row.coordinates()});
  });
  static constexpr std::string_view kRegimes[] = {"backbone", "public"};
  Keys pair_keys;
  each_row("measured_rtt", [&](const Row& row) {
    pair_keys.claim(row, "from", row.text("from") + " -> " + row.text("to"));
    const auto from = row.refer("from", places);
    const auto to = row.refer("to", places);
    const bool open = row.word("regime", kRegimes) == "public";
    const double rtt_ms = row.number("rtt_ms", 0.01, 5000);
    if (!from || !to) return;
    // No route is shorter than the great circle.
    const double floor_ms =
        geo::kFibreMsPerKm *
        geo::great_circle_km(endpoints[*from].at, endpoints[*to].at);
    if (rtt_ms < floor_ms - kLightGraceMs) {
      row.fault("rtt_ms",
                fmt::format("rtt_ms is {}, faster than light in fibre ({:.1f})", rtt_ms,
                            floor_ms));
    }
    catalog_.network.measured.push_back(
        {endpoints[*from], endpoints[*to],
         open ? geo::Regime::kPublic : geo::Regime::kBackbone, micros_from_ms(rtt_ms)});
  });
}

}  // namespace isochrone::datasets
