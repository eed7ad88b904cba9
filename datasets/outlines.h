#pragma once

#include <map>
#include <string>
#include <vector>

#include "geo/place.h"

namespace isochrone::datasets {

/// Outlines of the countries, to tell whether a point lies in the country that its row
/// names. From Natural Earth 1:10m, thinned: a line may run 4.5 km off, islands smaller
/// than 40 km across without a place of the tables are left out, and enclaves are not
/// cut out. Drawn for checking tables, not for maps: no statement about borders.
class CountryOutlines {
 public:
  /// Reads country_outlines.csv under `folder`. Throws InputError with all faults. Not
  /// part of the catalog, whose hash it does not touch: no plan rests on it.
  static CountryOutlines load(const std::string& folder);

  /// 0 inside, else kilometres to the nearest line; infinity for a country that is not
  /// drawn. Exact enough near a line (a plane at the point's latitude), not far from
  /// it.
  double km_outside(geo::CountryCode country, const geo::Coordinates& at) const;

 private:
  using Ring = std::vector<geo::Coordinates>;
  std::map<geo::CountryCode, std::vector<Ring>> rings_;
};

}  // namespace isochrone::datasets
