// One request and one dollar, worked out by hand from the inputs. The amounts of the
// bill (0.6552 $/h, 424 GB) are those of a plan of eu-bank-fraud; the arithmetic is not
// the program's.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "place/planner/egress.h"
#include "place/planner/tables.h"
#include "scenarios/candidates.h"
#include "scenarios/scenario.h"
#include "tests/place/world.h"

namespace isochrone::place {
namespace {

using namespace std::chrono_literals;

TEST_SUITE("place/golden") {
  // A request of a metro with 10 ms of last mile, objective TTFT p95 within 500 ms:
  //   front end 25 ms + waiting budget 20 ms + prefill 100 ms + last mile 10 ms
  //   = 155 ms
  // leaves 345 ms for the round trip (one, the connection is warm): R* = 345 ms. With
  // TCP + TLS 1.3 the round trip and the last mile are paid three times:
  //   25 + 20 + 100 + 3 * 10 = 175, and (500 - 175) / 3 = 108.333 -> 108.33 ms.
  TEST_CASE("one request: what is left of its objective is its reach") {
    LevelTable level;
    level.wait_budget_ms = 20;
    level.wait_share = 0.04;
    const std::size_t cells = sim::service_grid().size();
    level.law.first_token.assign(cells, 100ms);
    level.law.last_token.assign(cells, 2s);
    ServingOption option;
    option.front_end = 25ms;
    const std::vector<sim::Objective> objectives{
        {sim::Objective::Metric::kTtft, 95, 500ms}};
    const geo::AtomicLaw last_mile{{10}, {1}};

    CHECK(reach(level, option, objectives, false, last_mile, 1, 0ms) ==
          Micros(345'000));
    CHECK(reach(level, option, objectives, false, last_mile, 3, 0ms) ==
          Micros(108'330));
  }

  // L4 at aws/eu-central-1, reserved for a year: 0.6552 $/h in the price table (site
  // price, seen). 24 months are two whole years, so nothing is paid past the horizon:
  //   0.6552 $/h * 730 h = 478.296 $ per GPU and month; two GPUs 956.592 $.
  TEST_CASE("one dollar: from the offer to the rent of a month") {
    const auto scenario = scenarios::read_scenario(
        std::string(ISOCHRONE_ROOT) + "/scenarios/examples/eu-bank-fraud.yaml",
        world());
    const auto candidates = scenarios::find_candidates(scenario, world());
    const auto site = std::ranges::find(candidates.sites.items(), "aws/eu-central-1",
                                        &scenarios::CandidateSite::id);
    REQUIRE(site != candidates.sites.items().end());
    const auto offer = std::ranges::find_if(site->offers, [](const auto& o) {
      return world().gpus[o.gpu].id == "L4-24GB" && o.term == "reserved_1y" &&
             o.shape_gpus == 1;
    });
    REQUIRE(offer != site->offers.end());

    CHECK(offer->basis == scenarios::PriceBasis::kSite);
    CHECK(offer->price == usd_per_hour(0.6552));
    CHECK(offer->bill_gpu_month == usd(478.296));
    CHECK(offer->bill_gpu_month * 2 == usd(956.592));
  }

  // 424 GB out of AWS in Europe in a month: 100 GB are free, the next up to 10,240 GB
  // cost 0.09 $: 324 * 0.09 = 29.16 $.
  TEST_CASE("one dollar: egress by its tiers") {
    const datasets::Site& frankfurt = world().sites[*world().site("aws/eu-central-1")];
    const datasets::EgressPrice price = world().egress(frankfurt);
    const SiteTraffic traffic{&price, 424'000'000'000};

    CHECK(egress_bill({&traffic, 1}).front() == usd(29.16));
    CHECK(lowest_paid_rate(price, traffic.bytes) == 90'000);
  }
}

}  // namespace
}  // namespace isochrone::place
