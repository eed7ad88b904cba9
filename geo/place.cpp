#include "geo/place.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isochrone::geo {
namespace {

constexpr double kEarthRadiusKm = 6371.0088;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

double radians(double degrees) { return degrees * std::numbers::pi / 180.0; }

double squared_sine(double angle) { return std::sin(angle) * std::sin(angle); }

}  // namespace

std::optional<CountryCode> CountryCode::parse(std::string_view text) {
  if (text.size() != 2 || !is_upper(text[0]) || !is_upper(text[1])) return std::nullopt;
  CountryCode code;
  code.letters_ = {text[0], text[1]};
  return code;
}

double great_circle_km(Coordinates a, Coordinates b) {
  const double lat_a = radians(a.lat);
  const double lat_b = radians(b.lat);
  const double h =
      squared_sine((lat_b - lat_a) / 2) +
      std::cos(lat_a) * std::cos(lat_b) * squared_sine(radians(b.lon - a.lon) / 2);
  return 2 * kEarthRadiusKm * std::asin(std::sqrt(std::clamp(h, 0.0, 1.0)));
}

}  // namespace isochrone::geo
