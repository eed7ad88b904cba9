#pragma once

#include <string>
#include <vector>

#include "datasets/catalog.h"

namespace isochrone::datasets {

/// A price row that speaks of a site's provider and GPU, and what became of it there.
struct PriceFate {
  const PriceRow* row = nullptr;
  bool holds = false;
  std::string why;  ///< "site price", or why it does not hold
};

/// Why a GPU costs what it does at a site, or why it has no price there.
struct PriceStory {
  SiteId site;
  std::vector<PriceFate> fates;  ///< those that hold first, then by shape and term
  std::string none_because;      ///< "" if a price holds
  std::string off_because;       ///< why plans leave the site out unless told; or ""
};

/// Tells the story of one GPU at one site from the rule of `Catalog::prices_at`. Rows
/// of other sites of the provider are left out: they say nothing here.
PriceStory price_story(const Catalog& catalog, SiteId site, GpuId gpu);

}  // namespace isochrone::datasets
