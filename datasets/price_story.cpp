#include "datasets/price_story.h"

#include <algorithm>

#include <fmt/format.h>

namespace isochrone::datasets {
namespace {

std::string scope_text(const PriceRow& row) {
  switch (row.scope) {
    case PriceScope::kSite:
      return "site price";
    case PriceScope::kProviderArea:
      return "provider's price in " + row.area;
    case PriceScope::kProviderList:
      break;
  }
  return "provider's list price";
}

/// "" if the row could hold at the site.
std::string misfit(const Catalog& catalog, const Site& site, const PriceRow& row) {
  if (row.tier != site.tier) {
    return fmt::format("of tier {}, the site is {}", to_text(row.tier),
                       to_text(site.tier));
  }
  if (row.scope == PriceScope::kProviderArea) {
    const auto* area = catalog.blocs.find(row.area);
    if (area == nullptr || !area->contains(site.country)) {
      return fmt::format("{} is not in {}", site.country.text(), row.area);
    }
  }
  return "";
}

const PriceRow* same_terms(const std::vector<const PriceRow*>& rows,
                           const PriceRow& row) {
  const auto found = std::ranges::find_if(rows, [&](const PriceRow* other) {
    return other->gpu == row.gpu && other->shape_gpus == row.shape_gpus &&
           other->term == row.term;
  });
  return found == rows.end() ? nullptr : *found;
}

std::string reason_for_none(const Site& site, bool seen_here, bool any_row) {
  if (site.gpu_status == "none_seen") return "its price list was read and shows no GPU";
  if (site.gpu_status == "unknown") return "no GPU was seen there";
  if (site.gpus.empty() && !site.price_gap.empty()) return site.price_gap;
  if (!seen_here) return "this GPU was not seen there";
  if (!site.price_gap.empty()) return site.price_gap;
  return any_row ? "no row holds here" : "its provider states no price for this GPU";
}

std::string off_by_default(const Site& site) {
  if (site.access == "dedicated") return "by contract only: give a quote";
  if (!site.restriction.empty()) return "restricted: " + site.restriction;
  return "";
}

}  // namespace

PriceStory price_story(const Catalog& catalog, SiteId id, GpuId gpu) {
  const Site& site = catalog.sites[id];
  PriceStory story{id, {}, "", off_by_default(site)};
  const std::vector<const PriceRow*> winners = catalog.prices_at(id);
  const bool seen_here =
      site.gpu_status == "seen" && std::ranges::find(site.gpus, gpu) != site.gpus.end();
  bool any_row = false;
  for (const PriceRow& row : catalog.prices) {
    if (row.provider != site.provider || row.gpu != gpu) continue;
    if (row.scope == PriceScope::kSite && row.site != id) continue;
    any_row = true;
    const PriceRow* winner = same_terms(winners, row);
    if (winner == &row) {
      const bool termless = row.term == Term::kReservedFrom;
      story.fates.push_back(
          {&row, true,
           scope_text(row) +
               (termless ? "; its term is not stated, so plans do not use it" : "")});
      continue;
    }
    std::string why = misfit(catalog, site, row);
    if (why.empty() && !seen_here) continue;  // told once, by none_because
    if (why.empty() && winner != nullptr) why = "beaten by the " + scope_text(*winner);
    story.fates.push_back({&row, false, scope_text(row) + ", " + why});
  }
  std::ranges::stable_sort(story.fates, [](const PriceFate& a, const PriceFate& b) {
    return std::tuple(!a.holds, a.row->shape_gpus, a.row->term) <
           std::tuple(!b.holds, b.row->shape_gpus, b.row->term);
  });
  const bool priced = std::ranges::any_of(story.fates, &PriceFate::holds);
  if (!priced) story.none_because = reason_for_none(site, seen_here, any_row);
  return story;
}

}  // namespace isochrone::datasets
