#include "datasets/outlines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/diagnostics.h"

namespace isochrone::datasets {
namespace {

constexpr double kKmPerDegree = 111.2;

struct Flat {
  double x = 0;
  double y = 0;
};

/// The point in degrees of latitude, `here` at the origin.
Flat seen_from(const geo::Coordinates& here, const geo::Coordinates& point) {
  const double narrow = std::cos(here.lat * std::numbers::pi / 180);
  return {(point.lon - here.lon) * narrow, point.lat - here.lat};
}

/// Distance of the origin from the segment.
double to_segment(const Flat& a, const Flat& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length2 = dx * dx + dy * dy;
  const double along =
      length2 > 0 ? std::clamp(-(a.x * dx + a.y * dy) / length2, 0.0, 1.0) : 0.0;
  return std::hypot(a.x + along * dx, a.y + along * dy);
}

/// Whether a ray from the origin to the east crosses the segment.
bool crosses(const Flat& a, const Flat& b) {
  if ((a.y > 0) == (b.y > 0)) return false;
  return a.x - a.y * (b.x - a.x) / (b.y - a.y) > 0;
}

}  // namespace

CountryOutlines CountryOutlines::load(const std::string& folder) {
  const std::string path = folder + "/country_outlines.csv";
  const CsvTable table =
      CsvTable::read(path, {"country", "ring", "points", "as_of", "basis", "source"});
  Diagnostics faults;
  CountryOutlines outlines;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto country = geo::CountryCode::parse(table.text(i, "country"));
    Ring ring;
    bool sound = country.has_value();
    for (const std::string& point : table.list(i, "points")) {
      std::istringstream numbers(point);
      geo::Coordinates at;
      sound = sound && static_cast<bool>(numbers >> at.lat >> at.lon);
      ring.push_back(at);
    }
    if (!sound || ring.size() < 3) {
      faults.error({path, table.line(i), 1},
                   "an outline is a country and three points "
                   "or more, each \"lat lon\"");
      continue;
    }
    outlines.rings_[*country].push_back(std::move(ring));
  }
  faults.throw_if_errors();
  return outlines;
}

double CountryOutlines::km_outside(geo::CountryCode country,
                                   const geo::Coordinates& at) const {
  double nearest = std::numeric_limits<double>::infinity();
  const auto drawn = rings_.find(country);
  if (drawn == rings_.end()) return nearest;
  for (const Ring& ring : drawn->second) {
    bool inside = false;
    Flat last = seen_from(at, ring.back());
    for (const geo::Coordinates& point : ring) {
      const Flat next = seen_from(at, point);
      inside = inside != crosses(last, next);
      nearest = std::min(nearest, to_segment(last, next) * kKmPerDegree);
      last = next;
    }
    if (inside) return 0;
  }
  return nearest;
}

}  // namespace isochrone::datasets
