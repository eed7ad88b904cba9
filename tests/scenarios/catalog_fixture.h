#pragma once

#include <string>

#include "datasets/catalog.h"

namespace isochrone::scenarios {

/// The project's own tables, read once for all tests.
inline const datasets::Catalog& catalog() {
  static const datasets::Catalog tables =
      datasets::Catalog::load(ISOCHRONE_ROOT "/datasets");
  return tables;
}

}  // namespace isochrone::scenarios
