// Every line of a bill, worked out by hand from rows of the tables. Prices of an L40S
// alone at AWS, us-east-1 and us-east-2, on 2026-01-21: 1.861 $/h, 1.1724 $/h for a
// year. Egress of AWS out of the US: 100 GB free, 0.09 $/GB to 10,240 GB, then 0.085.
// Months have 730 hours, the horizon 18 of them.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "place/planner/assemble.h"
#include "scenarios/scenario.h"
#include "tests/place/world.h"

namespace isochrone::place {
namespace {

scenarios::Scenario scenario_with(const std::string& exit) {
  return scenarios::parse_scenario(fmt::format(R"(name: money
headroom: 1
horizon: {{order_date: 2026-12-01, start: 2027-03-01, months: 18}}
workloads: [{{name: w, kind: service, service_ms: {{constant: 10}}, streams_per_gpu: 1,
             data: [none], payload: {{down_kb: 1000}}, slo: {{e2e_p95_ms: 1000}}}}]
demand: [{{name: d, workload: w, users: {{US: 1000000}}, metros_max: 1,
          requests_per_user_day: 1, daily_profile: flat, access: none}}]
sites:
  only: [aws/us-east-1, aws/us-east-2]
  fixed_usd_site_month: 1500
  prefer: [{{provider: aws, premium_usd_month: 1000}}]
  keep: [{{name: estate, site: aws/us-east-1, gpu: A100-80GB-SXM, gpus: 16,
          until: 2029-12-31, sunk: true, exit_usd: 9000}}]
terms: {{allow: [on_demand, reserved_1y], exit: {{count: {}, stored_tb: 10,
        notice_months: 3, switch_usd_provider: 36000}}}}
residency: {{mode: off}}
)",
                                               exit),
                                   "money.yaml", ".", world());
}

class MoneyPlan {
 public:
  explicit MoneyPlan(const std::string& exit)
      : scenario_(scenario_with(exit)), question_(Question::ask(scenario_, world())) {
    for (const char* name : {"aws/us-east-1", "aws/us-east-2"}) {
      plan::Site& site = *plan_.add_sites();
      site.set_name(name);
      site.set_provider("aws");
      site.set_fixed_usd_micro(1'500'000'000);
    }
    add_pool(0, "L40S-48GB", "reserved_1y", 10, 750'000'000);
    add_pool(1, "L40S-48GB", "on_demand", 4, 250'000'000);
    add_pool(0, "A100-80GB-SXM", "kept", 16, 0);
    write_bill(question_, plan_);
  }

  const plan::Plan& plan() const { return plan_; }

  /// The lines of a kind and site: amounts in micro-dollars a month.
  std::vector<std::int64_t> amounts(const std::string& kind,
                                    const std::string& site) const {
    std::vector<std::int64_t> all;
    for (const plan::BillLine& line : plan_.bill()) {
      if (line.kind() == kind && line.site() == site) all.push_back(line.usd_micro());
    }
    return all;
  }

  const plan::BillLine& line(const std::string& kind) const {
    const auto found = std::ranges::find(plan_.bill(), kind, &plan::BillLine::kind);
    REQUIRE(found != plan_.bill().end());
    return *found;
  }

  /// Bytes that the users draw in a mean month: 1 MB a request.
  std::int64_t bytes() const {
    const auto& requests = question_.demand.populations.items()[0].requests_month;
    return std::accumulate(requests.begin(), requests.end(), std::int64_t{0}) *
           1'000'000;
  }

 private:
  void add_pool(std::uint32_t site, const std::string& gpu, const std::string& term,
                std::int64_t gpus, std::uint32_t share) {
    const auto& name = plan_.sites(static_cast<int>(site)).name();
    const auto candidate = std::ranges::find(question_.candidates.sites.items(), name,
                                             &scenarios::CandidateSite::id);
    REQUIRE(candidate != question_.candidates.sites.items().end());
    const auto offer = std::ranges::find_if(candidate->offers, [&](const auto& o) {
      return world().gpus[o.gpu].id == gpu && o.term == term &&
             (term == "kept" || o.shape_gpus == 1);
    });
    REQUIRE(offer != candidate->offers.end());
    plan::Pool& pool = *plan_.add_pools();
    pool.set_site(site);
    pool.set_workload("w");
    pool.set_profile("service");
    pool.set_gpu(gpu);
    pool.set_shape_gpus(offer->shape_gpus);
    pool.set_term(term);
    pool.set_gpus(gpus);
    pool.set_price_basis(scenarios::to_text(offer->basis));
    pool.set_bill_usd_micro_per_gpu_month(offer->bill_gpu_month.count());
    if (share == 0) return;
    plan::Assignment& assigned = *plan_.add_assignments();
    assigned.set_demand("d");
    assigned.set_metro(question_.demand.populations.items()[0].metro);
    assigned.set_pool(static_cast<std::uint32_t>(plan_.pools_size() - 1));
    for (std::size_t b = 0; b < scenarios::kBlocks; ++b) assigned.add_share_ppb(share);
  }

  scenarios::Scenario scenario_;
  Question question_;
  plan::Plan plan_;
};

std::vector<std::int64_t> dollars(std::vector<double> amounts) {
  std::vector<std::int64_t> all;
  for (const double usd_amount : amounts) all.push_back(usd(usd_amount).count());
  return all;
}

TEST_SUITE("place/money lines") {
  TEST_CASE("rent is price times hours, and a sunk estate costs nothing more") {
    const MoneyPlan money("reported");

    // 1.1724 x 730 x 10 = 8,558.52; the kept A100 are paid whether used or not.
    CHECK(money.amounts("gpu", "aws/us-east-1") == dollars({8558.52, 0}));
    // 1.861 x 730 x 4.
    CHECK(money.amounts("gpu", "aws/us-east-2") == dollars({5434.12}));
    CHECK(money.amounts("fixed", "aws/us-east-1") == dollars({1500}));
  }

  // 18 months need two years: 6 of 24 months lie beyond the horizon. 1.1724 x 730 x 6 /
  // 18 = 285.284 a GPU and month, ten of them.
  TEST_CASE("a commitment past the horizon is a line of its own, and paid") {
    const MoneyPlan money("reported");

    CHECK(money.amounts("commitment", "aws/us-east-1") == dollars({2852.84}));
    CHECK(money.line("commitment").in_bill());
    CHECK(money.amounts("commitment", "aws/us-east-2").empty());
  }

  // 1 M requests of 1 MB a day for the 550 days from 2027-03-01 to 2028-08-31, a mean
  // month of 18: 30,555.6 GB, of which one site sends three quarters. The tiers are
  // AWS's over both: 100 free, 10,140 x 0.09 = 912.60, 20,315.6 x 0.085 = 1,726.82,
  // together 2,639.42. Alone the sites would pay 912.60 + 12,676.7 x 0.085 = 1,990.12
  // and 7,538.9 x 0.09 = 678.50: 29.20 more.
  TEST_CASE("egress goes through the provider's tiers once, over all its sites") {
    const MoneyPlan money("reported");
    const double gb = static_cast<double>(money.bytes()) / 1e9;
    const double whole = 10'140 * 0.09 + (gb - 10'240) * 0.085;

    CHECK(gb == doctest::Approx(30'555.6).epsilon(1e-5));
    CHECK(whole == doctest::Approx(2'639.42).epsilon(1e-5));
    const auto one = money.amounts("egress", "aws/us-east-1");
    const auto other = money.amounts("egress", "aws/us-east-2");
    REQUIRE(one.size() == 1);
    REQUIRE(other.size() == 1);
    CHECK(static_cast<double>(one[0]) / 1e6 == doctest::Approx(whole * 0.75));
    CHECK(static_cast<double>(other[0]) / 1e6 == doctest::Approx(whole * 0.25));
  }

  // Three months of notice: on demand 3 x 1.861 x 730 / 18 = 226.421667 a GPU and
  // month; the reservation runs on for six months anyway, so its notice is paid
  // already.
  TEST_CASE("notice counts only beyond what a commitment pays") {
    const MoneyPlan money("reported");

    CHECK(money.amounts("notice", "aws/us-east-2") ==
          std::vector<std::int64_t>{4 * 226'421'667});
    CHECK(money.amounts("notice", "aws/us-east-1").empty());
  }

  // Work 36,000 / 18 = 2,000. 10 TB at once: 100 GB free, 9,900 x 0.09 = 891, / 18
  // = 49.5. The estate's 9,000 / 18 = 500.
  TEST_CASE("leaving a provider is work, egress of what is stored, and estates") {
    const MoneyPlan money("reported");

    CHECK(money.amounts("switch", "aws") == dollars({2000}));
    CHECK(money.amounts("exit", "aws") == dollars({49.5}));
    CHECK(money.amounts("exit", "aws/us-east-1") == dollars({500}));
    CHECK(money.amounts("premium", "aws") == dollars({1000}));
  }

  TEST_CASE("what is only reported is in neither sum, what is assumed is in one") {
    const MoneyPlan reported("reported");
    const MoneyPlan assumed("assumed");
    const std::int64_t bill = reported.plan().totals().bill_usd_micro();

    CHECK(reported.line("notice").reported());
    CHECK(reported.line("switch").reported());
    CHECK_FALSE(reported.line("premium").reported());
    CHECK(reported.plan().totals().objective_usd_micro() == bill + usd(1000).count());
    CHECK_FALSE(assumed.line("notice").reported());
    CHECK_FALSE(assumed.line("switch").reported());
    CHECK(assumed.plan().totals().bill_usd_micro() == bill);
    // 1,000 + 4 x 226.421667 + 2,000 + 49.5; the estate's exit stays a report.
    CHECK(assumed.plan().totals().objective_usd_micro() ==
          bill + usd(3049.5).count() + 4 * 226'421'667);
  }

  TEST_CASE("the bill is the sum of its billed lines, and of what it rests on") {
    const MoneyPlan money("reported");
    std::int64_t lines = 0;
    std::int64_t spend = 0;
    for (const plan::BillLine& line : money.plan().bill()) {
      if (line.in_bill()) lines += line.usd_micro();
    }
    for (const plan::SpendShare& share : money.plan().spend()) {
      spend += share.usd_micro();
    }

    CHECK(money.plan().totals().bill_usd_micro() == lines);
    CHECK(spend == lines);
  }
}

}  // namespace
}  // namespace isochrone::place
