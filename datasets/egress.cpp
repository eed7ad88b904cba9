// What a site pays for traffic to the Internet.
//
// Providers publish tiers by volume for groups of regions, and the groups overlap: a
// free allowance for all regions, say, and paid tiers by continent. So the tiers of a
// site are put together band by band: the volumes where any matching row begins or ends
// cut the axis into bands, and in each band the narrowest row that covers it decides
// (region code before bloc, smaller bloc before larger, `*` last).
//
// A band that no known row covers is never free. Below and between known tiers it costs
// what the next known tier costs, above the last one what the last one costs (published
// tiers fall with volume, so both err on the dear side). Where the narrowest row says
// that nothing is known, or no row is known at all, the dearest known tier stands in:
// the provider's own if it has any, else anyone's; the result is flagged.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "datasets/catalog.h"

namespace isochrone::datasets {
namespace {

constexpr std::size_t kNoMatch = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kAnywhere = kNoMatch - 1;
constexpr double kForever = std::numeric_limits<double>::infinity();

/// `*` stands for any run of characters.
bool glob_matches(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (text.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t from = star; from <= text.size(); ++from) {
    if (glob_matches(rest, text.substr(from))) return true;
  }
  return false;
}

/// How wide the part of `applies_to` is that holds the site; smaller is narrower.
std::size_t breadth(std::string_view applies_to, const Site& site,
                    const geo::Blocs& blocs) {
  std::size_t best = kNoMatch;
  while (true) {
    const auto bar = applies_to.find('|');
    const std::string_view part = applies_to.substr(0, bar);
    if (part == "*") {
      best = std::min(best, kAnywhere);
    } else if (const auto* members = blocs.find(part)) {
      if (members->contains(site.country)) best = std::min(best, members->size());
    } else if (glob_matches(part, site.region_code)) {
      best = 0;
    }
    if (bar == std::string_view::npos) return best;
    applies_to.remove_prefix(bar + 1);
  }
}

/// Traffic of a workload's users leaves over the public Internet to anywhere. Google's
/// `standard` network tier exists in some regions only; `premium` is the default of
/// every region, so a plan that costs with it can be bought anywhere. Rows for one
/// destination country are left out: a site's price is one list.
bool counts(const Catalog::EgressRow& row) {
  return row.destination == "internet" && row.destination_area == "*" &&
         row.product != "standard";
}

double dearest(const Catalog& catalog, std::string_view provider) {
  double own = -1;
  double any = 0;
  for (const Catalog::EgressRow& row : catalog.egress_rows) {
    if (!row.known || !counts(row)) continue;
    any = std::max(any, row.tier.usd_per_gb);
    if (row.provider == provider) own = std::max(own, row.tier.usd_per_gb);
  }
  return own > 0 ? own : any;
}

struct Match {
  const Catalog::EgressRow* row = nullptr;
  std::size_t breadth = kNoMatch;
};

const Catalog::EgressRow* narrowest_at(const std::vector<Match>& matches,
                                       double volume_gb) {
  Match best;
  for (const Match& match : matches) {
    const EgressTier& tier = match.row->tier;
    const bool covers =
        volume_gb >= tier.from_gb && volume_gb < tier.to_gb.value_or(kForever);
    if (covers && match.breadth < best.breadth) best = match;
  }
  return best.row;
}

/// Fills bands without a row from the next known one, or from the last.
void close_gaps(std::vector<EgressTier>& bands, const std::vector<bool>& known) {
  for (std::size_t i = bands.size(); i-- > 0;) {
    if (!known[i] && i + 1 < bands.size()) {
      bands[i].usd_per_gb = bands[i + 1].usd_per_gb;
    } else if (!known[i] && i > 0) {
      bands[i].usd_per_gb = bands[i - 1].usd_per_gb;
    }
  }
}

/// Notes where a price was seen: the oldest date, each source once.
void add_origin(const Catalog::EgressRow& row, EgressPrice& price) {
  if (price.as_of.empty() || row.as_of < price.as_of) price.as_of = row.as_of;
  if (price.source.find(row.source) != std::string::npos) return;
  if (!price.source.empty()) price.source += "; ";
  price.source += row.source;
}

std::vector<EgressTier> merge_equal(const std::vector<EgressTier>& bands) {
  std::vector<EgressTier> merged;
  for (const EgressTier& band : bands) {
    if (!merged.empty() && merged.back().usd_per_gb == band.usd_per_gb) {
      merged.back().to_gb = band.to_gb;
    } else {
      merged.push_back(band);
    }
  }
  return merged;
}

EgressPrice assumed(const Catalog& catalog, const Site& site) {
  EgressPrice price;
  price.tiers = {{0, std::nullopt, dearest(catalog, site.provider)}};
  price.assumed_dearest = true;
  price.source = "no price known, the dearest known tier";
  return price;
}

}  // namespace

EgressPrice Catalog::egress(const Site& site) const {
  std::vector<Match> matches;
  std::vector<double> edges{0};
  for (const EgressRow& row : egress_rows) {
    if (row.provider != site.provider || !counts(row)) continue;
    const std::size_t width = breadth(row.applies_to, site, blocs);
    if (width == kNoMatch) continue;
    matches.push_back({&row, width});
    edges.push_back(row.tier.from_gb);
    if (row.tier.to_gb) edges.push_back(*row.tier.to_gb);
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  EgressPrice price;
  std::vector<EgressTier> bands;
  std::vector<bool> known;
  bool nothing_known = true;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const EgressRow* row = narrowest_at(matches, edges[i]);
    EgressTier band{edges[i], std::nullopt, 0};
    if (i + 1 < edges.size()) band.to_gb = edges[i + 1];
    if (row != nullptr && !row->known) return assumed(*this, site);
    if (row != nullptr) {
      band.usd_per_gb = row->tier.usd_per_gb;
      add_origin(*row, price);
    }
    known.push_back(row != nullptr);
    nothing_known = nothing_known && row == nullptr;
    bands.push_back(band);
  }
  if (nothing_known) return assumed(*this, site);
  close_gaps(bands, known);
  price.tiers = merge_equal(bands);
  return price;
}

}  // namespace isochrone::datasets
