#include <cstdint>

#include "place/verify/facts.h"
#include "tests/verify/honest_plan.h"

namespace isochrone::verify {
namespace {

using scenarios::Population;

void fill_cell(plan::Cell& cell, const char* objective, double limit_ms) {
  cell.set_workload("chat");
  cell.set_region("west");
  cell.set_hours("other hours");
  cell.set_objective(objective);
  cell.set_limit_ms(limit_ms);
  cell.set_requests(10'000);
  cell.set_unfinished(10);
  cell.set_attained(0.98);
  cell.set_low(0.97);
  cell.set_high(0.99);
  cell.set_verdict("met");
  cell.set_at_percentile_ms(limit_ms * 0.9);
  plan::Cell::Part& part = *cell.add_parts();
  part.set_name("prefill");
  part.set_ns(50'000'000);
}

void add_cells(plan::Plan& plan) {
  fill_cell(*plan.add_cells(), "ttft_p95_ms", 700);
  fill_cell(*plan.add_cells(), "tpot_p95_ms", 33);
  fill_cell(*plan.add_cells(), "e2e_p90_ms", 3000);
  plan.set_simulated_requests(30'000);
}

void add_drills(const Facts& facts, plan::Plan& plan) {
  for (int lost = 0; lost < 2; ++lost) {
    plan::Drill& drill = *plan.add_drills();
    drill.set_element(kOpen[lost]);
    drill.set_block(12);
    std::int64_t load = 0;
    for (const plan::Assignment& a : plan.assignments()) {
      const auto id = facts.population(a.demand(), a.metro()).value();
      load += static_cast<std::int64_t>(
          Wide{facts.demand.populations[id].load[12].count()} * a.share_ppb(12) /
          kWholeShare);
    }
    drill.set_load(load);
    drill.set_surviving_capacity(plan.pools(1 - lost).degraded_capacity());
    drill.set_residency_kept(true);
    fill_cell(*drill.add_cells(), "ttft_p95_ms", 1500);
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
  add_law(facts, plan);
}

}  // namespace isochrone::verify
