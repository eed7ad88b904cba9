#pragma once

#include <string_view>

namespace isochrone::datasets {

/// A city and the zone that its clocks keep, as known without the tables.
struct KnownCity {
  std::string_view country;
  std::string_view name;
  std::string_view zone;
};

inline constexpr KnownCity kKnownCities[] = {
    {"US", "New York City", "America/New_York"},
    {"US", "Los Angeles", "America/Los_Angeles"},
    {"US", "Chicago", "America/Chicago"},
    {"US", "Denver", "America/Denver"},
    {"US", "Phoenix", "America/Phoenix"},
    {"US", "Detroit", "America/Detroit"},
    {"US", "Honolulu", "Pacific/Honolulu"},
    {"US", "Indianapolis", "America/Indiana/Indianapolis"},
    {"US", "Louisville", "America/Kentucky/Louisville"},
    {"US", "Boise", "America/Boise"},
    {"CA", "Toronto", "America/Toronto"},
    {"CA", "Vancouver", "America/Vancouver"},
    {"CA", "Calgary", "America/Edmonton"},
    {"CA", "Winnipeg", "America/Winnipeg"},
    {"CA", "Halifax", "America/Halifax"},
    {"MX", "Mexico City", "America/Mexico_City"},
    {"MX", "Tijuana", "America/Tijuana"},
    {"MX", "Cancún", "America/Cancun"},
    {"MX", "Monterrey", "America/Monterrey"},
    {"BR", "São Paulo", "America/Sao_Paulo"},
    {"BR", "Manaus", "America/Manaus"},
    {"BR", "Recife", "America/Recife"},
    {"AR", "Buenos Aires", "America/Argentina/Buenos_Aires"},
    {"AR", "Córdoba", "America/Argentina/Cordoba"},
    {"CL", "Santiago", "America/Santiago"},
    {"CO", "Bogotá", "America/Bogota"},
    {"PE", "Lima", "America/Lima"},
    {"GB", "London", "Europe/London"},
    {"IE", "Dublin", "Europe/Dublin"},
    {"PT", "Lisbon", "Europe/Lisbon"},
    {"ES", "Madrid", "Europe/Madrid"},
    {"ES", "Las Palmas de Gran Canaria", "Atlantic/Canary"},
    {"FR", "Paris", "Europe/Paris"},
    {"DE", "Berlin", "Europe/Berlin"},
    {"DE", "Frankfurt am Main", "Europe/Berlin"},
    {"FI", "Helsinki", "Europe/Helsinki"},
    {"UA", "Kyiv", "Europe/Kyiv"},
    {"TR", "Istanbul", "Europe/Istanbul"},
    {"RU", "Moscow", "Europe/Moscow"},
    {"RU", "Vladivostok", "Asia/Vladivostok"},
    {"RU", "Kaliningrad", "Europe/Kaliningrad"},
    {"EG", "Cairo", "Africa/Cairo"},
    {"NG", "Lagos", "Africa/Lagos"},
    {"KE", "Nairobi", "Africa/Nairobi"},
    {"ZA", "Johannesburg", "Africa/Johannesburg"},
    {"MA", "Casablanca", "Africa/Casablanca"},
    {"CD", "Kinshasa", "Africa/Kinshasa"},
    {"CD", "Lubumbashi", "Africa/Lubumbashi"},
    {"AE", "Dubai", "Asia/Dubai"},
    {"SA", "Riyadh", "Asia/Riyadh"},
    {"IR", "Tehran", "Asia/Tehran"},
    {"IN", "Mumbai", "Asia/Kolkata"},
    {"NP", "Kathmandu", "Asia/Kathmandu"},
    {"KZ", "Almaty", "Asia/Almaty"},
    {"MN", "Ulan Bator", "Asia/Ulaanbaatar"},
    {"CN", "Shanghai", "Asia/Shanghai"},
    {"CN", "Ürümqi", "Asia/Urumqi"},
    {"JP", "Tokyo", "Asia/Tokyo"},
    {"KR", "Seoul", "Asia/Seoul"},
    {"ID", "Jakarta", "Asia/Jakarta"},
    {"ID", "Makassar", "Asia/Makassar"},
    {"AU", "Sydney", "Australia/Sydney"},
    {"AU", "Brisbane", "Australia/Brisbane"},
    {"AU", "Adelaide", "Australia/Adelaide"},
    {"AU", "Perth", "Australia/Perth"},
    {"NZ", "Auckland", "Pacific/Auckland"},
    {"FJ", "Suva", "Pacific/Fiji"},
};

/// A metro and between which shares of its country's users it must have. The low end is
/// a little below the agglomeration's share of the population (World Urbanization
/// Prospects 2018: London 9.0 of 67 M, Paris 10.9 of 65, Tokyo 37.4 of 126 in the
/// widest sense, Seoul 10 of 51 in the city proper, Sydney 4.8 of 25, Toronto 6.1 of
/// 37, Sao Paulo 12 of 209 in the city proper, Moscow 12.4 of 146); the high end allows
/// for the towns that are no metros: at most two and a half times as much. New York: 19
/// of 327 M is 5.8 %, and 5 to 8 % is what any plan for the US must see.
struct KnownShare {
  std::string_view metro;
  double low = 0;
  double high = 0;
};

inline constexpr KnownShare kKnownShares[] = {
    {"us-new-york-city", 0.05, 0.08}, {"gb-london", 0.12, 0.30},
    {"fr-paris", 0.15, 0.42},         {"jp-tokyo", 0.15, 0.35},
    {"kr-seoul", 0.18, 0.50},         {"au-sydney", 0.18, 0.45},
    {"ca-toronto", 0.15, 0.40},       {"br-sao-paulo", 0.055, 0.20},
    {"ru-moscow", 0.08, 0.21},        {"sg-singapore", 0.999, 1},
};

}  // namespace isochrone::datasets
