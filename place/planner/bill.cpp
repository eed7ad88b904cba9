#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "place/planner/assemble.h"
#include "place/planner/egress.h"
#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

__extension__ using Wide = __int128;

/// What the price of a line rests on.
struct Priced {
  std::string basis;
  std::string source;
  std::string as_of;
};

Priced by_scenario(const char* field) { return {"scenario", field, ""}; }

class Biller {
 public:
  Biller(const Question& question, plan::Plan& plan)
      : question_(question), plan_(plan) {
    for (const scenarios::CandidateSite& site : question.candidates.sites) {
      candidate_[site.id] = &site;
    }
    for (const scenarios::Population& p : question.demand.populations) {
      population_[{question.entry(p.entry).name(), p.metro}] = &p;
    }
  }

  void bill() {
    plan_.clear_bill();
    plan_.clear_spend();
    bill_gpus();
    bill_fixed();
    bill_egress();
    bill_premiums();
    bill_leaving();
    bill_unserved();
    add_totals();
  }

 private:
  plan::BillLine& line(const std::string& kind, const std::string& site,
                       const std::string& what, MicroUsd amount, bool in_bill,
                       const std::string& arithmetic, const Priced& priced) {
    plan::BillLine& row = *plan_.add_bill();
    row.set_kind(kind);
    row.set_site(site);
    row.set_what(what);
    row.set_usd_micro(amount.count());
    row.set_in_bill(in_bill);
    row.set_arithmetic(arithmetic);
    row.set_basis(priced.basis);
    row.set_source(priced.source);
    row.set_as_of(priced.as_of);
    return row;
  }

  void bill_gpus() {
    for (const plan::Pool& pool : plan_.pools()) {
      const std::string& site = plan_.sites(static_cast<int>(pool.site())).name();
      const std::string what = fmt::format("{} x {} for {}, {}", pool.gpus(),
                                           pool.gpu(), pool.workload(), pool.term());
      const scenarios::Offer& offer = offer_of(question_, plan_, pool);
      MicroUsd bill = offer.bill_gpu_month * pool.gpus();
      MicroUsd extra = offer.extra_gpu_month * pool.gpus();
      MicroUsd beyond = offer.beyond_gpu_month * pool.gpus();
      MicroUsd notice = offer.notice_gpu_month * pool.gpus();
      MicroUsd low = offer.bill_low_gpu_month * pool.gpus();
      MicroUsd high = offer.bill_high_gpu_month * pool.gpus();
      std::string how = fmt::format("{} GPUs x ({})", pool.gpus(), offer.arithmetic);
      if (pool.profile() == "batch") {
        const BatchFit fit =
            fit_batch(question_, workload_named(pool.workload()), offer);
        bill = fit.bill_month;
        extra = fit.extra_month;
        how = fit.arithmetic;
        // Jobs on hourly terms give their GPUs back when they end.
        if (offer.term == "on_demand" || offer.term == "spot") {
          beyond = notice = {};
          low = high = bill;
        }
      }
      line("gpu", site, what, bill - beyond, true, how, priced(pool));
      if (beyond.count() != 0) {
        line("commitment", site, "months after the horizon, " + what, beyond, true,
             fmt::format("{} GPUs x {:.6g} $/h x 730 h x {} months past the end / {}",
                         pool.gpus(), static_cast<double>(offer.price.count()) / 1e6,
                         (question_.months() + 11) / 12 * 12 - question_.months(),
                         question_.months()),
             priced(pool));
      }
      bill_ends(pool, what, extra, notice);
      low_ += low;
      high_ += high;
      spend_[pool.price_basis()] += bill;
    }
  }

  static Priced priced(const plan::Pool& pool) {
    return {pool.price_basis(), pool.price_source(), pool.price_as_of()};
  }

  /// What the end of the horizon leaves to pay for a pool, beside the bill.
  void bill_ends(const plan::Pool& pool, const std::string& what, MicroUsd extra,
                 MicroUsd notice) {
    const std::string& site = plan_.sites(static_cast<int>(pool.site())).name();
    const bool built = pool.term() == "built";
    if (extra.count() != 0) {
      line(built ? "purchase" : "notice", site,
           (built ? "unamortised rest less resale, " : "after the last month, ") + what,
           extra, false, fmt::format("{} GPUs, per month of the horizon", pool.gpus()),
           priced(pool));
    } else if (notice.count() != 0 && !question_.candidates.exit_assumed) {
      line("notice", site, "after the last month, " + what, notice, false,
           fmt::format("{} GPUs, {:g} months of notice", pool.gpus(),
                       question_.scenario.spec.terms().exit().notice_months()),
           priced(pool))
          .set_reported(true);
    }
  }

  std::size_t workload_named(const std::string& name) const {
    const auto& all = question_.scenario.spec.workloads();
    const auto it = std::ranges::find(all, name, &spec::Workload::name);
    return static_cast<std::size_t>(it - all.begin());
  }

  void bill_fixed() {
    for (const plan::Site& site : plan_.sites()) {
      if (site.fixed_usd_micro() == 0) continue;
      const MicroUsd fixed = MicroUsd::of(site.fixed_usd_micro());
      line("fixed", site.name(), "an open site", fixed, true, "as the scenario says",
           by_scenario("sites.fixed_usd_site_month"));
      add_certain(fixed, "scenario");
    }
  }

  void add_certain(MicroUsd amount, const std::string& basis) {
    low_ += amount;
    high_ += amount;
    spend_[basis] += amount;
  }

  /// Bytes that leave each site in a mean month, by its shares.
  std::map<std::string, std::int64_t> bytes_by_site() const {
    std::map<std::string, std::int64_t> bytes;
    for (const plan::Assignment& a : plan_.assignments()) {
      const scenarios::Population& p = *population_.at({a.demand(), a.metro()});
      const std::int64_t each =
          scenarios::egress_bytes_per_request(question_.scenario, p.workload);
      const std::string& site =
          plan_.sites(static_cast<int>(plan_.pools(static_cast<int>(a.pool())).site()))
              .name();
      for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
        bytes[site] += static_cast<std::int64_t>(
            static_cast<Wide>(p.requests_month[block] * each) *
            a.share_ppb(static_cast<int>(block)) / 1'000'000'000);
      }
    }
    return bytes;
  }

  void bill_egress() {
    std::map<std::string, std::vector<std::string>> sites_of;  // provider
    const auto bytes = bytes_by_site();
    for (const auto& [site, volume] : bytes) {
      sites_of[candidate_.at(site)->provider].push_back(site);
    }
    for (const auto& [provider, sites] : sites_of) {
      std::vector<SiteTraffic> traffic;
      std::int64_t total = 0;
      for (const std::string& site : sites) {
        traffic.push_back({&candidate_.at(site)->egress, bytes.at(site)});
        total += bytes.at(site);
      }
      const auto bills = egress_bill(traffic);
      for (std::size_t i = 0; i < sites.size(); ++i) {
        const datasets::EgressPrice& price = *traffic[i].price;
        const bool dearest = price.assumed_dearest;
        line("egress", sites[i], "answers to users", bills[i], true,
             fmt::format("{:.1f} GB, tiers at the {:.1f} GB of {}",
                         static_cast<double>(traffic[i].bytes) / 1e9,
                         static_cast<double>(total) / 1e9, provider),
             {dearest ? "dearest known tier, assumed" : "provider list", price.source,
              price.as_of});
        add_certain(bills[i], dearest ? "egress, assumed dearest" : "egress list");
        egress_bound_ += at_rate(traffic[i].bytes, lowest_paid_rate(price, total));
      }
    }
  }

  void bill_premiums() {
    std::set<std::string> providers;
    for (const plan::Site& site : plan_.sites()) providers.insert(site.provider());
    for (const std::string& provider : providers) {
      const auto it = question_.candidates.preference.find(provider);
      if (it == question_.candidates.preference.end()) continue;
      line("premium", provider, "having any site of it", it->second, false,
           "as the scenario says", by_scenario("sites.prefer"));
    }
  }

  /// Work and egress of leaving each provider, then what kept estates cost to leave.
  void bill_leaving() {
    std::set<std::string> providers;
    for (const plan::Site& site : plan_.sites()) providers.insert(site.provider());
    const bool reported = !question_.candidates.exit_assumed;
    const spec::Exit& exit = question_.scenario.spec.terms().exit();
    for (const std::string& provider : providers) {
      const auto it = question_.candidates.leaving.find(provider);
      if (it == question_.candidates.leaving.end()) continue;
      const scenarios::Leaving& leaving = it->second;
      if (leaving.work.count() != 0) {
        line("switch", provider, "work of moving away", leaving.work, false,
             fmt::format("{:.0f} $ / {} months", exit.switch_usd_provider(),
                         question_.months()),
             by_scenario("terms.exit.switch_usd_provider"))
            .set_reported(reported);
      }
      if (leaving.stored.count() != 0) {
        line("exit", provider, "egress of stored data", leaving.stored, false,
             fmt::format("{:g} TB through the tiers of one month / {} months",
                         exit.stored_tb(), question_.months()),
             by_scenario("terms.exit.stored_tb"))
            .set_reported(reported);
      }
    }
    for (const spec::Keep& estate : question_.scenario.spec.sites().keep()) {
      if (estate.exit_usd() <= 0) continue;
      line("exit", estate.site(), "leaving kept estate " + estate.name(),
           usd(estate.exit_usd() / static_cast<double>(question_.months())), false,
           fmt::format("{:.0f} $ / {} months", estate.exit_usd(), question_.months()),
           by_scenario("sites.keep"))
          .set_reported(true);
    }
  }

  void bill_unserved() {
    for (const plan::Unserved& row : plan_.unserved()) {
      if (row.usd_micro() == 0) continue;
      line("unserved", row.metro(), row.demand(), MicroUsd::of(row.usd_micro()), false,
           fmt::format("{:.0f} users at unserved_usd_user_month", row.users()),
           by_scenario("demand.unserved_usd_user_month"));
    }
  }

  void add_totals() {
    plan::Totals& totals = *plan_.mutable_totals();
    std::int64_t bill = 0;
    std::int64_t objective = 0;
    for (const plan::BillLine& row : plan_.bill()) {
      if (!row.reported()) objective += row.usd_micro();
      if (row.in_bill()) bill += row.usd_micro();
    }
    totals.set_bill_usd_micro(bill);
    totals.set_objective_usd_micro(objective);
    totals.set_horizon_usd_micro(bill * question_.months());
    totals.set_bill_low_usd_micro(low_.count());
    totals.set_bill_high_usd_micro(high_.count());
    totals.set_egress_bound_usd_micro(egress_bound_.count());
    std::int64_t gpus = 0;
    std::int64_t replicas = 0;
    for (const plan::Pool& pool : plan_.pools()) {
      gpus += pool.gpus();
      replicas += pool.replicas();
    }
    totals.set_gpus(gpus);
    totals.set_replicas(replicas);
    totals.set_users_asked(question_.demand.users_asked);
    double served = question_.demand.users_served;
    for (const plan::Unserved& row : plan_.unserved()) served -= row.users();
    totals.set_users_served(served);
    for (const auto& [basis, amount] : spend_) {
      plan::SpendShare& share = *plan_.add_spend();
      share.set_basis(basis);
      share.set_usd_micro(amount.count());
      share.set_share(bill > 0 ? static_cast<double>(amount.count()) /
                                     static_cast<double>(bill)
                               : 0);
    }
  }

  const Question& question_;
  plan::Plan& plan_;
  std::map<std::string, const scenarios::CandidateSite*> candidate_;
  std::map<std::pair<std::string, std::string>, const scenarios::Population*>
      population_;
  std::map<std::string, MicroUsd> spend_;
  MicroUsd low_;
  MicroUsd high_;
  MicroUsd egress_bound_;
};

}  // namespace

const scenarios::Offer& offer_of(const Question& question, const plan::Plan& plan,
                                 const plan::Pool& pool) {
  const std::string& name = plan.sites(static_cast<int>(pool.site())).name();
  for (const scenarios::CandidateSite& site : question.candidates.sites) {
    if (site.id != name) continue;
    for (const scenarios::Offer& offer : site.offers) {
      if (question.catalog.gpus[offer.gpu].id == pool.gpu() &&
          offer.shape_gpus == pool.shape_gpus() && offer.term == pool.term() &&
          offer.bill_gpu_month.count() == pool.bill_usd_micro_per_gpu_month()) {
        return offer;
      }
    }
  }
  throw std::invalid_argument(fmt::format("{} offers no {} in shapes of {}, {}", name,
                                          pool.gpu(), pool.shape_gpus(), pool.term()));
}

void write_bill(const Question& question, plan::Plan& plan) {
  Biller(question, plan).bill();
}

}  // namespace isochrone::place
