#include "geo/jurisdiction.h"

#include <doctest/doctest.h>

namespace isochrone::geo {
namespace {

CountryCode code(const char* text) { return *CountryCode::parse(text); }

Blocs two_blocs() {
  return Blocs({{"EU", {code("DE"), code("FR")}}, {"EEA", {code("DE"), code("NO")}}});
}

TEST_SUITE("geo/jurisdiction") {
  TEST_CASE("a bloc name stands for its members") {
    const Blocs blocs = two_blocs();

    CHECK(blocs.expand("EEA", {code("DE")}) == std::set{code("DE"), code("NO")});
    CHECK(blocs.find("EU")->size() == 2);
    CHECK(blocs.names() == std::vector<std::string>{"EEA", "EU"});
  }

  TEST_CASE("a two-letter word is a country only if the country is known") {
    const Blocs blocs = two_blocs();

    CHECK(blocs.expand("NO", {code("NO")}) == std::set{code("NO")});
    CHECK(blocs.expand("EU", {code("NO")}) == std::set{code("DE"), code("FR")});
    CHECK_FALSE(blocs.expand("ZZ", {code("NO")}).has_value());
  }

  TEST_CASE("a word that is neither bloc nor country expands to nothing") {
    CHECK_FALSE(two_blocs().expand("EUROPA", {code("DE")}).has_value());
    CHECK(two_blocs().find("EUROPA") == nullptr);
  }
}

}  // namespace
}  // namespace isochrone::geo
