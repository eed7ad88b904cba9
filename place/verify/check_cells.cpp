#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "place/verify/checks.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::kBlocks;
using scenarios::Population;
using scenarios::PopulationId;

std::string name_of(const spec::Objective& objective) {
  return fmt::format("{}_p{:g}_ms", objective.metric(), objective.percentile());
}

/// What a cell is about: workload, region, objective, limit.
using CellKey = std::tuple<std::string, std::string, std::string, double>;

std::set<CellKey> asked_cells(const Facts& facts, bool degraded) {
  std::set<CellKey> keys;
  for (const Population& population : facts.demand.populations) {
    const EntryObjectives objectives = entry_objectives(facts, population.entry);
    const spec::Slo& slo = degraded ? objectives.degraded : objectives.normal;
    for (const spec::Objective& objective : slo.objectives()) {
      keys.emplace(facts.workload(population).name(),
                   facts.demand.regions[population.region].name, name_of(objective),
                   objective.ms());
    }
  }
  return keys;
}

/// The percentile of "ttft_p99.9_ms", as a share; negative if there is none.
double share_of(const std::string& objective) {
  const auto from = objective.find("_p");
  if (from == std::string::npos) return -1;
  return std::strtod(objective.c_str() + from + 2, nullptr) / 100;
}

void check_cell(Faults& faults, const std::string& where, const plan::Cell& cell,
                const std::set<CellKey>& asked) {
  if (!asked.contains(
          {cell.workload(), cell.region(), cell.objective(), cell.limit_ms()})) {
    faults.add(where, fmt::format("nobody asked for {} within {} ms of \"{}\" in {}",
                                  cell.objective(), cell.limit_ms(), cell.workload(),
                                  cell.region()));
    return;
  }
  const double p = share_of(cell.objective());
  if (!(0 <= cell.low() && cell.low() <= cell.attained() &&
        cell.attained() <= cell.high() && cell.high() <= 1)) {
    faults.add(where + ".attained",
               fmt::format("{} <= {} <= {} does not hold", cell.low(), cell.attained(),
                           cell.high()));
  }
  // "not shown" is always honest: too few windows show nothing, whatever their limits.
  const bool holds = cell.verdict() == "met"      ? cell.low() >= p
                     : cell.verdict() == "missed" ? cell.high() < p
                                                  : cell.verdict() == "not shown";
  if (!holds) {
    faults.add(where + ".verdict",
               fmt::format("\"{}\" with limits {} to {} does not hold for {}",
                           cell.verdict(), cell.low(), cell.high(), p));
  }
  if (cell.unfinished() > cell.requests()) {
    faults.add(where + ".unfinished", "more than there were requests");
  } else if (cell.requests() > 0) {
    const double finished = 1 - static_cast<double>(cell.unfinished()) /
                                    static_cast<double>(cell.requests());
    if (cell.attained() > finished + 1e-9) {
      faults.add(where + ".attained", "requests that did not finish count as missed");
    }
  }
  // The value at the percentile is raw while `attained` is steadied by a control:
  // beside the limit they may disagree, so only its sign is checked.
  if (!(cell.at_percentile_ms() >= 0)) {
    faults.add(where + ".at_percentile_ms",
               fmt::format("{} ms is no time", cell.at_percentile_ms()));
  }
  for (const plan::Cell::Part& part : cell.parts()) {
    if (part.ns() < 0 || part.name().empty()) {
      faults.add(where + ".parts", "a part is negative or has no name");
    }
  }
}

/// No hours named twice, no (workload, region, objective) missing.
void check_complete(const Facts& facts, Faults& faults,
                    const std::set<CellKey>& asked) {
  std::set<CellKey> shown;
  std::set<std::pair<CellKey, std::string>> hours;
  for (const plan::Cell& cell : facts.plan.cells()) {
    const CellKey key(cell.workload(), cell.region(), cell.objective(),
                      cell.limit_ms());
    shown.insert(key);
    if (!hours.insert({key, cell.hours()}).second) {
      faults.add("cells",
                 fmt::format("{} of \"{}\" in {} at {} stands twice", cell.objective(),
                             cell.workload(), cell.region(), cell.hours()));
    }
  }
  for (const CellKey& key : asked) {
    if (shown.contains(key)) continue;
    faults.add("cells", fmt::format("{} of \"{}\" in {} is missing", std::get<2>(key),
                                    std::get<0>(key), std::get<1>(key)));
  }
}

bool hours_are_named(const std::string& hours) {
  if (hours == "other hours") return true;
  for (int block = 0; block < static_cast<int>(kBlocks); ++block) {
    if (hours == fmt::format("{} UTC", block) ||
        hours == fmt::format("{:02} UTC", block)) {
      return true;
    }
  }
  return false;
}

std::int64_t served_load(const Facts& facts, std::size_t block) {
  std::int64_t load = 0;
  for (const plan::Assignment& assigned : facts.plan.assignments()) {
    const auto id = facts.population(assigned.demand(), assigned.metro());
    if (!id || static_cast<std::size_t>(assigned.share_ppb_size()) <= block) continue;
    const Wide part = Wide{facts.demand.populations[*id].load[block].count()} *
                      assigned.share_ppb(static_cast<int>(block));
    load += static_cast<std::int64_t>(part / kWholeShare);
  }
  return load;
}

void check_drill(const Facts& facts, Faults& faults, int index,
                 const std::set<CellKey>& asked) {
  const plan::Drill& drill = facts.plan.drills(index);
  const std::string where = fmt::format("drills[{}]", index);
  if (drill.block() >= kBlocks) {
    faults.add(where + ".block", "there is no such block");
    return;
  }
  // Parts of one population are rounded down one by one.
  const std::int64_t load = served_load(facts, drill.block());
  if (std::abs(drill.load() - load) > facts.plan.assignments_size()) {
    faults.add(where + ".load", fmt::format("{}, it should be {}", drill.load(), load));
  }
  std::int64_t surviving = 0;
  bool known = false;
  for (const plan::Pool& pool : facts.plan.pools()) {
    const CandidateSite* site = facts.site_of(pool);
    if (site == nullptr) continue;
    const bool batch = pool.profile() == "batch";
    const bool lost = loss_element(facts.scenario, *site) == drill.element();
    known |= lost && !batch;
    if (!lost || batch) surviving += pool.degraded_capacity();
  }
  if (!known) faults.add(where + ".element", "the plan does not use it");
  faults.equal(where + ".surviving_capacity", drill.surviving_capacity(), surviving);
  if (!drill.residency_kept()) {
    faults.add(where + ".residency_kept", "a loss must not widen where data may be");
  }
  for (int i = 0; i < drill.cells_size(); ++i) {
    check_cell(faults, fmt::format("{}.cells[{}]", where, i), drill.cells(i), asked);
  }
}

void check_drills(const Facts& facts, Faults& faults) {
  const std::set<CellKey> asked = asked_cells(facts, true);
  std::set<std::string> elements;
  for (const plan::Pool& pool : facts.plan.pools()) {
    const CandidateSite* site = facts.site_of(pool);
    if (site == nullptr || pool.profile() == "batch") continue;
    const std::string element = loss_element(facts.scenario, *site);
    if (!element.empty()) elements.insert(element);
  }
  std::set<std::string> drilled;
  for (int i = 0; i < facts.plan.drills_size(); ++i) {
    check_drill(facts, faults, i, asked);
    if (!drilled.insert(facts.plan.drills(i).element()).second) {
      faults.add(fmt::format("drills[{}].element", i), "it is lost twice");
    }
  }
  const spec::Simulate& simulate = facts.scenario.spec.simulate();
  if (simulate.has_drills() && !simulate.drills()) return;
  for (const std::string& element : elements) {
    if (!drilled.contains(element)) {
      faults.add("drills", fmt::format("the loss of {} was not drilled", element));
    }
  }
}

/// Every request is simulated once, whatever objectives it counts for.
std::uint64_t requests_shown(const plan::Plan& plan) {
  std::map<std::tuple<int, std::string, std::string, std::string>, std::uint64_t> most;
  const auto count = [&](const plan::Cell& cell, int drill) {
    std::uint64_t& requests =
        most[{drill, cell.workload(), cell.region(), cell.hours()}];
    requests = std::max(requests, cell.requests());
  };
  for (const plan::Cell& cell : plan.cells()) count(cell, -1);
  for (int d = 0; d < plan.drills_size(); ++d) {
    for (const plan::Cell& cell : plan.drills(d).cells()) count(cell, d);
  }
  std::uint64_t sum = 0;
  for (const auto& [key, requests] : most) sum += requests;
  return sum;
}

}  // namespace

void check_cells(const Facts& facts, Faults& faults) {
  const std::set<CellKey> asked = asked_cells(facts, false);
  for (int i = 0; i < facts.plan.cells_size(); ++i) {
    const std::string where = fmt::format("cells[{}]", i);
    check_cell(faults, where, facts.plan.cells(i), asked);
    if (!hours_are_named(facts.plan.cells(i).hours())) {
      faults.add(where + ".hours",
                 fmt::format("\"{}\" are no hours", facts.plan.cells(i).hours()));
    }
  }
  check_complete(facts, faults, asked);
  check_drills(facts, faults);
  const std::uint64_t shown = requests_shown(facts.plan);
  if (facts.plan.simulated_requests() < shown) {
    faults.add(
        "simulated_requests",
        fmt::format("{}, the cells show {}", facts.plan.simulated_requests(), shown));
  }
}

namespace {

struct Place {
  std::set<std::string> may_be_in;
  double users = 0;
};

/// Where the data of each (entry, country) may be, by every pool that serves it or may
/// after a loss.
std::map<std::pair<std::size_t, geo::CountryCode>, Place> places(const Facts& facts) {
  std::map<std::pair<std::size_t, geo::CountryCode>, Place> places;
  for (std::uint32_t i = 0; i < facts.demand.populations.size(); ++i) {
    const Population& population = facts.demand.populations[PopulationId{i}];
    Place& place = places[{population.entry, population.endpoint.country}];
    place.users += population.users;
    for (const plan::Pool& pool : facts.plan.pools()) {
      const CandidateSite* site = facts.site_of(pool);
      const plan::Table* table = facts.table(pool);
      if (site == nullptr || table == nullptr || pool.profile() == "batch" ||
          pool.workload() != facts.workload(population).name() ||
          !facts.lawful(population, *site)) {
        continue;
      }
      const std::int64_t rtt = facts.rtt(PopulationId{i}, *site).rtt.count();
      const bool losses = !loss_element(facts.scenario, *site).empty();
      const std::int64_t best_effort = facts.best_effort_us(PopulationId{i});
      if (best_effort >= 0) {
        if (losses || rtt <= best_effort) {
          place.may_be_in.insert(site->endpoint.country.text());
        }
        continue;
      }
      for (const plan::Reach& reach : table->reach()) {
        if (reach.demand() != facts.entry_name(population) ||
            reach.country() != population.endpoint.country.text()) {
          continue;
        }
        if (rtt <= reach.rtt_us() || (losses && rtt <= reach.degraded_rtt_us())) {
          place.may_be_in.insert(site->endpoint.country.text());
        }
      }
    }
  }
  return places;
}

void check_note(const Facts& facts, Faults& faults, int index, std::size_t entry,
                geo::CountryCode from, const Place& place) {
  const plan::LawNote& note = facts.plan.law(index);
  const std::string where = fmt::format("law[{}]", index);
  faults.near(where + ".users", note.users(), place.users,
              1e-9 * std::max(1.0, place.users));
  if (!std::ranges::equal(note.may_be_in(), place.may_be_in)) {
    faults.add(where + ".may_be_in",
               fmt::format("{}, it should be {}", fmt::join(note.may_be_in(), " "),
                           fmt::join(place.may_be_in, " ")));
    return;
  }
  if (note.mechanisms_size() != note.may_be_in_size()) {
    faults.add(where + ".mechanisms", "there is not one for each country");
    return;
  }
  const std::size_t workload = scenarios::workload_index(
      facts.scenario, facts.scenario.spec.demand(static_cast<int>(entry)));
  for (int i = 0; i < note.may_be_in_size(); ++i) {
    const auto to = geo::CountryCode::parse(note.may_be_in(i));
    if (!to) continue;
    const scenarios::Verdict verdict = facts.rules.verdict(from, workload, *to);
    if (!verdict.allowed) {
      faults.add(where + ".may_be_in", fmt::format("{} is not lawful", to->text()));
    }
    faults.equal(where + ".mechanisms", note.mechanisms(i), verdict.mechanism);
  }
}

}  // namespace

void check_law(const Facts& facts, Faults& faults) {
  auto places_left = places(facts);
  for (int i = 0; i < facts.plan.law_size(); ++i) {
    const plan::LawNote& note = facts.plan.law(i);
    const auto from = geo::CountryCode::parse(note.country());
    std::size_t entry = 0;
    const auto entries = static_cast<std::size_t>(facts.scenario.spec.demand_size());
    while (entry < entries &&
           facts.scenario.spec.demand(static_cast<int>(entry)).name() !=
               note.demand()) {
      ++entry;
    }
    const auto place = from ? places_left.find({entry, *from}) : places_left.end();
    if (place == places_left.end()) {
      faults.add(fmt::format("law[{}]", i),
                 fmt::format("no (more) users of \"{}\" in {}", note.demand(),
                             note.country()));
      continue;
    }
    check_note(facts, faults, i, entry, *from, place->second);
    places_left.erase(place);
  }
  for (const auto& [key, place] : places_left) {
    faults.add("law", fmt::format("nothing is said of users in {}", key.second.text()));
  }
}

}  // namespace isochrone::verify
