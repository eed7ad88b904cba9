#pragma once

#include <optional>
#include <set>
#include <string>

#include "scenarios/countries.h"
#include "scenarios/offers.h"

namespace isochrone::scenarios {

/// What `sites` of a scenario says of a place before any price is looked at.
class SiteFilter {
 public:
  SiteFilter(const Scenario& scenario, const datasets::Catalog& catalog);

  /// Why the place is no candidate, "" if it may be one. Class and tier bind places of
  /// the catalog only: what a scenario adds is wanted. Access by contract only is
  /// lifted by a quote for the site, which is such a contract.
  std::string refusal(const PricedPlace& place) const;

 private:
  std::string refused_by_name(const PricedPlace& place) const;
  std::string refused_by_kind(const datasets::Site& site) const;
  std::string refused_by_country(const PricedPlace& place) const;
  std::string refused_by_provider(const PricedPlace& place) const;
  bool quoted(const std::string& site) const;

  const Scenario& scenario_;
  const datasets::Catalog& catalog_;
  CountrySet allowed_countries_;
  CountrySet denied_countries_;
};

}  // namespace isochrone::scenarios
