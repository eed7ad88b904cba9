#include "datasets/audit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "datasets/known_cities.h"

namespace isochrone::datasets {
namespace {

constexpr double kNearKm = 15;

class PlaceCheck {
 public:
  explicit PlaceCheck(const CountryOutlines& outlines) : outlines_(outlines) {
    result_.promise = "every place lies in its country or within 15 km of it";
    result_.remark =
        "metros, locations, sites, hubs and ends of measurements against Natural Earth "
        "1:10m; lines are thinned to 4.5 km";
  }

  void look(const std::string& what, const geo::Endpoint& place) {
    if (!seen_.insert({place.name, place.at}).second) return;
    ++result_.looked_at;
    const double km = outlines_.km_outside(place.country, place.at);
    if (km <= kNearKm) return;
    result_.breaches.push_back(fmt::format("{} {} lies {:.0f} km outside {}", what,
                                           place.name, km, place.country.text()));
  }

  AuditedPromise result() { return std::move(result_); }

 private:
  const CountryOutlines& outlines_;
  std::set<std::pair<std::string, geo::Coordinates>> seen_;
  AuditedPromise result_;
};

AuditedPromise places(const Catalog& catalog, const CountryOutlines& outlines) {
  PlaceCheck check(outlines);
  for (const Metro& m : catalog.metros) check.look("metro", {m.id, m.country, m.at});
  for (const Location& l : catalog.locations) {
    check.look("location", {l.id, l.country, l.at});
  }
  for (const Site& s : catalog.sites) check.look("site", {s.id, s.country, s.at});
  for (const geo::Hub& h : catalog.network.hubs) {
    check.look("hub", {h.name, h.country, h.at});
  }
  for (const geo::MeasuredRtt& pair : catalog.network.measured) {
    check.look("measured place", pair.from);
    check.look("measured place", pair.to);
  }
  return check.result();
}

AuditedPromise zones(const Catalog& catalog) {
  AuditedPromise result{"cities keep the time zone that is known for them",
                        0,
                        "listed by hand, with the cases that a border or a rule of the "
                        "clock makes hard",
                        {}};
  for (const KnownCity& city : kKnownCities) {
    ++result.looked_at;
    const auto metro = std::ranges::find_if(catalog.metros, [&](const Metro& m) {
      return m.name == city.name && m.country.text() == city.country;
    });
    if (metro == catalog.metros.end()) {
      result.breaches.push_back(
          fmt::format("{} ({}) is no metro", city.name, city.country));
    } else if (metro->time_zone != city.zone) {
      result.breaches.push_back(
          fmt::format("{} keeps {}, not {}", metro->id, city.zone, metro->time_zone));
    }
  }
  return result;
}

AuditedPromise weights(const Catalog& catalog) {
  // Populations of metros date from about 2018; small islands have since lost people.
  constexpr double kSmallCountry = 100'000;
  constexpr double kMostOfPopulation = 1.1;
  AuditedPromise result{
      "metro weights are sane",
      0,
      "sums within the population (countries above 100,000), every "
      "country with users has a metro, and known shares of users hold "
      "(New York 5 to 8 %)",
      {}};
  std::map<geo::CountryCode, double> sums;
  for (const Metro& metro : catalog.metros) {
    sums[metro.country] += metro.weight_population;
  }
  for (const Country& country : catalog.countries) {
    ++result.looked_at;
    const double sum = sums[country.code];
    const double most = kMostOfPopulation * country.population;
    if (sum > most && country.population > kSmallCountry) {
      result.breaches.push_back(fmt::format("metros of {} weigh {:.0f}, it has {:.0f}",
                                            country.code.text(), sum,
                                            country.population));
    }
    // Diego Garcia: a base, without a town in the source.
    if (sum <= 0 && country.internet_users > 0 && country.code.text() != "IO") {
      result.breaches.push_back(country.code.text() + " has users and no metro");
    }
  }
  for (const KnownShare& known : kKnownShares) {
    ++result.looked_at;
    const auto id = catalog.metro(known.metro);
    const double share =
        id ? catalog.metros[*id].weight_population / sums[catalog.metros[*id].country]
           : 0;
    if (share < known.low || share > known.high) {
      result.breaches.push_back(
          fmt::format("{} weighs {:.1f} % of its country, {:g} to {:g} % are known",
                      known.metro, 100 * share, 100 * known.low, 100 * known.high));
    }
  }
  return result;
}

AuditedPromise offers(const Catalog& catalog) {
  AuditedPromise result{
      "every rentable site has a price or a stated reason", 0, "", {}};
  std::size_t priced = 0;
  for (std::uint32_t i = 0; i < catalog.sites.size(); ++i) {
    const Site& site = catalog.sites[SiteId{i}];
    if (site.site_class != SiteClass::kRentable) continue;
    ++result.looked_at;
    const bool has_price = !catalog.prices_at(SiteId{i}).empty();
    priced += has_price;
    if (has_price == site.price_gap.empty()) continue;
    result.breaches.push_back(site.id + (has_price ? " is priced, yet says why not"
                                                   : " has neither price nor reason"));
  }
  result.remark = fmt::format("{} priced, the others say why not", priced);
  return result;
}

AuditedPromise dates(const Catalog& catalog) {
  AuditedPromise result{"no price is without a date or of zero",
                        0,
                        "GPU-hours and egress; a year alone: the day is not known",
                        {}};
  for (const PriceRow& row : catalog.prices) {
    ++result.looked_at;
    if (!row.as_of.empty() && row.usd_per_gpu_hour.count() > 0) continue;
    result.breaches.push_back(fmt::format("{} {} x{}", row.provider,
                                          catalog.gpus[row.gpu].id, row.shape_gpus));
  }
  for (const Catalog::EgressRow& row : catalog.egress_rows) {
    ++result.looked_at;
    if (row.known && row.as_of.empty()) {
      result.breaches.push_back(
          fmt::format("egress of {} from {:g} GB", row.provider, row.tier.from_gb));
    }
  }
  return result;
}

/// Bytes that weights and cache take against the bytes that the GPUs have. Sizes of
/// memory are binary: an "80 GB" card holds 80 x 2^30.
AuditedPromise profiles(const Catalog& catalog) {
  constexpr double kGib = 1.073741824;
  AuditedPromise result{"every profile has a basis, a band, and fits its memory",
                        0,
                        "weights and KV cache within the GPUs' memory",
                        {}};
  for (const StepProfile& profile : catalog.profiles) {
    ++result.looked_at;
    if (profile.basis == Basis::kUnknown || profile.source.empty() ||
        profile.error_pct <= 0) {
      result.breaches.push_back(profile.id + " lacks basis, source or error band");
    }
    const Model& model = catalog.models[profile.model];
    const double per_parameter = profile.precision == "fp8" ? 1 : 2;
    const double weights_gb = model.params_total_b * per_parameter;
    // An engine in fp8 may keep its cache in 8 bits too.
    const double cache_gb =
        static_cast<double>(profile.kv_blocks * profile.kv_block_tokens) *
        static_cast<double>(model.kv_bytes_per_token_bf16) * (per_parameter / 2) / 1e9;
    const double memory_gb =
        catalog.gpus[profile.gpu].memory_gb * kGib * profile.tensor_parallel;
    if (weights_gb + cache_gb > memory_gb) {
      result.breaches.push_back(
          fmt::format("{}: weights {:.0f} GB and cache {:.0f} GB exceed {:.0f} GB",
                      profile.id, weights_gb, cache_gb, memory_gb));
    }
  }
  return result;
}

std::string breach_of(const ResidencyRow& row) {
  if (row.source.empty()) return "cites nothing";
  if (row.outcome == "free" && !row.needs.empty())
    return "is free, yet needs something";
  if (row.outcome == "conditional" && row.needs.empty()) return "states no condition";
  if (row.outcome == "local_only" && row.allow_any) return "is local, yet admits all";
  if (row.outcome == "local_copy" && row.stores.empty()) return "stores nowhere";
  return "";
}

AuditedPromise law_rows(const Catalog& catalog) {
  AuditedPromise result{"each rule of law says what its outcome means",
                        0,
                        "free needs nothing, conditional needs something, local admits "
                        "a list, a copy is stored somewhere",
                        {}};
  for (const ResidencyRow& row : catalog.residency) {
    ++result.looked_at;
    const std::string breach = breach_of(row);
    if (breach.empty()) continue;
    result.breaches.push_back(
        fmt::format("residency.csv:{}: {} {}", row.line, row.regime, breach));
  }
  return result;
}

AuditedPromise rules(const Catalog& catalog) {
  AuditedPromise result{
      "every metro has a rule or is unknown, never free by silence", 0, "", {}};
  std::set<geo::CountryCode> ruled;
  for (const ResidencyRow& row : catalog.residency) {
    if (row.note_only || row.data_class != "general") continue;
    ruled.insert(row.countries.begin(), row.countries.end());
  }
  std::size_t with_rule = 0;
  std::set<geo::CountryCode> unknown;
  for (const Metro& metro : catalog.metros) {
    ++result.looked_at;
    const geo::CountryCode law = catalog.law_of(metro.country);
    const bool has_rule = ruled.contains(law);
    with_rule += has_rule;
    if (!has_rule) unknown.insert(metro.country);
    if (catalog.law_of(law) != law) {
      result.breaches.push_back(fmt::format("{} follows {}, which follows another",
                                            metro.country.text(), law.text()));
    }
  }
  for (const ResidencyRow& row : catalog.residency) {
    const bool silence = row.regime.find("no general transfer rule") == 0;
    if (silence && !row.note_only) {
      result.breaches.push_back(
          fmt::format("residency.csv:{}: the absence of a rule is no rule", row.line));
    }
  }
  result.remark = fmt::format("{} metros have one, {} in {} countries are unknown",
                              with_rule, result.looked_at - with_rule, unknown.size());
  return result;
}

}  // namespace

std::vector<AuditedPromise> audit(const Catalog& catalog,
                                  const CountryOutlines& outlines) {
  return {places(catalog, outlines), zones(catalog), weights(catalog),
          offers(catalog),           dates(catalog), profiles(catalog),
          law_rows(catalog),         rules(catalog)};
}

}  // namespace isochrone::datasets
