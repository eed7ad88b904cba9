#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "place/planner/assembly.h"

namespace isochrone::place {
namespace {

void add_best_effort_note(const Assembly& a, plan::Plan& plan) {
  std::vector<std::string> names;
  double users = 0;
  for (std::size_t d = 0; d < a.built.best_effort.size(); ++d) {
    if (!a.built.best_effort[d]) continue;
    const scenarios::Population& p = a.question.population(d);
    names.push_back(fmt::format("{}, {}", p.endpoint.name, p.endpoint.country.text()));
    users += p.users;
  }
  if (names.empty()) return;
  plan.add_warnings(
      fmt::format("{:.0f} users are beyond the reach of every site and are served by "
                  "best effort, counted as missed in their regions: {}",
                  users, fmt::join(names, "; ")));
}

}  // namespace

void add_populations(const Assembly& a, plan::Plan& plan) {
  std::size_t next = 0;
  for (const scenarios::Population& p : a.question.demand.populations) {
    plan::Population& row = *plan.add_populations();
    row.set_best_effort(a.built.best_effort[next++]);
    row.set_demand(a.question.entry(p.entry).name());
    row.set_workload(a.question.workload(p.workload).name());
    row.set_metro(p.metro);
    row.set_country(p.endpoint.country.text());
    row.set_region(a.question.demand.regions[p.region].name);
    row.set_lat(p.endpoint.at.lat);
    row.set_lon(p.endpoint.at.lon);
    row.set_users(p.users);
    for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
      row.add_load(p.load[block].count());
      row.add_requests_month(p.requests_month[block]);
    }
  }
}

void add_law(const Assembly& a, plan::Plan& plan) {
  std::map<std::pair<std::size_t, geo::CountryCode>, std::set<std::string>> may_be_in;
  std::map<std::pair<std::size_t, geo::CountryCode>, double> users;
  const bool losses = a.built.instance.elements > 0;
  for (std::size_t d = 0; d < a.question.demand.populations.size(); ++d) {
    const scenarios::Population& p = a.question.population(d);
    const std::pair key(p.entry, p.endpoint.country);
    users[key] += p.users;
    auto& countries = may_be_in[key];
    for (const Choice& choice : a.solution.choices) {
      const Option& option = a.option_of(choice);
      if (option.whole || option.commodity != static_cast<int>(p.workload)) continue;
      if (a.reaches(choice, d, false) || (losses && a.reaches(choice, d, true))) {
        const auto s = static_cast<std::size_t>(choice.site);
        countries.insert(a.question.site(s).endpoint.country.text());
      }
    }
  }
  for (const auto& [key, countries] : may_be_in) {
    plan::LawNote& note = *plan.add_law();
    note.set_demand(a.question.entry(key.first).name());
    note.set_country(key.second.text());
    note.set_users(users[key]);
    const std::size_t workload =
        scenarios::workload_index(a.question.scenario, a.question.entry(key.first));
    for (const std::string& country : countries) {
      note.add_may_be_in(country);
      note.add_mechanisms(
          a.question.residency
              .verdict(key.second, workload, *geo::CountryCode::parse(country))
              .mechanism);
    }
  }
}

void add_notes(const Assembly& a, plan::Plan& plan) {
  for (const std::string& note : a.question.demand.notes) plan.add_assumptions(note);
  for (const std::string& note : a.question.candidates.notes) {
    plan.add_assumptions(note);
  }
  for (const auto& [reason, sites] : a.question.candidates.fell_away) {
    plan.add_assumptions(fmt::format("{} sites are no candidates: {}", sites, reason));
  }
  add_best_effort_note(a, plan);
  for (const Diagnostic& warning : a.question.scenario.warnings) {
    plan.add_warnings(fmt::format("{}:{}: {}", warning.position.file,
                                  warning.position.line, warning.message));
  }
}

}  // namespace isochrone::place
