#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace isochrone::geo {

/// ISO 3166 alpha-2, always two upper-case letters. "NO" is Norway.
class CountryCode {
 public:
  CountryCode() = default;
  /// nullopt unless `text` is two upper-case letters. Says nothing about existence.
  static std::optional<CountryCode> parse(std::string_view text);
  std::string text() const { return {letters_.begin(), letters_.end()}; }
  auto operator<=>(const CountryCode&) const = default;

 private:
  std::array<char, 2> letters_{'?', '?'};
};

/// Degrees, WGS 84. lat in [-90, 90], lon in [-180, 180].
struct Coordinates {
  double lat = 0;
  double lon = 0;
  auto operator<=>(const Coordinates&) const = default;
};

/// Kilometres on the sphere of radius 6371.0088 km (haversine; within 0.6 % of WGS 84).
double great_circle_km(Coordinates a, Coordinates b);

/// Light in fibre of group index 1.468.
inline constexpr double kFibreKmPerSecond = 204190;
inline constexpr double kFibreMsPerKm = 2e3 / kFibreKmPerSecond;  ///< there and back

/// An end of a network path: a metro or a site's location.
struct Endpoint {
  std::string name;  ///< for messages and hop lists
  CountryCode country;
  Coordinates at;
};

}  // namespace isochrone::geo
