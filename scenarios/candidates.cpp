#include "scenarios/candidates.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "scenarios/calendar.h"
#include "scenarios/countries.h"
#include "scenarios/offers.h"
#include "scenarios/site_filter.h"

namespace isochrone::scenarios {
namespace {

using datasets::Catalog;

constexpr double kSameLocationKm = 30;
constexpr double kGbPerTb = 1000;

std::string provider_of(const std::string& id) { return id.substr(0, id.find('/')); }

/// Cost of moving `gb` out at once, through the tiers of the month.
double egress_usd(const datasets::EgressPrice& price, double gb) {
  double cost = 0;
  for (const datasets::EgressTier& tier : price.tiers) {
    const double to = tier.to_gb.value_or(std::numeric_limits<double>::infinity());
    cost += std::max(0.0, std::min(gb, to) - tier.from_gb) * tier.usd_per_gb;
  }
  return cost;
}

/// The refusal that came nearest to an offer, for the count of sites that fell away.
std::string reason_for_none(const ResolvedOffers& resolved, const PricedPlace& place) {
  for (const std::string_view why :
       {"lead time exceeds the days until everything must serve",
        "stock is below one shape",
        "a pool would stand whole on spot, above terms.spot.max_share",
        "only terms that terms.allow lacks", "only prices that were not seen",
        "colocation, and sites.build is not given"}) {
    if (resolved.refused.contains(std::string(why))) return std::string(why);
  }
  if (!place.site) return "no offer is left";
  if (place.site->gpu_status == "none_seen") return "price list read, and no GPU in it";
  if (!place.site->price_gap.empty()) return "no price: " + place.site->price_gap;
  return "no GPU was seen there";
}

/// Finds, prices and counts.
class Search {
 public:
  Search(const Scenario& scenario, const Catalog& catalog)
      : scenario_(scenario), catalog_(catalog), filter_(scenario, catalog) {}

  Candidates run() {
    for (const datasets::Site& site : catalog_.sites) consider(site);
    for (int i = 0; i < scenario_.spec.sites().add_size(); ++i) consider_added(i);
    std::ranges::sort(found_, {}, &CandidateSite::id);
    pin_sites();
    for (CandidateSite& site : found_) result_.sites.push_back(std::move(site));
    add_premiums();
    note_assumptions();
    return std::move(result_);
  }

 private:
  void consider(const datasets::Site& site) {
    const PricedPlace place{site.id,      site.provider, site.tier,
                            site.country, &site,         nullptr};
    CandidateSite candidate;
    candidate.provider = site.provider == "colo" ? site.id : site.provider;
    candidate.site_class = site.site_class;
    const datasets::Location& location = catalog_.locations[site.location];
    candidate.location = location.id;
    candidate.endpoint = {location.city, site.country, site.at};
    candidate.egress = catalog_.egress(site);
    admit(place, std::move(candidate));
    if (site.restriction.find("export_controlled") != std::string::npos &&
        named_in_allow(site.country, scenario_)) {
      export_controlled_.insert(site.country.text());
    }
  }

  void consider_added(int index) {
    const spec::AddedSite& added = scenario_.spec.sites().add(index);
    const NamedPlace where = place_of(added, index);
    datasets::Site site;  // to ask for the egress that the provider charges elsewhere
    site.id = added.name();
    site.provider = provider_of(added.name());
    site.region_code =
        added.name().substr(std::min(added.name().size(), site.provider.size() + 1));
    site.country = where.country;
    site.at = where.at;
    CandidateSite candidate;
    candidate.provider = site.provider;
    candidate.tier = tier_of(site.provider);
    candidate.location = location_near(where);
    candidate.endpoint = {where.name, where.country, where.at};
    candidate.egress = catalog_.egress(site);
    admit({site.id, site.provider, candidate.tier, where.country, nullptr, &added},
          std::move(candidate));
  }

  NamedPlace place_of(const spec::AddedSite& added, int index) const {
    PlaceQuery query{added.city(), std::nullopt, added.country()};
    if (added.has_lat() && added.has_lon()) {
      query.at = geo::Coordinates{added.lat(), added.lon()};
    }
    if (const auto place = find_place(query, catalog_)) return *place;
    const std::string path = fmt::format("sites.add[{}].city", index);
    const std::vector<std::string> names = place_names(added.country(), catalog_);
    throw InputError(
        {{Severity::kError, scenario_.source.at(path),
          fmt::format("no city \"{}\" is known in {}; name another or give lat and lon",
                      added.city(), added.country()),
          did_you_mean(added.city(), names)}});
  }

  datasets::Tier tier_of(const std::string& provider) const {
    for (const datasets::Site& site : catalog_.sites) {
      if (site.provider == provider) return site.tier;
    }
    return datasets::Tier::kCloud;
  }

  std::string location_near(const NamedPlace& where) const {
    double best = kSameLocationKm;
    std::string id = where.id;
    for (const datasets::Location& location : catalog_.locations) {
      const double km = geo::great_circle_km(location.at, where.at);
      if (km <= best) {
        best = km;
        id = location.id;
      }
    }
    return id;
  }

  void admit(const PricedPlace& place, CandidateSite candidate) {
    std::string why = filter_.refusal(place);
    ResolvedOffers resolved;
    if (why.empty()) {
      resolved = offers_at(place, scenario_, catalog_);
      std::ranges::move(resolved.notes, std::back_inserter(result_.notes));
      if (resolved.offers.empty()) why = reason_for_none(resolved, place);
    }
    if (!why.empty()) {
      ++result_.fell_away[why];
      away_[place.id] = why;
      return;
    }
    candidate.id = place.id;
    candidate.tier = place.tier;
    candidate.offers = std::move(resolved.offers);
    candidate.fixed_month = usd(scenario_.spec.sites().fixed_usd_site_month());
    found_.push_back(std::move(candidate));
  }

  void pin_sites() {
    Diagnostics faults;
    for (int i = 0; i < scenario_.spec.sites().pin_size(); ++i) {
      const spec::Pin& pin = scenario_.spec.sites().pin(i);
      const auto site = std::ranges::find(found_, pin.site(), &CandidateSite::id);
      if (site == found_.end()) {
        const auto why = away_.find(pin.site());
        faults.error(scenario_.source.at(fmt::format("sites.pin[{}].site", i)),
                     fmt::format("{} must be open, but is no candidate: {}", pin.site(),
                                 why == away_.end() ? "unknown site" : why->second));
        continue;
      }
      site->pinned = true;
      site->pinned_min_gpus =
          std::max<std::int64_t>(site->pinned_min_gpus, pin.min_gpus());
      if (pin.has_gpu()) site->pinned_gpu = catalog_.gpu(pin.gpu());
    }
    faults.throw_if_errors();
    for (const spec::Keep& estate : scenario_.spec.sites().keep()) {
      const auto why = away_.find(estate.site());
      if (why == away_.end()) continue;
      result_.notes.push_back(
          fmt::format("kept estate \"{}\" is not used: {} is no "
                      "candidate ({})",
                      estate.name(), estate.site(), why->second));
    }
  }

  void add_premiums() {
    const spec::Terms& terms = scenario_.spec.terms();
    std::map<std::string, double> stored;  // dearest egress of each provider's sites
    std::set<std::string> providers;
    for (const CandidateSite& site : result_.sites) {
      providers.insert(site.provider);
      double& cost = stored[site.provider];
      cost =
          std::max(cost, egress_usd(site.egress, terms.exit().stored_tb() * kGbPerTb));
    }
    for (const spec::Prefer& prefer : scenario_.spec.sites().prefer()) {
      for (const std::string& provider : providers) {
        const bool meant =
            provider == prefer.provider() || provider_of(provider) == prefer.provider();
        if (meant) result_.preference[provider] += usd(prefer.premium_usd_month());
      }
    }
    result_.premium = result_.preference;
    result_.exit_assumed = terms.exit().count() == "assumed";
    const int months = scenario_.spec.horizon().months();
    for (const std::string& provider : providers) {
      const Leaving leaving{usd(terms.exit().switch_usd_provider() / months),
                            usd(stored[provider] / months)};
      const MicroUsd both = leaving.work + leaving.stored;
      if (both.count() == 0) continue;
      result_.leaving[provider] = leaving;
      if (result_.exit_assumed) result_.premium[provider] += both;
    }
  }

  void note_assumptions() {
    const spec::Sites& sites = scenario_.spec.sites();
    auto& notes = result_.notes;
    if (!sites.has_default_available_gpus()) {
      notes.push_back("stock is not published: unlimited where none is stated");
    } else {
      notes.push_back(
          fmt::format("stock is not published: {} GPUs per site and GPU "
                      "where none is stated",
                      sites.default_available_gpus()));
    }
    for (const auto& [term, discount] : sorted_discounts()) {
      notes.push_back(fmt::format(
          "{}: {:g} % (low {:g}, high {:g}) off on demand is "
          "assumed where no price is known",
          term, 100 * discount.mid(), 100 * discount.low(), 100 * discount.high()));
    }
    note_exit();
    if (!export_controlled_.empty()) {
      notes.push_back(
          fmt::format("export-controlled, and allowed by name: {}; check the "
                      "licence of each GPU",
                      fmt::join(export_controlled_, ", ")));
    }
    const bool unnamed = std::ranges::any_of(catalog_.prices, [](const auto& row) {
      return row.term == datasets::Term::kReservedFrom;
    });
    if (unnamed) {
      notes.push_back("prices of reservations without a stated term are not used");
    }
  }

  std::map<std::string, spec::LowMidHigh> sorted_discounts() const {
    const auto& given = scenario_.spec.terms().discount();
    return {given.begin(), given.end()};
  }

  void note_exit() {
    const spec::Terms& terms = scenario_.spec.terms();
    if (!terms.has_exit()) return;
    const spec::Exit& exit = terms.exit();
    const bool assumed = exit.count() == "assumed";
    result_.notes.push_back(fmt::format(
        "exit: {:g} months of notice, {:g} $ per provider and egress of {:g} "
        "TB are {}",
        exit.notice_months(), exit.switch_usd_provider(), exit.stored_tb(),
        assumed ? "in the objective, spread over the horizon"
                : "not in the objective"));
    for (const spec::Keep& estate : scenario_.spec.sites().keep()) {
      if (!estate.has_exit_usd()) continue;
      result_.notes.push_back(
          fmt::format("leaving kept estate \"{}\" costs {:.0f} $, in "
                      "no objective",
                      estate.name(), estate.exit_usd()));
    }
  }

  const Scenario& scenario_;
  const Catalog& catalog_;
  SiteFilter filter_;
  std::vector<CandidateSite> found_;
  std::map<std::string, std::string> away_;  // site -> why it fell away
  std::set<std::string> export_controlled_;
  Candidates result_;
};

}  // namespace

std::string to_text(PriceBasis basis) {
  switch (basis) {
    case PriceBasis::kQuote:
      return "quote";
    case PriceBasis::kSite:
      return "site";
    case PriceBasis::kProviderArea:
      return "provider_area";
    case PriceBasis::kProviderList:
      return "provider_list";
    case PriceBasis::kDiscounted:
      return "discounted";
    case PriceBasis::kBuilt:
      break;
  }
  return "built";
}

Candidates find_candidates(const Scenario& scenario, const Catalog& catalog) {
  return Search(scenario, catalog).run();
}

bool meets(const spec::Requires& requirements, const datasets::Gpu& gpu,
           const Offer& offer) {
  constexpr double kDataCentreFp64 = 5;
  constexpr int kWholeNode = 8;
  const int domain = gpu.intra_fabric == "none" ? 1 : gpu.fabric_domain_gpus;
  const int together = std::min(domain, offer.shape_gpus);
  if (gpu.memory_gb < requirements.memory_gb()) return false;
  if (requirements.fp64() && gpu.fp64_tflops < kDataCentreFp64) return false;
  if (requirements.graphics() && !gpu.graphics) return false;
  if (requirements.nvlink_gpus() > 1 && together < requirements.nvlink_gpus()) {
    return false;
  }
  const std::string& fabric = requirements.fabric();
  if (fabric == "infiniband") return offer.infiniband;
  const bool node_fabric =
      gpu.intra_fabric == "nvlink" || gpu.intra_fabric == "infinity_fabric";
  if (fabric == "any") {
    return offer.infiniband || (node_fabric && together >= kWholeNode);
  }
  return true;
}

}  // namespace isochrone::scenarios
