#pragma once

#include <string>

#include "datasets/catalog.h"

namespace isochrone::datasets {

inline const std::string kFolder = ISOCHRONE_ROOT "/datasets";

/// The tables of the source tree, read once per test program.
inline const Catalog& world() {
  static const Catalog kWorld = Catalog::load(kFolder);
  return kWorld;
}

inline const Site& site(const char* id) { return world().sites[*world().site(id)]; }

inline geo::CountryCode code(const char* text) {
  return *geo::CountryCode::parse(text);
}

}  // namespace isochrone::datasets
