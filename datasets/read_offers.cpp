#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "datasets/catalog_reader.h"

namespace isochrone::datasets {
namespace {

template <class T, std::size_t N>
using Words = std::array<std::pair<std::string_view, T>, N>;

constexpr Words<Tier, 5> kTiers{{{"hyperscaler", Tier::kHyperscaler},
                                 {"neocloud", Tier::kNeocloud},
                                 {"cloud", Tier::kCloud},
                                 {"colo", Tier::kColo},
                                 {"marketplace", Tier::kMarketplace}}};
constexpr Words<SiteClass, 3> kClasses{{{"rentable", SiteClass::kRentable},
                                        {"cloud_region", SiteClass::kCloudRegion},
                                        {"colo", SiteClass::kColo}}};
constexpr Words<PriceScope, 3> kScopes{{{"site", PriceScope::kSite},
                                        {"provider_area", PriceScope::kProviderArea},
                                        {"provider_list", PriceScope::kProviderList}}};
constexpr Words<Term, 4> kTerms{{{"on_demand", Term::kOnDemand},
                                 {"reserved_1y", Term::kReserved1y},
                                 {"spot", Term::kSpot},
                                 {"reserved_from", Term::kReservedFrom}}};
constexpr std::string_view kGpuStatus[] = {"seen", "none_seen", "unknown"};
constexpr std::string_view kAccess[] = {"public", "dedicated"};
constexpr std::string_view kRestrictions[] = {"embargoed", "export_controlled",
                                              "partner_run"};

// Sites farther apart than this would not share a failure domain; 30 km is the rule of
// merging, and chains of neighbours reach a little farther.
constexpr double kLocationRadiusKm = 45;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

}  // namespace

void CatalogReader::read_gpus() {
  static constexpr std::string_view kFabrics[] = {"none", "nvlink", "nvlink_bridge",
                                                  "infinity_fabric"};
  Keys keys;
  each_row("gpus", [&](const Row& row) {
    Gpu gpu;
    gpu.id = row.required("gpu");
    keys.claim(row, "gpu", gpu.id);
    gpu.vendor = row.required("vendor");
    gpu.memory_gb = row.number("memory_gb", 1, 2000);
    gpu.memory_gbs = row.number("memory_gbs", 10, 100000);
    gpu.bf16_dense_tflops = row.number("bf16_dense_tflops", 1, 100000);
    gpu.fp8_dense_tflops = row.optional_number("fp8_dense_tflops", 1, 100000);
    gpu.fp64_tflops = row.number("fp64_tflops", 0.01, 10000);
    gpu.tdp_w = row.number("tdp_w", 10, 5000);
    gpu.graphics = row.flag("graphics");
    gpu.intra_fabric = row.word("intra_fabric", kFabrics);
    gpu.fabric_domain_gpus =
        static_cast<int>(row.integer("fabric_domain_gpus", 0, 1024));
    if ((gpu.intra_fabric == "none") != (gpu.fabric_domain_gpus == 0)) {
      row.fault("fabric_domain_gpus",
                "fabric_domain_gpus is 0 exactly where intra_fabric is none");
    }
    gpu.licence_note = row.text("licence_note");
    gpu.origin = row.origin();
    const std::string id = gpu.id;
    catalog_.gpu_index_.emplace(id, catalog_.gpus.push_back(std::move(gpu)).value);
  });
}

void CatalogReader::read_gpu_names() {
  const std::size_t before = faults_.all().size();
  Keys keys;
  each_row("gpu_names", [&](const Row& row) {
    const std::string& name = row.required("name");
    keys.claim(row, "name", name);
    std::vector<GpuId> gpus;
    if (row.required("gpu") != "none") {
      if (const auto gpu = row.refer("gpu", catalog_.gpu_index_)) {
        gpus.push_back(GpuId{*gpu});
      }
    }
    for (const std::string& other : row.list("also")) {
      if (const auto gpu = row.refer("also", other, catalog_.gpu_index_)) {
        gpus.push_back(GpuId{*gpu});
      }
    }
    gpu_names_.emplace(name, std::move(gpus));
  });
  gpu_names_sound_ = faults_.all().size() == before;
}

void CatalogReader::read_providers() {
  Keys keys;
  each_row("providers", [&](const Row& row) {
    const std::string& id = row.required("provider");
    keys.claim(row, "provider", id);
    Provider provider;
    provider.name = row.required("name");
    if (!row.empty("home_country")) provider.home = country(row, "home_country");
    provider_index_.emplace(id, static_cast<std::uint32_t>(provider_index_.size()));
    catalog_.providers.emplace(id, std::move(provider));
  });
}

void CatalogReader::read_certifications() {
  Keys keys;
  each_row("certifications", [&](const Row& row) {
    const std::string& provider = row.required("provider");
    const std::string& id = row.required("certification");
    keys.claim(row, "certification", provider + " " + id);
    (void)row.refer("provider", provider_index_);
    if (id != lower(id)) row.fault("certification", "ids are lower-case");
    catalog_.certifications[provider].insert(id);
  });
}

Site CatalogReader::site_from(const Row& row) {
  Site site;
  site.id = row.required("site");
  const auto slash = site.id.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == site.id.size()) {
    row.fault("site", "a site is written provider/region");
  } else {
    site.provider = site.id.substr(0, slash);
    site.region_code = site.id.substr(slash + 1);
    (void)row.refer("site", site.provider, provider_index_);
  }
  site.tier = row.one_of<Tier>("tier", kTiers);
  site.site_class = row.one_of<SiteClass>("class", kClasses);
  site.country = country(row, "country");
  site.at = row.coordinates();
  if (const auto index = row.refer("location", location_index_)) {
    site.location = LocationId{*index};
    const Location& location = catalog_.locations[site.location];
    if (location.country != site.country) {
      row.fault("country",
                fmt::format("country is {}, but location {} lies in {}",
                            row.text("country"), location.id, location.country.text()));
    }
    const double apart = geo::great_circle_km(location.at, site.at);
    if (locations_sound_ && apart > kLocationRadiusKm) {
      row.fault("lat", fmt::format("site lies {:.0f} km from its location {}", apart,
                                   location.id));
    }
  }
  site.gpu_status = row.word("gpu_status", kGpuStatus);
  site.access = row.word("access", kAccess);
  site.restriction = row.text("restriction");
  for (const std::string& part : row.list("restriction")) {
    if (std::ranges::find(kRestrictions, part) == std::end(kRestrictions)) {
      row.unknown("restriction", part, {});
    }
  }
  site.price_gap = row.text("price_gap");
  site.origin = row.origin();
  return site;
}

void CatalogReader::read_sites() {
  std::vector<std::string> names;
  for (const auto& entry : gpu_names_) names.push_back(entry.first);
  Keys keys;
  each_row("sites", [&](const Row& row) {
    Site site = site_from(row);
    keys.claim(row, "site", site.id);
    for (const std::string& name : row.list("gpu_names")) {
      const auto gpus = gpu_names_.find(name);
      if (gpus == gpu_names_.end()) {
        row.unknown("gpu_names", name, names);
        continue;
      }
      site.gpus.insert(site.gpus.end(), gpus->second.begin(), gpus->second.end());
    }
    std::ranges::sort(site.gpus);
    site.gpus.erase(std::unique(site.gpus.begin(), site.gpus.end()), site.gpus.end());
    const bool seen = site.gpu_status == "seen";
    // Names beside an unknown status are recalled: shown, but nothing is sold on them.
    if (seen && row.empty("gpu_names")) {
      row.fault("gpu_names", "gpu_names is empty, but gpu_status is seen");
    }
    if (site.gpu_status == "none_seen" && !row.empty("gpu_names")) {
      row.fault("gpu_names", "gpu_names names GPUs, but gpu_status is none_seen");
    }
    if (seen != (site.site_class == SiteClass::kRentable)) {
      row.fault("class", "class is rentable exactly where gpu_status is seen");
    }
    const std::string id = site.id;
    catalog_.site_index_.emplace(id, catalog_.sites.push_back(std::move(site)).value);
  });
}

PriceRow CatalogReader::price_from(const Row& row) {
  PriceRow price;
  price.provider = row.required("provider");
  (void)row.refer("provider", provider_index_);
  price.tier = row.one_of<Tier>("tier", kTiers);
  price.scope = row.one_of<PriceScope>("scope", kScopes);
  const auto gpu = row.refer("gpu", catalog_.gpu_index_);
  if (gpu) price.gpu = GpuId{*gpu};
  price.shape_gpus = static_cast<int>(row.integer("shape_gpus", 1, 128));
  price.term = row.one_of<Term>("term", kTerms);
  // The low end refuses zero: a price that is not known has no row.
  price.usd_per_gpu_hour = usd_per_hour(row.number("usd_per_gpu_hour", 0.01, 200));
  price.as_of = row.text("as_of");
  price.basis = row.one_of<Basis>("basis", basis_words());
  price.source = row.text("source");
  if ((price.scope == PriceScope::kSite) == row.empty("site")) {
    row.fault("site", "site is given exactly where scope is site");
  }
  if ((price.scope == PriceScope::kProviderArea) == row.empty("area")) {
    row.fault("area", "area is given exactly where scope is provider_area");
  }
  if (!row.empty("area")) {
    price.area = row.text("area");
    (void)row.refer("area", bloc_index_);
  }
  if (row.empty("site")) return price;
  if (const auto index = row.refer("site", catalog_.site_index_)) {
    price.site = SiteId{*index};
    const Site& site = catalog_.sites[*price.site];
    if (site.provider != price.provider) {
      row.fault("site", fmt::format("site {} belongs to {}, not to {}", site.id,
                                    site.provider, price.provider));
    }
    if (gpu && gpu_names_sound_ &&
        std::ranges::find(site.gpus, price.gpu) == site.gpus.end()) {
      row.fault("gpu", fmt::format("no GPU name of site {} covers {}", site.id,
                                   row.text("gpu")));
    }
  }
  return price;
}

void CatalogReader::read_prices() {
  Keys keys;
  each_row("gpu_prices", [&](const Row& row) {
    keys.claim(row, "gpu",
               fmt::format("{} {} {}{} {} x{} {}", row.text("provider"),
                           row.text("tier"), row.text("site"), row.text("area"),
                           row.text("gpu"), row.text("shape_gpus"), row.text("term")));
    catalog_.prices.push_back(price_from(row));
  });
  if (faults_.has_errors()) return;  // this judgement rests on whole tables
  each_row("sites", [&](const Row& row) {
    const SiteId id = *catalog_.site(row.text("site"));
    if (catalog_.sites[id].gpu_status != "seen") return;
    const bool priced = !catalog_.prices_at(id).empty();
    if (priced != row.empty("price_gap")) {
      row.fault(
          "price_gap",
          priced ? "price_gap is given, but gpu_prices.csv has rows for this site"
                 : "price_gap is empty, but no row of gpu_prices.csv fits this site");
    }
  });
}

void CatalogReader::check_applies_to(const Row& row) {
  // Upper-case words are blocs; anything else is a glob over region codes.
  for (const std::string& part : row.list("applies_to")) {
    if (part == lower(part)) continue;
    (void)row.refer("applies_to", part, bloc_index_);
  }
}

void CatalogReader::read_egress() {
  static constexpr std::string_view kDestinations[] = {"internet", "inter_region"};
  Keys keys;
  each_row("egress", [&](const Row& row) {
    Catalog::EgressRow egress;
    egress.provider = row.required("provider");
    (void)row.refer("provider", provider_index_);
    egress.product = row.text("product");
    egress.applies_to = row.required("applies_to");
    check_applies_to(row);
    egress.destination = row.word("destination", kDestinations);
    egress.destination_area = row.required("destination_area");
    egress.tier.from_gb = row.number("from_gb", 0, 1e9);
    egress.tier.to_gb = row.optional_number("to_gb", 0, 1e9);
    if (egress.tier.to_gb && *egress.tier.to_gb <= egress.tier.from_gb) {
      row.fault("to_gb", "to_gb must be above from_gb");
    }
    const auto price = row.optional_number("usd_per_gb", 0, 10);
    egress.known = price.has_value();
    egress.tier.usd_per_gb = price.value_or(0);
    egress.as_of = row.text("as_of");
    egress.source = row.text("source");
    if (egress.known == (row.text("basis") == "unknown")) {
      row.fault("usd_per_gb", "usd_per_gb is empty exactly where basis is unknown");
    }
    keys.claim(row, "from_gb",
               fmt::format("{} {} {} {} {} from {}", egress.provider, egress.product,
                           egress.applies_to, egress.destination,
                           egress.destination_area, row.text("from_gb")));
    catalog_.egress_rows.push_back(std::move(egress));
  });
}

}  // namespace isochrone::datasets
