// The words of the honest plan, written as an architect would read them. The amounts in
// them are those of small_question(): quotes of $2.50 and $2.40, jobs of 2000 / 4 / 16
// = 31.25 h, a hundredth of Berlin left out.
#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "place/verify/traffic.h"
#include "tests/verify/honest_plan.h"

namespace isochrone::verify {
namespace {

void tell(plan::BillLine& line, const std::string& what, const std::string& arithmetic,
          const std::string& source) {
  line.set_what(what);
  line.set_arithmetic(arithmetic);
  line.set_source(source);
}

void tell_rents(plan::Plan& plan) {
  const std::array<const char*, 2> prices{"2.5", "2.4"};
  for (int pool = 0; pool < 2; ++pool) {
    const auto at = static_cast<std::size_t>(pool);
    tell(*plan.mutable_bill(pool),
         fmt::format("{} x H100-80GB-SXM for chat, on_demand", plan.pools(pool).gpus()),
         fmt::format("{} GPUs x ({} $/h x 730 h)", plan.pools(pool).gpus(), prices[at]),
         std::string("quote: sites.add of ") + kOpen[at]);
  }
  tell(*plan.mutable_bill(2), "16 x H100-80GB-SXM for train, on_demand",
       "4 jobs x 31.2 h x 16 GPUs = 2000 GPU-h x $2.4000",
       "quote: sites.add of best/paris");
}

void tell_egress(const Facts& facts, plan::Plan& plan) {
  const auto bytes = Traffic(facts).by_site();
  const std::array<const char*, 2> providers{"acme", "best"};
  for (int site = 0; site < 2; ++site) {
    const auto at = static_cast<std::size_t>(site);
    const double gb = static_cast<double>(bytes.at(kOpen[at])) / 1e9;
    const datasets::EgressPrice& price = facts.candidate(kOpen[at])->egress;
    plan::BillLine& line = *plan.mutable_bill(5 + site);
    tell(line, "answers to users",
         fmt::format("{:.1f} GB, tiers at the {:.1f} GB of {}", gb, gb, providers[at]),
         price.source);
    line.set_as_of(price.as_of);
  }
}

/// The certificate pays 25 for each micro-rps of the blocks 17 to 20, and 50,000
/// nano-dollars for each of the cut in block 12, in which everybody is.
void tell_coverage(const Facts& facts, plan::Plan& plan) {
  plan::Coverage& row = *plan.add_coverage();
  row.set_demand("people");
  row.set_least(0.97);
  row.set_users(100'000);
  row.set_users_left_out(plan.unserved(0).users());
  row.set_left_out_usd_micro(plan.unserved(0).usd_micro());
  row.set_usd_micro_per_user_left_out(3'000'000);
  std::int64_t paid = 0;
  for (const scenarios::Population& p : facts.demand.populations) {
    for (std::size_t block = 17; block <= 20; ++block)
      paid += 25 * p.load[block].count();
    paid += 50 * p.load[12].count();
  }
  row.set_serving_usd_micro(paid);
}

}  // namespace

void add_words(const Facts& facts, plan::Plan& plan) {
  tell_coverage(facts, plan);
  tell_rents(plan);
  for (const int site : {3, 4}) {
    tell(*plan.mutable_bill(site), "an open site", "as the scenario says",
         "sites.fixed_usd_site_month");
  }
  tell_egress(facts, plan);
  tell(*plan.mutable_bill(7), "having any site of it", "as the scenario says",
       "sites.prefer");
  tell(*plan.mutable_bill(8), "people",
       fmt::format("{:.0f} users at unserved_usd_user_month", plan.unserved(0).users()),
       "demand.unserved_usd_user_month");
  plan.mutable_unserved(0)->set_because("cheaper to leave out, within `coverage`");
  plan.mutable_bound()->set_refers_to(
      "cost under these capacity tables, loads enveloped over the days of the "
      "horizon, every arc within its reach alone; limits on stock, provider share "
      "and budget relaxed");
  for (const std::string& note : facts.demand.notes) plan.add_assumptions(note);
  for (const std::string& note : facts.candidates.notes) plan.add_assumptions(note);
  for (const auto& [reason, sites] : facts.candidates.fell_away) {
    plan.add_assumptions(fmt::format("{} sites are no candidates: {}", sites, reason));
  }
  for (const Diagnostic& warning : facts.scenario.warnings) {
    plan.add_warnings(warning.message);
  }
}

}  // namespace isochrone::verify
