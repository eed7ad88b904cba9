#include "datasets/catalog.h"

#include <doctest/doctest.h>

namespace isochrone::datasets {
namespace {

const Catalog& world() {
  static const Catalog kWorld = Catalog::load(ISOCHRONE_ROOT "/datasets");
  return kWorld;
}

TEST_SUITE("datasets/catalog") {
  TEST_CASE("the tables hold what was collected") {
    CHECK(world().sites.size() == 735);
    CHECK(world().locations.size() == 393);
    CHECK(world().metros.size() == 1701);
    CHECK(world().countries.size() == 244);
  }
}

}  // namespace
}  // namespace isochrone::datasets
