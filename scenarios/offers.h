#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenarios/candidates.h"

namespace isochrone::scenarios {

/// Where prices may hold: a site of the catalog or one that the scenario adds.
struct PricedPlace {
  std::string id;
  std::string provider;  ///< as the price tables know it: "colo" for every colo site
  datasets::Tier tier = datasets::Tier::kCloud;
  geo::CountryCode country;
  const datasets::Site* site = nullptr;    ///< nullptr for an added one
  const spec::AddedSite* added = nullptr;  ///< nullptr for one of the catalog
};

/// Offers of one place, and why others are not among them.
struct ResolvedOffers {
  std::vector<Offer> offers;           ///< sorted by (gpu, shape, term)
  std::map<std::string, int> refused;  ///< reason -> offers
  std::vector<std::string> notes;      ///< what was assumed or left out here
};

/// The price list of one place: quote, then site price, provider area, provider list;
/// then an assumed discount where a term has no known price; own hardware at colocation
/// sites; kept hardware. Each price belongs to its shape. Lists and areas only reach
/// places where the GPU was seen. Left out are terms that the scenario does not allow,
/// what cannot be ready in time, and stock below one shape. O(prices).
ResolvedOffers offers_at(const PricedPlace& place, const Scenario& scenario,
                         const datasets::Catalog& catalog);

}  // namespace isochrone::scenarios
