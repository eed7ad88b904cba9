#include "datasets/catalog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/diagnostics.h"
#include "datasets/catalog_reader.h"

namespace isochrone::datasets {
namespace {

using Entry = std::pair<std::string_view, Basis>;
constexpr Entry kBasisWords[] = {
    {"seen", Basis::kSeen},           {"measured", Basis::kMeasured},
    {"published", Basis::kPublished}, {"recalled", Basis::kRecalled},
    {"estimated", Basis::kEstimated}, {"claim", Basis::kClaim},
    {"unknown", Basis::kUnknown},
};

template <class IdType, class Index>
std::optional<IdType> find_id(const Index& index, std::string_view name) {
  const auto it = index.find(name);
  if (it == index.end()) return std::nullopt;
  return IdType{it->second};
}

}  // namespace

std::span<const std::pair<std::string_view, Basis>> basis_words() {
  return kBasisWords;
}

std::string to_text(Basis basis) {
  for (const Entry& entry : kBasisWords) {
    if (entry.second == basis) return std::string(entry.first);
  }
  INVARIANT(false, "a basis without a word");
}

std::string to_text(SiteClass value) {
  switch (value) {
    case SiteClass::kRentable:
      return "rentable";
    case SiteClass::kCloudRegion:
      return "cloud_region";
    case SiteClass::kColo:
      return "colo";
  }
  INVARIANT(false, "a site class without a word");
}

std::string to_text(Tier value) {
  switch (value) {
    case Tier::kHyperscaler:
      return "hyperscaler";
    case Tier::kNeocloud:
      return "neocloud";
    case Tier::kCloud:
      return "cloud";
    case Tier::kColo:
      return "colo";
    case Tier::kMarketplace:
      return "marketplace";
  }
  INVARIANT(false, "a tier without a word");
}

std::string to_text(Term term) {
  switch (term) {
    case Term::kOnDemand:
      return "on_demand";
    case Term::kReserved1y:
      return "reserved_1y";
    case Term::kSpot:
      return "spot";
    case Term::kReservedFrom:
      return "reserved_from";
  }
  INVARIANT(false, "a term without a word");
}

Catalog Catalog::load(const std::string& folder) {
  return CatalogReader(folder).read();
}

geo::CountryCode Catalog::law_of(geo::CountryCode country) const {
  const auto follows = territories.find(country);
  if (follows == territories.end()) return country;
  return geo::CountryCode::parse(follows->second).value_or(country);  // own, unknown
}

std::string Catalog::continent_of(geo::CountryCode country) const {
  for (const char* name :
       {"AFRICA", "ASIA", "EUROPE", "NORTH_AMERICA", "OCEANIA", "SOUTH_AMERICA"}) {
    const auto* members = blocs.find(name);
    if (members != nullptr && members->contains(country)) return name;
  }
  return "ELSEWHERE";
}

std::optional<CountryId> Catalog::country(geo::CountryCode code) const {
  return find_id<CountryId>(country_index_, code.text());
}

std::optional<MetroId> Catalog::metro(std::string_view id) const {
  return find_id<MetroId>(metro_index_, id);
}

std::optional<SiteId> Catalog::site(std::string_view id) const {
  return find_id<SiteId>(site_index_, id);
}

std::optional<GpuId> Catalog::gpu(std::string_view id) const {
  return find_id<GpuId>(gpu_index_, id);
}

std::optional<ModelId> Catalog::model(std::string_view id) const {
  return find_id<ModelId>(model_index_, id);
}

const DailyProfile* Catalog::daily_profile(std::string_view name) const {
  const auto it = std::ranges::find(daily_profiles, name, &DailyProfile::name);
  return it == daily_profiles.end() ? nullptr : &*it;
}

std::set<geo::CountryCode> Catalog::country_codes() const {
  std::set<geo::CountryCode> codes;
  for (const Country& country : countries) codes.insert(country.code);
  return codes;
}

std::vector<const PriceRow*> Catalog::prices_at(SiteId id) const {
  const Site& site = sites[id];
  if (site.gpu_status != "seen") return {};
  const auto holds = [&](const PriceRow& row) {
    if (row.provider != site.provider || row.tier != site.tier) return false;
    if (std::ranges::find(site.gpus, row.gpu) == site.gpus.end()) return false;
    if (row.scope == PriceScope::kSite) return row.site == id;
    if (row.scope == PriceScope::kProviderList) return true;
    const auto* area = blocs.find(row.area);
    return area != nullptr && area->contains(site.country);
  };
  // PriceScope is ordered best first, so the smallest scope of a key wins.
  std::map<std::tuple<GpuId, int, Term>, const PriceRow*> best;
  for (const PriceRow& row : prices) {
    if (!holds(row)) continue;
    const PriceRow*& kept = best[{row.gpu, row.shape_gpus, row.term}];
    if (kept == nullptr || row.scope < kept->scope) kept = &row;
  }
  std::vector<const PriceRow*> rows;
  rows.reserve(best.size());
  for (const auto& entry : best) rows.push_back(entry.second);
  return rows;
}

std::string default_folder() {
  if (const char* named = std::getenv("ISOCHRONE_DATASETS");
      named != nullptr && *named != '\0') {
    return named;
  }
  std::error_code ignored;
  const std::filesystem::path source_tree = ISOCHRONE_DATASETS_DIR;
  if (std::filesystem::is_regular_file(source_tree / "sites.csv", ignored)) {
    return source_tree;
  }
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "share" / "isochrone" / "datasets";
}

}  // namespace isochrone::datasets
