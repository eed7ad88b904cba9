#include "place/verify/expected_bill.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "place/verify/batch_need.h"
#include "place/verify/checks.h"
#include "place/verify/traffic.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::Offer;

/// Months of a horizon of `months` and after it that a commitment of whole years pays.
std::int64_t months_paid(const Offer& offer, std::int64_t months) {
  return offer.term == "reserved_1y" ? (months + 11) / 12 * 12 : months;
}

/// Notice per GPU and month of the horizon: what exceeds the months paid anyway.
std::int64_t notice_of(const Offer& offer, std::int64_t months, double notice_months) {
  if (offer.term != "on_demand" && offer.term != "reserved_1y") return 0;
  const auto rest = static_cast<double>(months_paid(offer, months) - months);
  const double due = std::max(0.0, notice_months - rest);
  return usd(to_usd(per_month(offer.price)) * due / static_cast<double>(months))
      .count();
}

const Offer* offer_of(const Facts& facts, const CandidateSite& site,
                      const plan::Pool& pool) {
  for (const Offer& offer : site.offers) {
    if (facts.catalog.gpus[offer.gpu].id == pool.gpu() &&
        offer.shape_gpus == pool.shape_gpus() && offer.term == pool.term()) {
      return &offer;
    }
  }
  return nullptr;
}

std::string rented(const plan::Pool& pool) {
  return fmt::format("{} x {} for {}, {}", pool.gpus(), pool.gpu(), pool.workload(),
                     pool.term());
}

Line priced(const char* kind, const CandidateSite& site, const Offer& offer) {
  Line line;
  line.kind = kind;
  line.site = site.id;
  line.basis = scenarios::to_text(offer.basis);
  line.source = offer.source;
  line.as_of = offer.as_of;
  return line;
}

Line by_scenario(const char* kind, const std::string& site, const std::string& what,
                 const char* field) {
  Line line;
  line.kind = kind;
  line.site = site;
  line.what = what;
  line.in_bill = false;
  line.arithmetic = "as the scenario says";
  line.basis = "scenario";
  line.source = field;
  return line;
}

std::set<std::string> providers_of(const Facts& facts) {
  std::set<std::string> providers;
  for (const plan::Site& claimed : facts.plan.sites()) {
    const CandidateSite* site = facts.candidate(claimed.name());
    if (site != nullptr) providers.insert(site->provider);
  }
  return providers;
}

}  // namespace

ExpectedBill::ExpectedBill(const Facts& facts) : facts_(facts) {
  add_gpus();
  add_fixed();
  add_egress();
  add_premiums();
  add_leaving();
  add_unserved();
}

std::int64_t ExpectedBill::months() const {
  return facts_.scenario.spec.horizon().months();
}

bool ExpectedBill::exit_assumed() const {
  return facts_.scenario.spec.terms().exit().count() == "assumed";
}

void ExpectedBill::add_gpus() {
  for (const plan::Pool& pool : facts_.plan.pools()) {
    const CandidateSite* site = facts_.site_of(pool);
    const Offer* offer = site == nullptr ? nullptr : offer_of(facts_, *site, pool);
    if (offer == nullptr) continue;  // reported where the pools are checked
    const bool batch = pool.profile() == "batch";
    if (batch && add_hourly_batch(pool, *site, *offer)) continue;
    Rent rent;
    rent.bill = offer->bill_gpu_month.count() * pool.gpus();
    rent.low = offer->bill_low_gpu_month.count() * pool.gpus();
    rent.high = offer->bill_high_gpu_month.count() * pool.gpus();
    rent.extra = offer->extra_gpu_month.count() * pool.gpus();
    rent.arithmetic =
        batch ? fmt::format("{} GPUs x {} per month", pool.gpus(),
                            to_text(offer->bill_gpu_month))
              : fmt::format("{} GPUs x ({})", pool.gpus(), offer->arithmetic);
    add_rent(pool, *site, *offer, rent);
    add_notice(pool, *site, *offer);
  }
}

/// Told only: where exit is assumed, notice is an extra of the offer.
void ExpectedBill::add_notice(const plan::Pool& pool, const CandidateSite& site,
                              const Offer& offer) {
  const double asked = facts_.scenario.spec.terms().exit().notice_months();
  const std::int64_t notice = notice_of(offer, months(), asked) * pool.gpus();
  if (notice == 0 || exit_assumed()) return;
  Line line = priced("notice", site, offer);
  line.what = "after the last month, " + rented(pool);
  line.usd_micro = notice;
  line.in_bill = false;
  line.arithmetic = fmt::format("{} GPUs, {:g} months of notice", pool.gpus(), asked);
  line.reported = true;
  lines_.push_back(std::move(line));
}

/// Jobs on hourly terms give their GPUs back when they end.
bool ExpectedBill::add_hourly_batch(const plan::Pool& pool, const CandidateSite& site,
                                    const Offer& offer) {
  const spec::Workload* workload = facts_.workload(pool.workload());
  if (workload == nullptr || (offer.term != "on_demand" && offer.term != "spot")) {
    return false;
  }
  const BatchNeed need =
      batch_need(facts_.catalog, *workload, offer.gpu, offer.shape_gpus);
  Rent rent;
  rent.bill = rent.low = rent.high = need.gpu_hours_used * offer.price.count();
  rent.arithmetic =
      fmt::format("{} jobs x {:.1f} h x {} GPUs = {} GPU-h x ${:.4f}",
                  workload->batch().jobs_month(), need.hours_per_job,
                  whole_groups(workload->batch().gang_gpus(), offer.shape_gpus),
                  need.gpu_hours_used, static_cast<double>(offer.price.count()) / 1e6);
  add_rent(pool, site, offer, rent);
  return true;
}

void ExpectedBill::add_rent(const plan::Pool& pool, const CandidateSite& site,
                            const Offer& offer, const Rent& rent) {
  // Of a commitment, the months after the horizon stand in a line of their own.
  const std::int64_t past = months_paid(offer, months()) - months();
  const std::int64_t within = per_month(offer.price).count() * pool.gpus();
  Line line = priced("gpu", site, offer);
  line.what = rented(pool);
  line.usd_micro = past > 0 ? within : rent.bill;
  line.arithmetic = rent.arithmetic;
  lines_.push_back(line);
  if (past > 0) {
    line.kind = "commitment";
    line.what = "months after the horizon, " + rented(pool);
    line.usd_micro = rent.bill - within;
    line.arithmetic = fmt::format(
        "{} GPUs x {:.6g} $/h x 730 h x {} months past the end / {}", pool.gpus(),
        static_cast<double>(offer.price.count()) / 1e6, past, months());
    lines_.push_back(line);
  }
  if (rent.extra != 0) {
    const bool built = offer.term == "built";
    line.kind = built ? "purchase" : "notice";
    line.what = (built ? "unamortised rest less resale, " : "after the last month, ") +
                rented(pool);
    line.usd_micro = rent.extra;
    line.in_bill = false;
    line.arithmetic = fmt::format("{} GPUs, per month of the horizon", pool.gpus());
    lines_.push_back(line);
  }
  low_ += rent.low;
  high_ += rent.high;
  spend_[line.basis] += rent.bill;
  cost_[share_group(site)] += rent.bill;
  gpus_[share_group(site)] += pool.gpus();
}

void ExpectedBill::add_certain(Line line, const std::string& rests_on) {
  line.in_bill = true;
  low_ += line.usd_micro;
  high_ += line.usd_micro;
  spend_[rests_on] += line.usd_micro;
  lines_.push_back(std::move(line));
}

void ExpectedBill::add_fixed() {
  for (const plan::Site& claimed : facts_.plan.sites()) {
    const CandidateSite* site = facts_.candidate(claimed.name());
    if (site == nullptr || site->fixed_month.count() == 0) continue;
    Line line =
        by_scenario("fixed", site->id, "an open site", "sites.fixed_usd_site_month");
    line.usd_micro = site->fixed_month.count();
    add_certain(std::move(line), "scenario");
    cost_[share_group(*site)] += site->fixed_month.count();
  }
}

void ExpectedBill::add_egress() {
  const Traffic traffic(facts_);
  std::map<std::string, std::vector<std::pair<std::string, std::int64_t>>> by_provider;
  for (const auto& [site, bytes] : traffic.by_site()) {
    by_provider[facts_.candidate(site)->provider].emplace_back(site, bytes);
  }
  for (const auto& [provider, sites] : by_provider) {
    std::int64_t volume = 0;
    for (const auto& [site, bytes] : sites) volume += bytes;
    for (const auto& [name, bytes] : sites) {
      const datasets::EgressPrice& price = facts_.candidate(name)->egress;
      // Each site pays its part of what its own list asks for the whole volume.
      const std::int64_t whole = Traffic::bill(price, volume);
      Line line;
      line.kind = "egress";
      line.site = name;
      line.what = "answers to users";
      line.usd_micro =
          volume == 0 ? 0 : static_cast<std::int64_t>(Wide{whole} * bytes / volume);
      line.arithmetic = fmt::format("{:.1f} GB, tiers at the {:.1f} GB of {}",
                                    static_cast<double>(bytes) / 1e9,
                                    static_cast<double>(volume) / 1e9, provider);
      const bool dearest = price.assumed_dearest;
      line.basis = dearest ? "dearest known tier, assumed" : "provider list";
      line.source = price.source;
      line.as_of = price.as_of;
      add_certain(std::move(line), dearest ? "egress, assumed dearest" : "egress list");
      egress_bound_ += at_rate(bytes, Traffic::lowest_paid_rate(price, volume));
    }
  }
}

void ExpectedBill::add_premiums() {
  for (const std::string& provider : providers_of(facts_)) {
    const auto premium = facts_.candidates.preference.find(provider);
    if (premium == facts_.candidates.preference.end()) continue;
    Line line =
        by_scenario("premium", provider, "having any site of it", "sites.prefer");
    line.usd_micro = premium->second.count();
    lines_.push_back(std::move(line));
  }
}

/// Egress of `gb` at once from the dearest of a provider's candidates.
double ExpectedBill::stored_usd(const std::string& provider, double gb) const {
  double dearest = 0;
  for (const CandidateSite& site : facts_.candidates.sites) {
    if (site.provider != provider) continue;
    double cost = 0;
    for (const datasets::EgressTier& tier : site.egress.tiers) {
      const double to = std::min(gb, tier.to_gb.value_or(gb));
      cost += std::max(0.0, to - tier.from_gb) * tier.usd_per_gb;
    }
    dearest = std::max(dearest, cost);
  }
  return dearest;
}

void ExpectedBill::add_leaving() {
  const spec::Exit& exit = facts_.scenario.spec.terms().exit();
  const auto add = [&](Line line, double once, std::string arithmetic, bool reported) {
    line.usd_micro = usd(once / static_cast<double>(months())).count();
    if (line.usd_micro == 0) return;
    line.arithmetic = std::move(arithmetic);
    line.reported = reported;
    lines_.push_back(std::move(line));
  };
  for (const std::string& provider : providers_of(facts_)) {
    const double work = exit.switch_usd_provider();
    add(by_scenario("switch", provider, "work of moving away",
                    "terms.exit.switch_usd_provider"),
        work, fmt::format("{:.0f} $ / {} months", work, months()), !exit_assumed());
    add(by_scenario("exit", provider, "egress of stored data", "terms.exit.stored_tb"),
        stored_usd(provider, exit.stored_tb() * 1000),
        fmt::format("{:g} TB through the tiers of one month / {} months",
                    exit.stored_tb(), months()),
        !exit_assumed());
  }
  for (const spec::Keep& estate : facts_.scenario.spec.sites().keep()) {
    add(by_scenario("exit", estate.site(), "leaving kept estate " + estate.name(),
                    "sites.keep"),
        estate.exit_usd(),
        fmt::format("{:.0f} $ / {} months", estate.exit_usd(), months()), true);
  }
}

void ExpectedBill::add_unserved() {
  for (const plan::Unserved& left : facts_.plan.unserved()) {
    const auto id = facts_.population(left.demand(), left.metro());
    if (!id) continue;
    Line line = by_scenario("unserved", left.metro(), left.demand(),
                            "demand.unserved_usd_user_month");
    line.usd_micro = unserved_price(facts_, *id, left.share_ppb());
    if (line.usd_micro == 0) continue;
    const double users = facts_.demand.populations[*id].users *
                         (static_cast<double>(left.share_ppb()) / 1e9);
    line.arithmetic = fmt::format("{:.0f} users at unserved_usd_user_month", users);
    lines_.push_back(std::move(line));
  }
}

}  // namespace isochrone::verify
