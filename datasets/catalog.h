#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/units.h"
#include "geo/jurisdiction.h"
#include "geo/last_mile.h"
#include "geo/network.h"
#include "geo/place.h"

namespace isochrone::datasets {

/// How a row is known. kUnknown never means zero or "no".
enum class Basis {
  kSeen,
  kMeasured,
  kPublished,
  kRecalled,
  kEstimated,
  kClaim,
  kUnknown
};
std::string to_text(Basis basis);
/// The words of the basis columns.
std::span<const std::pair<std::string_view, Basis>> basis_words();

/// What a row rests on.
struct Origin {
  Basis basis = Basis::kSeen;
  std::string as_of;  ///< YYYY[-MM[-DD]]; "" = the date is not known
  std::string source;
};

using CountryId = Id<struct CountryTag>;
using MetroId = Id<struct MetroTag>;
using LocationId = Id<struct LocationTag>;
using SiteId = Id<struct SiteTag>;
using GpuId = Id<struct GpuTag>;
using ModelId = Id<struct ModelTag>;

struct Country {
  geo::CountryCode code;
  std::string name;
  std::string
      region;  ///< Africa, Americas, Asia, Europe or Oceania, as the source has it
  double population = 0;
  double internet_users = 0;
  geo::AccessLaw access;         ///< country value (fixed and mobile mixed)
  geo::AccessLaw access_mobile;  ///< estimated
  std::string access_basis;      ///< measured | measured_p50 | pooled
};

struct Metro {
  std::string id;  ///< e.g. "de-frankfurt-am-main"
  std::string name;
  geo::CountryCode country;
  geo::Coordinates at;
  double weight_population = 0;
  std::string time_zone;  ///< IANA
};

/// Sites within 30 km, merged. A failure domain of its own.
struct Location {
  std::string id;
  std::string city;
  geo::CountryCode country;
  geo::Coordinates at;
};

enum class SiteClass { kRentable, kCloudRegion, kColo };
enum class Tier { kHyperscaler, kNeocloud, kCloud, kColo, kMarketplace };
std::string to_text(SiteClass value);
std::string to_text(Tier value);

struct Site {
  std::string id;  ///< "provider/region"
  std::string provider;
  std::string region_code;
  Tier tier = Tier::kCloud;
  SiteClass site_class = SiteClass::kColo;
  LocationId location;
  geo::CountryCode country;
  geo::Coordinates at;
  std::vector<GpuId> gpus;  ///< GPUs that a price row may sell here (gpu or also)
  std::string gpu_status;   ///< seen | none_seen | unknown
  std::string access;       ///< public | dedicated
  std::string restriction;  ///< "" = none
  std::string price_gap;    ///< why no price was found; "" if there is one
  Origin origin{};
};

struct Provider {
  std::string name;
  std::optional<geo::CountryCode> home;  ///< jurisdiction of the parent, if known
};

struct Gpu {
  std::string id;
  std::string vendor;
  double memory_gb = 0;
  double memory_gbs = 0;  ///< bandwidth
  double bf16_dense_tflops = 0;
  std::optional<double> fp8_dense_tflops;
  double fp64_tflops = 0;
  double tdp_w = 0;
  bool graphics = false;
  std::string intra_fabric;  ///< nvlink | nvlink_bridge | infinity_fabric | none
  int fabric_domain_gpus = 0;
  std::string licence_note;  ///< what its makers forbid, with the source; or empty
  Origin origin{};
};

struct Model {
  std::string id;
  std::string family;  ///< dense | moe ...
  int layers = 0;
  int hidden = 0;
  double params_total_b = 0;
  double params_active_b = 0;
  std::int64_t kv_bytes_per_token_bf16 = 0;
  int max_context = 0;
  Origin origin{};
};

/// Step-time coefficients of one engine set-up. Times in picoseconds per unit, so that
/// n steps are an exact integer series. `tok` = prefill tokens of the chunk plus
/// decoding sequences, S = decoding sequences, KV = their cached tokens, A = attention
/// area of the chunks (sum of chunk * (history + chunk / 2)).
///   decode only:  t0 + b*S + c*KV
///   with prefill: max(t0_prefill, a*tok + f) + b_prefill*S + c_prefill*KV + d*A
struct StepTimes {
  std::int64_t t0 = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
  std::int64_t t0_prefill = 0;
  std::int64_t a = 0;
  std::int64_t f = 0;
  std::int64_t b_prefill = 0;
  std::int64_t c_prefill = 0;
  std::int64_t d = 0;
};

struct StepProfile {
  std::string id;  ///< "llama-3.1-70b/H100-80GB-SXM/tp4/fp8"
  ModelId model;
  GpuId gpu;
  int tensor_parallel = 1;
  std::string precision;  ///< bf16 | fp8
  StepTimes step;
  std::int64_t kv_block_tokens = 16;
  std::int64_t kv_blocks = 0;        ///< of the whole replica
  std::int64_t chunk_tokens = 8192;  ///< token budget of a step
  double front_end_ms = 25;          ///< added to TTFT, per request
  Basis basis = Basis::kEstimated;
  double error_pct = 0;  ///< half width of the band, in per cent of TPOT
  std::string source;
};

enum class PriceScope { kSite, kProviderArea, kProviderList };
enum class Term { kOnDemand, kReserved1y, kSpot, kReservedFrom };
std::string to_text(Term term);

struct PriceRow {
  std::string provider;
  Tier tier = Tier::kCloud;
  PriceScope scope = PriceScope::kProviderList;
  std::optional<SiteId> site;
  std::string area;  ///< bloc, for kProviderArea
  GpuId gpu;
  int shape_gpus = 1;
  Term term = Term::kOnDemand;
  MicroUsdPerHour usd_per_gpu_hour;
  std::string as_of;
  Basis basis = Basis::kSeen;
  std::string source;
};

struct EgressTier {
  double from_gb = 0;
  std::optional<double> to_gb;
  double usd_per_gb = 0;
};

/// What a provider asks for traffic to the Internet out of a site, tiers by volume of
/// the provider's whole month.
struct EgressPrice {
  std::vector<EgressTier> tiers;
  bool assumed_dearest = false;  ///< not known: the dearest known tier, flagged
  std::string as_of;             ///< of the oldest row used; empty where assumed
  std::string source;            ///< of the rows used, each once
};

struct ResidencyRow {
  int line = 0;  ///< in datasets/residency.csv
  std::string jurisdiction;
  std::set<geo::CountryCode> countries;
  std::string regime;
  std::string data_class;  ///< general | health | financial
  std::string outcome;     ///< free | conditional | local_only | local_copy
  std::set<geo::CountryCode> allow;
  bool allow_any = false;  ///< `*`
  std::set<geo::CountryCode> except;
  std::set<geo::CountryCode> stores;  ///< local_copy: where a copy must be kept
  std::vector<std::string> needs;     ///< alternatives; empty = none needed
  bool and_rule = false;              ///< combine = and
  bool note_only = false;             ///< scope = note
  std::string from_date;              ///< ISO, "" = always
  std::string until_date;             ///< ISO, "" = open
  Basis basis = Basis::kSeen;
  std::string source;
};

struct Restriction {
  geo::CountryCode country;
  std::string kind;        ///< embargoed | export_controlled | partner_run
  std::string applies_to;  ///< all | h100_class | foreign_cloud
  Origin origin{};
};

/// Local-hour weights; each row has mean 1.
struct DailyProfile {
  std::string name;
  double weekday_factor = 1;
  double weekend_factor = 1;
  std::array<double, 24> weekday{};
  std::array<double, 24> weekend{};
};

/// Everything the program knows about the world. Immutable; every reference is whole,
/// every key unique and every number in range once load() returns.
struct Catalog {
  IdVector<CountryId, Country> countries;
  IdVector<MetroId, Metro> metros;
  IdVector<LocationId, Location> locations;
  IdVector<SiteId, Site> sites;
  IdVector<GpuId, Gpu> gpus;
  IdVector<ModelId, Model> models;
  std::vector<StepProfile> profiles;
  std::vector<PriceRow> prices;
  std::vector<ResidencyRow> residency;
  std::map<geo::CountryCode, std::string> territories;  ///< follows: code, own, unknown
  std::vector<Restriction> restrictions;
  std::vector<DailyProfile> daily_profiles;
  std::map<std::string, Provider> providers;  ///< by the word before the `/` of a site
  /// provider -> certification ids (lower case) that are known to be held
  std::map<std::string, std::set<std::string>> certifications;
  geo::Blocs blocs;
  geo::NetworkTables network;
  std::string hash;  ///< SHA-256 over names and contents of the tables read

  /// Reads every table under `folder`. Throws InputError with all faults.
  static Catalog load(const std::string& folder);

  std::optional<CountryId> country(geo::CountryCode code) const;
  std::optional<MetroId> metro(std::string_view id) const;
  std::optional<SiteId> site(std::string_view id) const;
  std::optional<GpuId> gpu(std::string_view id) const;
  std::optional<ModelId> model(std::string_view id) const;
  const DailyProfile* daily_profile(std::string_view name) const;
  std::set<geo::CountryCode> country_codes() const;
  /// The country whose law holds: the one that a territory follows, else its own.
  geo::CountryCode law_of(geo::CountryCode country) const;
  /// The bloc of the six continents that holds the country (`NORTH_AMERICA`), or
  /// ELSEWHERE.
  std::string continent_of(geo::CountryCode country) const;

  /// The rows that sell GPUs at a site, one per (GPU, shape, term): site price before
  /// provider area before provider list, same provider and tier, and a GPU that was
  /// seen there. Sorted by (GPU, shape, term). Says nothing about stock. O(prices).
  std::vector<const PriceRow*> prices_at(SiteId site) const;

  /// Price of traffic from `site` to the Internet: rows whose `applies_to` (region-code
  /// glob, bloc or *) holds the site, the narrowest first.
  EgressPrice egress(const Site& site) const;

  struct EgressRow {
    std::string provider;
    std::string applies_to;
    std::string destination;
    std::string destination_area;
    std::string product;
    EgressTier tier;
    bool known = false;
    std::string as_of;  ///< YYYY[-MM[-DD]]
    std::string source;
  };
  std::vector<EgressRow> egress_rows;

 private:
  std::map<std::string, std::uint32_t, std::less<>> country_index_, metro_index_,
      site_index_, gpu_index_, model_index_;
  friend class CatalogReader;
};

/// Folder of the tables: $ISOCHRONE_DATASETS, else beside the running program's source
/// tree, else the installed one.
std::string default_folder();

}  // namespace isochrone::datasets
