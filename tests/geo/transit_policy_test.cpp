#include "geo/transit_policy.h"

#include <doctest/doctest.h>

namespace isochrone::geo {
namespace {

using Scope = TransitRule::Scope;

CountryCode code(const char* text) { return *CountryCode::parse(text); }

const std::vector<Hub> kHubs{{"Aa", code("AA"), {0, 0}},
                             {"Ab", code("AA"), {0, 1}},
                             {"Bb", code("BB"), {0, 2}},
                             {"Cc", code("CC"), {0, 3}}};

// Aa-Ab within AA by land, Ab-Bb and Bb-Cc across borders by land, Aa-Bb by cable.
std::vector<Link> four_links() {
  return {{"land", "Aa", "Ab", 200, false, {}, 1},
          {"land", "Ab", "Bb", 200, false, {}, 1},
          {"land", "Bb", "Cc", 200, false, {}, 1},
          {"Sea One", "Aa", "Bb", 300, true, {}, 1}};
}

std::vector<double> weights_under(const std::vector<TransitRule>& rules) {
  std::vector<Link> links = four_links();
  apply_transit_policy(rules, kHubs, links);
  std::vector<double> weights;
  for (const Link& link : links) weights.push_back(link.policy_weight);
  return weights;
}

TEST_SUITE("geo/transit_policy") {
  TEST_CASE("a country rule weighs all its land links and no cable") {
    CHECK(weights_under({{Scope::kCountry, "AA", "", 3}}) ==
          std::vector<double>{3, 3, 1, 1});
  }

  TEST_CASE("of two countries the heavier one counts") {
    CHECK(weights_under(
              {{Scope::kCountry, "BB", "", 2}, {Scope::kCountry, "AA", "", 3}}) ==
          std::vector<double>{3, 3, 2, 1});
  }

  TEST_CASE("a border rule overrules its countries, in either order of the two") {
    CHECK(weights_under(
              {{Scope::kCountry, "AA", "", 3}, {Scope::kBorder, "BB", "AA", 1.5}}) ==
          std::vector<double>{3, 1.5, 1, 1});
  }

  TEST_CASE("a link rule overrules all others") {
    CHECK(weights_under({{Scope::kCable, "Sea One", "", 4},
                         {Scope::kLink, "Bb", "Aa", 2},
                         {Scope::kCountry, "AA", "", 3},
                         {Scope::kLink, "Aa", "Ab", 1}}) ==
          std::vector<double>{1, 3, 1, 2});
  }

  TEST_CASE("rules that name no link are told, overruled ones are not") {
    const std::vector<TransitRule> rules{{Scope::kCable, "Sea Two", "", 4},
                                         {Scope::kCable, "Sea One", "", 4},
                                         {Scope::kLink, "Aa", "Bb", 2},
                                         {Scope::kBorder, "AA", "CC", 2}};
    std::vector<Link> links = four_links();

    CHECK(apply_transit_policy(rules, kHubs, links) == std::vector<std::size_t>{0, 3});
  }
}

}  // namespace
}  // namespace isochrone::geo
