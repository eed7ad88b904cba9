#include "place/verify/verify.h"

#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/verify/honest_plan.h"

namespace isochrone::verify {
namespace {

constexpr auto npos = std::string::npos;

std::string faults_of(const plan::Plan& plan) {
  std::string text;
  for (const Fault& fault : verify(plan, small_question(), world()).faults) {
    text += fmt::format("{}: {}\n", fault.where, fault.message);
  }
  return text;
}

std::string faults_after(const std::function<void(plan::Plan&)>& change) {
  plan::Plan plan = honest_plan();
  change(plan);
  return faults_of(plan);
}

TEST_SUITE("place/verify") {
  TEST_CASE("a plan without fault has none") {
    const Verification verification = verify(honest_plan(), small_question(), world());

    CHECK(faults_of(honest_plan()) == "");
    CHECK(verification.checked.size() >= 9);
    CHECK_FALSE(verification.rests_on.empty());
  }

  TEST_CASE("the arithmetic of rented GPUs is told") {
    const std::string faults = faults_after([](plan::Plan& plan) {
      plan.mutable_pools(0)->set_gpus(plan.pools(0).gpus() + 8);
    });

    INFO(faults);
    CHECK(faults.find("replicas of 1 GPUs in groups of 8 need") != npos);
  }

  TEST_CASE("a site that takes data where the law does not admit it is named") {
    const std::string faults = faults_after(
        [](plan::Plan& plan) { plan.mutable_law(0)->set_may_be_in(0, "US"); });

    INFO(faults);
    CHECK(faults.find("law[0].may_be_in: US FR, it should be DE FR") != npos);
  }

  TEST_CASE(
      "a loss that the rest cannot carry is named with its block and its people") {
    const std::string faults = faults_after(
        [](plan::Plan& plan) { plan.mutable_pools(1)->set_degraded_capacity(1); });

    INFO(faults);
    CHECK(faults.find("survival: without site acme/frankfurt") != npos);
    CHECK(faults.find("find no place in block") != npos);
  }

  TEST_CASE("a pool with more users than it carries is named with its block") {
    const std::string faults = faults_after(
        [](plan::Plan& plan) { plan.mutable_pools(0)->set_capacity(1000); });

    INFO(faults);
    CHECK(faults.find("pools[0].capacity: 1000 micro-rps, its table gives") != npos);
    CHECK(faults.find(" come in block ") != npos);
  }

  TEST_CASE("users left out beyond the coverage are told") {
    const std::string faults = faults_after(
        [](plan::Plan& plan) { plan.mutable_unserved(0)->set_share_ppb(900'000'000); });

    INFO(faults);
    CHECK(faults.find("users of \"people\" are left out, 3000.0 may be") != npos);
  }

  TEST_CASE("an infeasible answer needs a conflict and no pools") {
    plan::Plan plan = honest_plan();
    plan.set_status("infeasible");

    const std::string faults = faults_of(plan);
    INFO(faults);
    CHECK(faults.find("status: \"infeasible\", but there are pools") != npos);
    CHECK(faults.find("conflicts: infeasible, but no conflict is told") != npos);
  }

  TEST_CASE("indices that point nowhere are faults and no crash") {
    const std::string faults = faults_after([](plan::Plan& plan) {
      plan.mutable_pools(0)->set_site(99);
      plan.mutable_pools(1)->set_table(99);
      plan.mutable_assignments(0)->set_pool(99);
      plan.mutable_assignments(1)->clear_share_ppb();
      plan.mutable_certificate()->mutable_rows(0)->add_demands(999);
      plan.mutable_tables(0)->clear_occupancy();
    });

    INFO(faults);
    CHECK(faults.find("pools[0].site: it names no candidate") != npos);
    CHECK(faults.find("pools[1].table: there is no such table") != npos);
    CHECK(faults.find("assignments[0].pool: there is no such pool") != npos);
    CHECK(faults.find("certificate.rows[0].demands: it is no price of a population") !=
          npos);
  }

  TEST_CASE("an empty plan is faults and no crash") {
    plan::Plan plan;
    CHECK(faults_of(plan) != "");
    plan.set_status("planned");
    CHECK(faults_of(plan) != "");
  }
}

}  // namespace
}  // namespace isochrone::verify
