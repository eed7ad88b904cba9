#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "place/verify/checks.h"
#include "place/verify/expected_bill.h"

namespace isochrone::verify {
namespace {

void check_lines(const Facts& facts, Faults& faults, const ExpectedBill& bill) {
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
    faults.equal(where + ".what", claimed.what(), should.what);
    faults.equal(where + ".usd_micro", claimed.usd_micro(), should.usd_micro);
    faults.equal(where + ".in_bill", claimed.in_bill(), should.in_bill);
    faults.equal(where + ".arithmetic", claimed.arithmetic(), should.arithmetic);
    faults.equal(where + ".basis", claimed.basis(), should.basis);
    faults.equal(where + ".source", claimed.source(), should.source);
    faults.equal(where + ".as_of", claimed.as_of(), should.as_of);
    faults.equal(where + ".reported", claimed.reported(), should.reported);
  }
}

void check_totals(const Facts& facts, Faults& faults, const ExpectedBill& bill) {
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

void check_spend(const Facts& facts, Faults& faults, const ExpectedBill& bill) {
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

void check_provider_share(const Facts& facts, Faults& faults,
                          const ExpectedBill& bill) {
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
  const ExpectedBill bill(facts);
  check_lines(facts, faults, bill);
  check_totals(facts, faults, bill);
  check_spend(facts, faults, bill);
  check_provider_share(facts, faults, bill);
}

}  // namespace isochrone::verify
