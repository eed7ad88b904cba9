#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "place/verify/cell.h"
#include "place/verify/seal.h"
#include "tests/verify/honest_plan.h"

namespace isochrone::verify {
namespace {

using scenarios::Population;

/// 9,800 of 10,000 requests within the limit in the windows, where each stands for as
/// much as any other; the fluid takes nothing off. With one degree of freedom Student's
/// t is Cauchy's law, whose quantile at .95 is tan(.45 pi) = 6.313751514675043: with a
/// standard error of .001 the limits are .98 -+ .0063137515. Clopper and Pearson's are
/// closer (.98 -+ 1.645 sqrt(.98 x .02 / 10,000) = .98 -+ .0023).
void fill_cell(plan::Cell& cell, const char* hours, const char* objective,
               double limit_ms, std::int64_t at_percentile_ns) {
  constexpr double kReach = 0.001 * 6.313751514675043;
  cell.set_workload("chat");
  cell.set_region("west");
  cell.set_hours(hours);
  cell.set_objective(objective);
  cell.set_limit_ms(limit_ms);
  cell.set_requests(10'000);
  cell.set_kept(9'800);
  cell.set_late(190);
  cell.set_unfinished(10);
  cell.set_windows(48);
  cell.set_complete(true);
  cell.set_window_share(0.98);
  cell.set_attained(0.98);
  cell.set_standard_error(0.001);
  cell.set_degrees(1);
  cell.set_effective_requests(10'000);
  cell.set_low(0.98 - kReach);
  cell.set_high(0.98 + kReach);
  cell.set_verdict("met");
  cell.set_at_percentile_ms(static_cast<double>(at_percentile_ns) / 1e6);
  for (const char* name : {"connection", "last mile", "wan", "transfer", "front end",
                           "queue", "prefill", "decode"}) {
    plan::Cell::Part& part = *cell.add_parts();
    part.set_name(name);
    part.set_ns(50'000'000);
  }
  for (const double share : {0.1, 0.6, 0.2, 0.1}) cell.add_missed_by(share);
  cell.set_mean_ttft_ns(350'000'000);
  cell.set_mean_e2e_ns(400'000'000);
  cell.set_seal(seal_of(cell));
}

/// Middles of buckets of seven leading bits: 70.5 x 2^23, 110.5 x 2^18, 80.5 x 2^25 and
/// 80.5 x 2^24 ns.
constexpr std::int64_t kTtft = 591'396'864;
constexpr std::int64_t kTpot = 28'966'912;
constexpr std::int64_t kE2e = 2'701'131'776;
constexpr std::int64_t kDegradedTtft = 1'350'565'888;

void add_cells(plan::Plan& plan) {
  const auto fill_day = [&](const char* objective, double limit_ms, std::int64_t ns) {
    for (const char* hours : {"17 UTC", "18 UTC", "19 UTC", "other hours"}) {
      fill_cell(*plan.add_cells(), hours, objective, limit_ms, ns);
    }
  };
  fill_day("ttft_p95_ms", 700, kTtft);
  fill_day("tpot_p95_ms", 33, kTpot);
  fill_day("e2e_p90_ms", 3000, kE2e);
  plan.set_day_requests(50'000);
  plan.set_simulated_requests(50'000 + 2 * 12'000);
}

/// Everybody reaches both sites, so all of them together are the tightest cut, in the
/// block with the largest load.
void add_drills(const Facts& facts, plan::Plan& plan) {
  const ServedLoads served = served_loads(facts);
  std::array<std::int64_t, scenarios::kBlocks> loads{};
  for (const auto& blocks : served) {
    for (std::size_t b = 0; b < loads.size(); ++b) loads[b] += blocks[b];
  }
  const auto* const busiest = std::ranges::max_element(loads);
  const auto block = static_cast<std::size_t>(busiest - loads.begin());
  for (int lost = 0; lost < 2; ++lost) {
    plan::Drill& drill = *plan.add_drills();
    drill.set_element(kOpen[lost]);
    drill.set_block(static_cast<std::uint32_t>(block));
    drill.set_load(*busiest);
    drill.set_surviving_capacity(plan.pools(1 - lost).degraded_capacity());
    drill.set_residency_kept(true);
    drill.set_simulated_requests(12'000);
    plan::Cut& cut = *drill.mutable_tightest();
    cut.set_block(drill.block());
    for (std::uint32_t i = 0; i < served.size(); ++i) cut.add_populations(i);
    cut.set_need(*busiest);
    cut.set_left(drill.surviving_capacity());
    fill_cell(*drill.add_cells(), fmt::format("{:02} UTC", block).c_str(),
              "ttft_p95_ms", 1500, kDegradedTtft);
  }
}

/// Both sites are within reach of both countries, and policy rule 1 admits both.
void add_law(const Facts& facts, plan::Plan& plan) {
  for (const char* country : {"DE", "FR"}) {
    plan::LawNote& note = *plan.add_law();
    note.set_demand("people");
    note.set_country(country);
    const auto from = geo::CountryCode::parse(country).value();
    for (const char* to : {"DE", "FR"}) {
      note.add_may_be_in(to);
      note.add_mechanisms(
          facts.rules.verdict(from, 0, geo::CountryCode::parse(to).value()).mechanism);
    }
    for (const Population& p : facts.demand.populations) {
      if (p.endpoint.country == from) note.set_users(note.users() + p.users);
    }
  }
}

}  // namespace

void add_outcome(const Facts& facts, plan::Plan& plan) {
  add_cells(plan);
  add_drills(facts, plan);
  plan.mutable_repairs()->set_seal(seal_of(plan.repairs()));
  add_law(facts, plan);
}

}  // namespace isochrone::verify
