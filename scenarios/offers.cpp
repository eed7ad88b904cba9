// One place's price list, in five passes over a map (GPU, shape, term) -> draft:
// catalog rows by the best scope, quotes, overrides, assumed discounts, built and kept
// hardware. Only then are terms, lead times and stock judged, since a term that may not
// be used (on demand) may still carry the price of one that may (reserved).
#include "scenarios/offers.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "scenarios/bills.h"
#include "scenarios/calendar.h"
#include "scenarios/countries.h"

namespace isochrone::scenarios {
namespace {

using datasets::Catalog;
using datasets::GpuId;
using datasets::PriceRow;
using datasets::PriceScope;

constexpr int kWholeNode = 8;

using Key = std::tuple<GpuId, int, std::string>;  // gpu, shape, term

struct Draft {
  Offer offer;
  PriceRange price;
};

bool seen_only(const Scenario& scenario) {
  return scenario.spec.sites().prices() == "seen_only";
}

bool was_seen(datasets::Basis basis) {
  return basis == datasets::Basis::kSeen || basis == datasets::Basis::kMeasured ||
         basis == datasets::Basis::kPublished;
}

bool term_allowed(const Scenario& scenario, const std::string& term) {
  if (term == "built" || term == "kept") return true;
  const auto& allowed = scenario.spec.terms().allow();
  if (allowed.empty()) return term == "on_demand";
  return std::ranges::find(allowed, term) != allowed.end();
}

int default_lead_time(const Scenario& scenario, const std::string& term) {
  constexpr int kReservedDays = 56;
  const auto& given = scenario.spec.sites().default_lead_time_days();
  const auto found = given.find(term);
  if (found != given.end()) return found->second;
  return term == "reserved_1y" ? kReservedDays : 0;
}

std::optional<std::int64_t> default_stock(const Scenario& scenario) {
  const spec::Sites& sites = scenario.spec.sites();
  if (!sites.has_default_available_gpus()) return std::nullopt;
  return sites.default_available_gpus();
}

PriceBasis basis_of(PriceScope scope) {
  switch (scope) {
    case PriceScope::kSite:
      return PriceBasis::kSite;
    case PriceScope::kProviderArea:
      return PriceBasis::kProviderArea;
    case PriceScope::kProviderList:
      break;
  }
  return PriceBasis::kProviderList;
}

/// One place's drafts while they are made.
class PriceList {
 public:
  PriceList(const Scenario& scenario, const Catalog& catalog, const PricedPlace& place)
      : scenario_(scenario), catalog_(catalog), place_(place) {}

  void take_catalog();
  void take_quotes();
  void take_overrides();
  void assume_discounts();
  void take_built();
  void take_kept();
  ResolvedOffers result();

 private:
  GpuId gpu(const std::string& id) const;
  Draft rental(GpuId gpu, int shape, const std::string& term,
               MicroUsdPerHour price) const;
  void override_price(const spec::Override& line, const std::string& cite);
  bool override_terms(const spec::Override& line);
  void keep(const spec::Keep& estate);
  const Draft* price_of_kept(GpuId gpu) const;
  std::string refusal(const Offer& offer) const;

  const Scenario& scenario_;
  const Catalog& catalog_;
  const PricedPlace& place_;
  std::map<Key, Draft> drafts_;
  ResolvedOffers result_;
};

GpuId PriceList::gpu(const std::string& id) const {
  const auto found = catalog_.gpu(id);
  if (!found) throw std::invalid_argument("no GPU is called \"" + id + "\"");
  return *found;
}

Draft PriceList::rental(GpuId id, int shape, const std::string& term,
                        MicroUsdPerHour price) const {
  Draft draft;
  draft.offer.gpu = id;
  draft.offer.shape_gpus = shape;
  draft.offer.term = term;
  draft.offer.stock_gpus = default_stock(scenario_);
  draft.offer.lead_time_days = default_lead_time(scenario_, term);
  draft.price = {price, price, price};
  return draft;
}

void PriceList::take_catalog() {
  const auto site = catalog_.site(place_.id);
  if (!place_.site || !site) return;
  for (const PriceRow* row : catalog_.prices_at(*site)) {
    if (row->term == datasets::Term::kReservedFrom) continue;
    if (row->basis == datasets::Basis::kUnknown || row->usd_per_gpu_hour.count() <= 0) {
      continue;
    }
    if (seen_only(scenario_) && !was_seen(row->basis)) {
      ++result_.refused["only prices that were not seen"];
      continue;
    }
    const std::string term = to_text(row->term);
    Draft draft = rental(row->gpu, row->shape_gpus, term, row->usd_per_gpu_hour);
    draft.offer.basis = basis_of(row->scope);
    draft.offer.recalled = !was_seen(row->basis);
    draft.offer.source = row->source;
    draft.offer.as_of = row->as_of;
    drafts_.insert_or_assign({row->gpu, row->shape_gpus, term}, std::move(draft));
  }
}

void PriceList::take_quotes() {
  if (!place_.added) return;
  for (const spec::QuotedOffer& quote : place_.added->offers()) {
    const GpuId id = gpu(quote.gpu());
    Draft draft = rental(id, quote.shape_gpus(), quote.term(),
                         usd_per_hour(quote.usd_per_gpu_hour()));
    draft.offer.basis = PriceBasis::kQuote;
    draft.offer.source = "quote: sites.add of " + place_.id;
    if (quote.has_available_gpus()) draft.offer.stock_gpus = quote.available_gpus();
    if (quote.has_lead_time_days()) draft.offer.lead_time_days = quote.lead_time_days();
    draft.offer.infiniband = quote.fabric() == "infiniband";
    drafts_.insert_or_assign({id, quote.shape_gpus(), quote.term()}, std::move(draft));
  }
}

void PriceList::take_overrides() {
  const auto& lines = scenario_.spec.sites().override();
  for (int i = 0; i < lines.size(); ++i) {
    const spec::Override& line = lines.Get(i);
    if (line.site() != place_.id) continue;
    const std::string path = fmt::format("sites.override[{}]", i);
    if (line.has_usd_per_gpu_hour()) override_price(line, scenario_.source.cite(path));
    if (!override_terms(line)) {
      result_.notes.push_back(
          fmt::format("{}: {} has no price for {}, so it changes "
                      "nothing",
                      place_.id, path, line.gpu()));
    }
  }
}

/// The quote replaces the price of every shape that it names (all, or 8 where there is
/// none).
void PriceList::override_price(const spec::Override& line, const std::string& cite) {
  const GpuId id = gpu(line.gpu());
  const std::string term = line.has_term() ? line.term() : "on_demand";
  std::vector<int> shapes;
  if (line.has_shape_gpus()) {
    shapes.push_back(line.shape_gpus());
  } else {
    for (const auto& [key, draft] : drafts_) {
      if (std::get<0>(key) == id && std::get<2>(key) == term)
        shapes.push_back(std::get<1>(key));
    }
    if (shapes.empty()) shapes.push_back(kWholeNode);
  }
  for (const int shape : shapes) {
    Draft draft = rental(id, shape, term, usd_per_hour(line.usd_per_gpu_hour()));
    draft.offer.basis = PriceBasis::kQuote;
    draft.offer.source = "quote: " + cite;
    drafts_.insert_or_assign({id, shape, term}, std::move(draft));
  }
}

/// Stock and fabric are the hardware's and hold for every term unless one is named;
/// lead time is the named term's, else on demand's. False if no offer is meant.
bool PriceList::override_terms(const spec::Override& line) {
  const GpuId id = gpu(line.gpu());
  bool found = false;
  for (auto& [key, draft] : drafts_) {
    const auto& [other, shape, term] = key;
    if (other != id || (line.has_shape_gpus() && line.shape_gpus() != shape)) continue;
    if (line.has_term() && line.term() != term) continue;
    found = true;
    if (line.has_available_gpus()) draft.offer.stock_gpus = line.available_gpus();
    if (line.has_fabric()) draft.offer.infiniband = line.fabric() == "infiniband";
    const bool meant = line.has_term() || term == "on_demand";
    if (line.has_lead_time_days() && meant) {
      draft.offer.lead_time_days = line.lead_time_days();
    }
  }
  return found;
}

void PriceList::assume_discounts() {
  if (seen_only(scenario_)) return;
  const auto& discounts = scenario_.spec.terms().discount();
  for (const std::string term : {"reserved_1y", "spot"}) {
    const auto discount = discounts.find(term);
    if (discount == discounts.end() || !term_allowed(scenario_, term)) continue;
    std::vector<std::pair<Key, Draft>> made;
    for (const auto& [key, draft] : drafts_) {
      const auto& [id, shape, priced] = key;
      if (priced != "on_demand" || drafts_.contains({id, shape, term})) continue;
      Draft cheaper = draft;
      cheaper.offer.term = term;
      cheaper.offer.basis = PriceBasis::kDiscounted;
      cheaper.offer.lead_time_days = default_lead_time(scenario_, term);
      cheaper.price = discounted(draft.price.mid, discount->second);
      cheaper.offer.arithmetic = fmt::format(
          "{:.6g} $/h x (1 - {:g}) = ",
          static_cast<double>(draft.price.mid.count()) / 1e6, discount->second.mid());
      cheaper.offer.source += "; assumed discount for " + term;
      made.emplace_back(Key{id, shape, term}, std::move(cheaper));
    }
    for (auto& [key, draft] : made) drafts_.emplace(key, std::move(draft));
  }
}

void PriceList::take_built() {
  if (!place_.site || place_.provider != "colo") return;
  const spec::Sites& sites = scenario_.spec.sites();
  if (!sites.has_build()) {
    ++result_.refused["colocation, and sites.build is not given"];
    return;
  }
  if (seen_only(scenario_)) {
    ++result_.refused["only prices that were not seen"];
    return;
  }
  for (const spec::BuildGpu& build : sites.build().gpus()) {
    Draft draft;
    draft.offer = built_offer(build, gpu(build.gpu()), scenario_);
    draft.offer.stock_gpus = default_stock(scenario_);
    drafts_.insert_or_assign({draft.offer.gpu, build.shape_gpus(), "built"},
                             std::move(draft));
  }
}

void PriceList::take_kept() {
  for (const spec::Keep& estate : scenario_.spec.sites().keep()) {
    if (estate.site() == place_.id) keep(estate);
  }
}

/// On demand before a commitment: nobody knows the estate's contract, so the dearer
/// one.
const Draft* PriceList::price_of_kept(GpuId id) const {
  for (const std::string_view term : {"on_demand", "reserved_1y"}) {
    const Draft* found = nullptr;
    for (const auto& [key, draft] : drafts_) {
      if (std::get<0>(key) == id && std::get<2>(key) == term) found = &draft;
    }
    if (found) return found;
  }
  return nullptr;
}

void PriceList::keep(const spec::Keep& estate) {
  const Day last = horizon_days(scenario_).last;
  const std::string name =
      fmt::format("{}: kept estate \"{}\"", place_.id, estate.name());
  if (parse_day(estate.until()) < last) {
    result_.notes.push_back(
        fmt::format("{} ends on {}, before the horizon does ({}): "
                    "left out",
                    name, estate.until(), to_text(last)));
    return;
  }
  const GpuId id = gpu(estate.gpu());
  int node = kWholeNode;
  while (estate.gpus() % node != 0) node /= 2;
  Draft draft = rental(id, node, "kept", {});
  draft.offer.basis = PriceBasis::kQuote;
  draft.offer.source = "sites.keep: " + estate.name();
  draft.offer.stock_gpus = estate.gpus();
  if (estate.sunk()) {
    draft.offer.arithmetic = "paid whether used or not: ";
  } else if (const Draft* priced = price_of_kept(id)) {
    draft.price = priced->price;
    draft.offer.as_of = priced->offer.as_of;
    draft.offer.source += ", at the price of " + priced->offer.term;
  } else {
    result_.notes.push_back(name +
                            " is not sunk, and the site has no price for it: "
                            "left out");
    return;
  }
  result_.notes.push_back(
      fmt::format("{} is taken to stand in nodes of {}", name, node));
  const auto [slot, fresh] = drafts_.emplace(Key{id, node, "kept"}, draft);
  if (!fresh) *slot->second.offer.stock_gpus += estate.gpus();
}

std::string PriceList::refusal(const Offer& offer) const {
  if (!term_allowed(scenario_, offer.term)) return "only terms that terms.allow lacks";
  if (offer.term != "kept" && offer.lead_time_days > days_until_ready(scenario_)) {
    return "lead time exceeds the days until everything must serve";
  }
  const spec::Spot& spot = scenario_.spec.terms().spot();
  if (offer.term == "spot" && spot.has_max_share() && spot.max_share() < 1) {
    return "a pool would stand whole on spot, above terms.spot.max_share";
  }
  if (offer.stock_gpus && *offer.stock_gpus < offer.shape_gpus) {
    return "stock is below one shape";
  }
  return "";
}

ResolvedOffers PriceList::result() {
  for (auto& [key, draft] : drafts_) {
    Offer& offer = draft.offer;
    const std::string why = refusal(offer);
    if (!why.empty()) {
      ++result_.refused[why];
      continue;
    }
    if (offer.term != "built") fill_rental(offer, draft.price, scenario_);
    result_.offers.push_back(std::move(offer));
  }
  return std::move(result_);
}

}  // namespace

ResolvedOffers offers_at(const PricedPlace& place, const Scenario& scenario,
                         const Catalog& catalog) {
  PriceList list(scenario, catalog, place);
  list.take_catalog();
  list.take_quotes();
  list.take_overrides();
  list.assume_discounts();
  list.take_built();
  list.take_kept();
  return list.result();
}

}  // namespace isochrone::scenarios
