#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/units.h"
#include "datasets/catalog.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

using CandidateId = Id<struct CandidateTag>;

/// What a price rests on, best first. kDiscounted: an on-demand price less an assumed
/// discount.
enum class PriceBasis {
  kQuote,
  kSite,
  kProviderArea,
  kProviderList,
  kDiscounted,
  kBuilt
};
std::string to_text(PriceBasis basis);

/// GPUs that can be rented (or built) at a site on one set of terms. GPUs come in
/// groups of `shape_gpus`; the price belongs to the shape.
struct Offer {
  datasets::GpuId gpu;
  int shape_gpus = 1;
  std::string term;  ///< on_demand | reserved_1y | spot | built | kept
  PriceBasis basis = PriceBasis::kProviderList;
  /// Per GPU-hour as listed (after an assumed discount); for built: bill / 730.
  MicroUsdPerHour price;
  /// Per GPU and mean month of the horizon, all that is paid: a commitment to its end
  /// even past the horizon, a purchase by amortisation, power and operations.
  MicroUsd bill_gpu_month;
  /// Part of that bill: months of a commitment after the horizon.
  MicroUsd beyond_gpu_month;
  /// In the objective only, per GPU and month: the unamortised rest of a purchase less
  /// its resale, notice if exit is assumed.
  MicroUsd extra_gpu_month;
  /// Notice after the last month, per GPU and month of the horizon, also where exit is
  /// only reported.
  MicroUsd notice_gpu_month;
  /// The bill at the low and the high end of the estimate; equal where none is made.
  MicroUsd bill_low_gpu_month;
  MicroUsd bill_high_gpu_month;
  std::optional<std::int64_t> stock_gpus;  ///< nullopt: unlimited
  int lead_time_days = 0;
  bool infiniband = false;
  bool recalled = false;   ///< rests on a row from memory: warn if it binds
  std::string source;      ///< where the price was seen, or how it was made
  std::string as_of;       ///< when: YYYY[-MM[-DD]]; empty for the scenario's own
  std::string arithmetic;  ///< `6.88 $/h x 730 h x (1 - 0.35)`
};

struct CandidateSite {
  std::string id;        ///< provider/region
  std::string provider;  ///< its own id at a colocation site: each is its own provider
  datasets::Tier tier = datasets::Tier::kCloud;
  datasets::SiteClass site_class = datasets::SiteClass::kRentable;
  std::string location;  ///< id of the location within 30 km; failure domain
  geo::Endpoint endpoint;
  std::vector<Offer> offers;  ///< sorted by (gpu, shape, term)
  datasets::EgressPrice egress;
  MicroUsd fixed_month;
  bool pinned = false;
  std::int64_t pinned_min_gpus = 0;
  std::optional<datasets::GpuId> pinned_gpu;
};

/// What leaving a provider costs at the end, per month of the horizon.
struct Leaving {
  MicroUsd work;    ///< of moving away
  MicroUsd stored;  ///< egress of the stored data, through the tiers of one month
};

struct Candidates {
  IdVector<CandidateId, CandidateSite> sites;  ///< sorted by id
  std::map<std::string, int> fell_away;        ///< reason -> number of sites
  /// provider -> what having any site of it adds to the objective, per month: `prefer`,
  /// and where exit cost is assumed the move and the egress of stored data.
  std::map<std::string, MicroUsd> premium;
  std::map<std::string, MicroUsd> preference;  ///< its part by `prefer`
  /// By provider; its other part where exit is assumed, else reported only.
  std::map<std::string, Leaving> leaving;
  bool exit_assumed = false;
  std::vector<std::string> notes;  ///< what was assumed
};

/// Everything that may be rented or built in this scenario, with its price. A price
/// that is not known never becomes zero: the offer is absent and the reason counted.
/// Throws InputError where an added site lies nowhere or a pinned one falls away.
Candidates find_candidates(const Scenario& scenario, const datasets::Catalog& catalog);

/// Whether GPUs of an offer are what a workload requires: memory per GPU; FP64 at 5
/// TFLOPS or more; `nvlink_gpus` in one NVLink or Infinity Fabric domain, which is sure
/// only among GPUs rented together; graphics cores; a network between nodes, taken to
/// exist for whole nodes of 8 in such a domain, InfiniBand only where it is stated.
bool meets(const spec::Requires& requirements, const datasets::Gpu& gpu,
           const Offer& offer);

}  // namespace isochrone::scenarios
