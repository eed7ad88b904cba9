#include "scenarios/site_filter.h"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

namespace isochrone::scenarios {
namespace {

template <class Words>
bool lists(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// `*` also spans slashes, so that `*/us-east*` and `aws/*` both do what they say.
template <class Globs>
bool matches(const Globs& globs, const std::string& id) {
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    return fnmatch(glob.c_str(), id.c_str(), 0) == 0;
  });
}

}  // namespace

SiteFilter::SiteFilter(const Scenario& scenario, const datasets::Catalog& catalog)
    : scenario_(scenario),
      catalog_(catalog),
      allowed_countries_(expand(scenario.spec.sites().countries().allow(), catalog)),
      denied_countries_(expand(scenario.spec.sites().countries().deny(), catalog)) {}

std::string SiteFilter::refusal(const PricedPlace& place) const {
  std::string why = refused_by_name(place);
  if (why.empty() && place.site) why = refused_by_kind(*place.site);
  if (why.empty()) why = refused_by_provider(place);
  if (why.empty()) why = refused_by_country(place);
  return why;
}

std::string SiteFilter::refused_by_name(const PricedPlace& place) const {
  const spec::Sites& sites = scenario_.spec.sites();
  if (!sites.only().empty() && !matches(sites.only(), place.id)) {
    return "not in sites.only";
  }
  return matches(sites.forbid(), place.id) ? "in sites.forbid" : "";
}

std::string SiteFilter::refused_by_kind(const datasets::Site& site) const {
  const spec::Sites& sites = scenario_.spec.sites();
  const std::string class_name = to_text(site.site_class);
  const bool class_asked = sites.class_().empty() ? class_name == "rentable"
                                                  : lists(sites.class_(), class_name);
  if (!class_asked) return "class " + class_name + " not in sites.class";
  const std::string tier = to_text(site.tier);
  const bool tier_asked =
      sites.tiers().empty() ? tier != "marketplace" : lists(sites.tiers(), tier);
  if (!tier_asked) return "tier " + tier + " not in sites.tiers";
  if (site.access == "dedicated" && !quoted(site.id)) {
    return "access by contract only, and no quote is given";
  }
  return "";
}

std::string SiteFilter::refused_by_provider(const PricedPlace& place) const {
  const spec::Sites& sites = scenario_.spec.sites();
  const spec::AllowDeny& providers = sites.providers();
  const auto named = [&](const auto& list) {
    return lists(list, place.provider) || lists(list, place.id);
  };
  if (!providers.allow().empty() && !named(providers.allow())) {
    return "provider not in sites.providers.allow";
  }
  if (named(providers.deny())) return "provider in sites.providers.deny";
  const auto held = catalog_.certifications.find(place.provider);
  for (const std::string& needed : sites.certifications()) {
    if (held == catalog_.certifications.end() || !held->second.contains(needed)) {
      return "certification " + needed + " not known to be held";
    }
  }
  return "";
}

std::string SiteFilter::refused_by_country(const PricedPlace& place) const {
  const spec::AllowDenyPlaces& countries = scenario_.spec.sites().countries();
  if (!countries.allow().empty() && !allowed_countries_.contains(place.country)) {
    return "country not in sites.countries.allow";
  }
  if (denied_countries_.contains(place.country)) {
    return "country in sites.countries.deny";
  }
  if (named_in_allow(place.country, scenario_)) return "";
  const std::string why = barred(place.country, scenario_, catalog_);
  if (why == "embargoed") return "embargoed country";
  if (!place.site) return "";
  const std::string& restriction = place.site->restriction;
  if (restriction.find("partner_run") != std::string::npos) return "run by a partner";
  if (!restriction.empty()) return "restricted: " + restriction;
  return "";
}

bool SiteFilter::quoted(const std::string& site) const {
  const spec::Sites& sites = scenario_.spec.sites();
  return std::ranges::any_of(sites.override(),
                             [&](const spec::Override& line) {
                               return line.site() == site &&
                                      line.has_usd_per_gpu_hour();
                             }) ||
         std::ranges::any_of(sites.keep(), [&](const spec::Keep& estate) {
           return estate.site() == site;
         });
}

}  // namespace isochrone::scenarios
