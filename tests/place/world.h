#pragma once

#include "datasets/catalog.h"

namespace isochrone {

/// The tables of the project, read once.
inline const datasets::Catalog& world() {
  static const datasets::Catalog kWorld =
      datasets::Catalog::load(ISOCHRONE_ROOT "/datasets");
  return kWorld;
}

}  // namespace isochrone
