#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "place/verify/batch_need.h"
#include "place/verify/checks.h"
#include "place/verify/traffic.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::Offer;

struct Line {
  std::string kind;
  std::string site;
  std::int64_t usd_micro = 0;
  bool in_bill = true;
  std::string basis;
  bool reported = false;
};

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

/// The bill as it should read: GPUs of each pool, then open sites, egress, premiums and
/// those left out, each in the plan's own order.
class Bill {
 public:
  explicit Bill(const Facts& facts) : facts_(facts) {
    add_gpus();
    add_fixed();
    add_egress();
    add_premiums();
    add_leaving();
    add_unserved();
  }

  const std::vector<Line>& lines() const { return lines_; }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }
  std::int64_t egress_bound() const { return egress_bound_; }
  const std::map<std::string, std::int64_t>& spend() const { return spend_; }
  const std::map<std::string, std::int64_t>& cost() const { return cost_; }
  const std::map<std::string, std::int64_t>& gpus() const { return gpus_; }

 private:
  void add_gpus() {
    for (const plan::Pool& pool : facts_.plan.pools()) {
      const CandidateSite* site = facts_.site_of(pool);
      const Offer* offer = site == nullptr ? nullptr : offer_of(*site, pool);
      if (offer == nullptr) continue;  // reported where the pools are checked
      if (pool.profile() == "batch" && add_batch(pool, *site, *offer)) continue;
      add_rent(pool, *site, *offer, offer->bill_gpu_month.count() * pool.gpus(),
               offer->bill_low_gpu_month.count() * pool.gpus(),
               offer->bill_high_gpu_month.count() * pool.gpus(),
               offer->extra_gpu_month.count() * pool.gpus());
      add_notice(pool, *site, *offer);
    }
  }

  std::int64_t months() const { return facts_.scenario.spec.horizon().months(); }
  bool exit_assumed() const {
    return facts_.scenario.spec.terms().exit().count() == "assumed";
  }

  /// Told only: where exit is assumed, notice is an extra of the offer.
  void add_notice(const plan::Pool& pool, const CandidateSite& site,
                  const Offer& offer) {
    const double asked = facts_.scenario.spec.terms().exit().notice_months();
    const std::int64_t notice = notice_of(offer, months(), asked) * pool.gpus();
    if (notice == 0 || exit_assumed()) return;
    lines_.push_back(
        {"notice", site.id, notice, false, scenarios::to_text(offer.basis), true});
  }

  const Offer* offer_of(const CandidateSite& site, const plan::Pool& pool) const {
    for (const Offer& offer : site.offers) {
      if (facts_.catalog.gpus[offer.gpu].id == pool.gpu() &&
          offer.shape_gpus == pool.shape_gpus() && offer.term == pool.term()) {
        return &offer;
      }
    }
    return nullptr;
  }

  /// Jobs on hourly terms give their GPUs back when they end.
  bool add_batch(const plan::Pool& pool, const CandidateSite& site,
                 const Offer& offer) {
    const spec::Workload* workload = facts_.workload(pool.workload());
    if (workload == nullptr || (offer.term != "on_demand" && offer.term != "spot")) {
      return false;
    }
    const BatchNeed need =
        batch_need(facts_.catalog, *workload, offer.gpu, offer.shape_gpus);
    const std::int64_t bill = need.gpu_hours_used * offer.price.count();
    add_rent(pool, site, offer, bill, bill, bill, 0);
    return true;
  }

  void add_rent(const plan::Pool& pool, const CandidateSite& site, const Offer& offer,
                std::int64_t bill, std::int64_t low, std::int64_t high,
                std::int64_t extra) {
    const std::string basis = scenarios::to_text(offer.basis);
    // Of a commitment, the months after the horizon stand in a line of their own.
    const bool committed = months_paid(offer, months()) > months();
    const std::int64_t within = per_month(offer.price).count() * pool.gpus();
    lines_.push_back({"gpu", site.id, committed ? within : bill, true, basis});
    if (committed) {
      lines_.push_back({"commitment", site.id, bill - within, true, basis});
    }
    const char* kind = offer.term == "built" ? "purchase" : "notice";
    if (extra != 0) lines_.push_back({kind, site.id, extra, false, basis});
    low_ += low;
    high_ += high;
    spend_[basis] += bill;
    cost_[share_group(site)] += bill;
    gpus_[share_group(site)] += pool.gpus();
  }

  void add_certain(Line line, const std::string& rests_on) {
    low_ += line.usd_micro;
    high_ += line.usd_micro;
    spend_[rests_on] += line.usd_micro;
    lines_.push_back(std::move(line));
  }

  void add_fixed() {
    for (const plan::Site& claimed : facts_.plan.sites()) {
      const CandidateSite* site = facts_.candidate(claimed.name());
      if (site == nullptr || site->fixed_month.count() == 0) continue;
      add_certain({"fixed", site->id, site->fixed_month.count(), true, "scenario"},
                  "scenario");
      cost_[share_group(*site)] += site->fixed_month.count();
    }
  }

  void add_egress() {
    const Traffic traffic(facts_);
    std::map<std::string, std::vector<std::pair<std::string, std::int64_t>>>
        by_provider;
    for (const auto& [site, bytes] : traffic.by_site()) {
      by_provider[facts_.candidate(site)->provider].emplace_back(site, bytes);
    }
    for (const auto& [provider, sites] : by_provider) {
      std::int64_t volume = 0;
      for (const auto& [site, bytes] : sites) volume += bytes;
      for (const auto& [name, bytes] : sites) {
        const CandidateSite& site = *facts_.candidate(name);
        // Each site pays its part of what its own list asks for the whole volume.
        const std::int64_t whole = Traffic::bill(site.egress, volume);
        const auto part =
            volume == 0 ? 0 : static_cast<std::int64_t>(Wide{whole} * bytes / volume);
        const bool dearest = site.egress.assumed_dearest;
        add_certain({"egress", name, part, true,
                     dearest ? "dearest known tier, assumed" : "provider list"},
                    dearest ? "egress, assumed dearest" : "egress list");
        egress_bound_ += at_rate(bytes, Traffic::lowest_paid_rate(site.egress, volume));
      }
    }
  }

  void add_premiums() {
    std::set<std::string> providers;
    for (const plan::Site& claimed : facts_.plan.sites()) {
      const CandidateSite* site = facts_.candidate(claimed.name());
      if (site != nullptr) providers.insert(site->provider);
    }
    for (const std::string& provider : providers) {
      const auto premium = facts_.candidates.preference.find(provider);
      if (premium == facts_.candidates.preference.end()) continue;
      lines_.push_back(
          {"premium", provider, premium->second.count(), false, "scenario"});
    }
  }

  /// Egress of `gb` at once from the dearest of a provider's candidates.
  double stored_usd(const std::string& provider, double gb) const {
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

  void add_leaving() {
    const spec::Exit& exit = facts_.scenario.spec.terms().exit();
    const bool told = !exit_assumed();
    const auto add = [&](const char* kind, const std::string& who, double once,
                         bool reported) {
      const std::int64_t month = usd(once / static_cast<double>(months())).count();
      if (month == 0) return;
      lines_.push_back({kind, who, month, false, "scenario", reported});
    };
    std::set<std::string> providers;
    for (const plan::Site& claimed : facts_.plan.sites()) {
      const CandidateSite* site = facts_.candidate(claimed.name());
      if (site != nullptr) providers.insert(site->provider);
    }
    for (const std::string& provider : providers) {
      add("switch", provider, exit.switch_usd_provider(), told);
      add("exit", provider, stored_usd(provider, exit.stored_tb() * 1000), told);
    }
    for (const spec::Keep& estate : facts_.scenario.spec.sites().keep()) {
      add("exit", estate.site(), estate.exit_usd(), true);
    }
  }

  void add_unserved() {
    for (const plan::Unserved& left : facts_.plan.unserved()) {
      const auto id = facts_.population(left.demand(), left.metro());
      if (!id) continue;
      const std::int64_t price = unserved_price(facts_, *id, left.share_ppb());
      if (price == 0) continue;
      lines_.push_back({"unserved", left.metro(), price, false, "scenario"});
    }
  }

  const Facts& facts_;
  std::vector<Line> lines_;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t egress_bound_ = 0;
  std::map<std::string, std::int64_t> spend_;
  std::map<std::string, std::int64_t> cost_;  // rent and fixed cost, by share group
  std::map<std::string, std::int64_t> gpus_;
};

void check_lines(const Facts& facts, Faults& faults, const Bill& bill) {
  const int count = facts.plan.bill_size();
  const std::vector<Line>& lines = bill.lines();
  if (count != static_cast<int>(lines.size())) {
    faults.add("bill",
               fmt::format("{} lines, there should be {}", count, lines.size()));
  }
  for (int i = 0; i < std::min(count, static_cast<int>(lines.size())); ++i) {
    const plan::BillLine& claimed = facts.plan.bill(i);
    const Line& should = lines[static_cast<std::size_t>(i)];
    const std::string where = fmt::format("bill[{}]", i);
    faults.equal(where + ".kind", claimed.kind(), should.kind);
    faults.equal(where + ".site", claimed.site(), should.site);
    faults.equal(where + ".usd_micro", claimed.usd_micro(), should.usd_micro);
    faults.equal(where + ".in_bill", claimed.in_bill(), should.in_bill);
    faults.equal(where + ".basis", claimed.basis(), should.basis);
    faults.equal(where + ".reported", claimed.reported(), should.reported);
  }
}

void check_totals(const Facts& facts, Faults& faults, const Bill& bill) {
  std::int64_t billed = 0;
  std::int64_t everything = 0;
  for (const Line& line : bill.lines()) {
    if (!line.reported) everything += line.usd_micro;
    if (line.in_bill) billed += line.usd_micro;
  }
  std::int64_t gpus = 0;
  std::int64_t replicas = 0;
  for (const plan::Pool& pool : facts.plan.pools()) {
    gpus += pool.gpus();
    replicas += pool.replicas();
  }
  double left_out = 0;
  for (const plan::Unserved& left : facts.plan.unserved()) left_out += left.users();
  const plan::Totals& totals = facts.plan.totals();
  faults.equal("totals.bill_usd_micro", totals.bill_usd_micro(), billed);
  faults.equal("totals.objective_usd_micro", totals.objective_usd_micro(), everything);
  faults.equal("totals.horizon_usd_micro", totals.horizon_usd_micro(),
               billed * facts.scenario.spec.horizon().months());
  faults.equal("totals.bill_low_usd_micro", totals.bill_low_usd_micro(), bill.low());
  faults.equal("totals.bill_high_usd_micro", totals.bill_high_usd_micro(), bill.high());
  faults.equal("totals.gpus", totals.gpus(), gpus);
  faults.equal("totals.replicas", totals.replicas(), replicas);
  const double asked = facts.demand.users_asked;
  faults.near("totals.users_asked", totals.users_asked(), asked, 1e-9 * asked);
  faults.near("totals.users_served", totals.users_served(),
              facts.demand.users_served - left_out, 1e-9 * asked + 1e-6);
  faults.equal("totals.egress_bound_usd_micro", totals.egress_bound_usd_micro(),
               bill.egress_bound());
  const spec::Limits& limits = facts.scenario.spec.limits();
  if (limits.has_budget_usd_month() &&
      billed > usd(limits.budget_usd_month()).count()) {
    faults.add("totals.bill_usd_micro", "it is above the budget");
  }
}

void check_spend(const Facts& facts, Faults& faults, const Bill& bill) {
  std::int64_t billed = 0;
  for (const auto& [basis, amount] : bill.spend()) billed += amount;
  if (facts.plan.spend_size() != static_cast<int>(bill.spend().size())) {
    faults.add("spend", fmt::format("{} kinds, there should be {}",
                                    facts.plan.spend_size(), bill.spend().size()));
  }
  std::set<std::string> seen;
  for (int i = 0; i < facts.plan.spend_size(); ++i) {
    const plan::SpendShare& claimed = facts.plan.spend(i);
    const std::string where = fmt::format("spend[{}]", i);
    const auto should = bill.spend().find(claimed.basis());
    if (should == bill.spend().end() || !seen.insert(claimed.basis()).second) {
      faults.add(where + ".basis",
                 fmt::format("nothing (more) rests on \"{}\"", claimed.basis()));
      continue;
    }
    if (i > 0 && claimed.basis() < facts.plan.spend(i - 1).basis()) {
      faults.add(where + ".basis", "they are not sorted by basis");
    }
    faults.equal(where + ".usd_micro", claimed.usd_micro(), should->second);
    const double share =
        billed > 0 ? static_cast<double>(should->second) / static_cast<double>(billed)
                   : 0;
    faults.near(where + ".share", claimed.share(), share, 1e-9);
  }
}

/// Requests of a mean month by share group.
std::map<std::string, std::int64_t> requests_by_group(const Facts& facts) {
  std::map<std::string, std::int64_t> requests;
  for (const plan::Assignment& assigned : facts.plan.assignments()) {
    const auto id = facts.population(assigned.demand(), assigned.metro());
    const plan::Pool* pool = facts.pool(assigned.pool());
    if (!id || pool == nullptr || facts.site_of(*pool) == nullptr) continue;
    const scenarios::Population& population = facts.demand.populations[*id];
    const int blocks = std::min<int>(assigned.share_ppb_size(), scenarios::kBlocks);
    for (int b = 0; b < blocks; ++b) {
      requests[share_group(*facts.site_of(*pool))] += static_cast<std::int64_t>(
          Wide{population.load[static_cast<std::size_t>(b)].count()} *
          assigned.share_ppb(b) / kWholeShare);
    }
  }
  return requests;
}

void check_provider_share(const Facts& facts, Faults& faults, const Bill& bill) {
  const spec::Limits& limits = facts.scenario.spec.limits();
  if (!limits.has_max_provider_share()) return;
  const std::string& of = limits.max_provider_share().of();
  const auto parts = of == "cost"      ? bill.cost()
                     : of == "traffic" ? requests_by_group(facts)
                                       : bill.gpus();
  std::int64_t all = 0;
  for (const auto& [group, part] : parts) all += part;
  for (const auto& [group, part] : parts) {
    const double share = static_cast<double>(part) / static_cast<double>(all);
    if (share > limits.max_provider_share().share() + 1e-6) {
      faults.add(
          "limits.max_provider_share",
          fmt::format("{} has {:.4f} of {}, {} are allowed", group, share,
                      of.empty() ? "gpus" : of, limits.max_provider_share().share()));
    }
  }
}

}  // namespace

std::int64_t unserved_price(const Facts& facts, scenarios::PopulationId id,
                            std::int64_t share_ppb) {
  const scenarios::Population& population = facts.demand.populations[id];
  const spec::Demand& entry =
      facts.scenario.spec.demand(static_cast<int>(population.entry));
  const MicroUsd all = usd(population.users * entry.unserved_usd_user_month());
  const Wide scaled = Wide{all.count()} * share_ppb;
  return static_cast<std::int64_t>((scaled + kWholeShare - 1) / kWholeShare);
}

void check_bill(const Facts& facts, Faults& faults) {
  const Bill bill(facts);
  check_lines(facts, faults, bill);
  check_totals(facts, faults, bill);
  check_spend(facts, faults, bill);
  check_provider_share(facts, faults, bill);
}

}  // namespace isochrone::verify
