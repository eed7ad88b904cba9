#include <algorithm>
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

/// Why nothing is rented: what a GPU costs built, and at the cheapest rented offer.
void add_built_note(const Assembly& a, plan::Plan& plan) {
  const auto built = [](const plan::Pool& pool) { return pool.term() == "built"; };
  if (plan.pools().empty() || !std::ranges::all_of(plan.pools(), built)) return;
  std::set<std::string> gpus;
  for (const plan::Pool& pool : plan.pools()) gpus.insert(pool.gpu());
  for (const std::string& gpu : gpus) {
    int offers = 0;
    std::int64_t own = -1;
    std::int64_t cheapest = -1;
    std::string where;
    for (const scenarios::CandidateSite& site : a.question.candidates.sites) {
      for (const scenarios::Offer& offer : site.offers) {
        if (a.question.catalog.gpus[offer.gpu].id != gpu) continue;
        const std::int64_t cost =
            (offer.bill_gpu_month + offer.extra_gpu_month).count();
        if (offer.term == "built") {
          own = own < 0 ? cost : std::min(own, cost);
          continue;
        }
        ++offers;
        if (cheapest >= 0 && cost >= cheapest) continue;
        cheapest = cost;
        where = fmt::format("{}, {}", site.id, offer.term);
      }
    }
    const std::string price = to_text(MicroUsd::of(own));
    plan.add_assumptions(
        offers == 0
            ? fmt::format("everything is built: no candidate rents out {}", gpu)
            : fmt::format("everything is built: a {} costs {} a month with what is "
                          "left of it at the end; of {} rented offers the cheapest "
                          "is {} ({})",
                          gpu, price, offers, to_text(MicroUsd::of(cheapest)), where));
  }
}

/// Cards whose makers forbid what the plan does with them.
void add_licence_notes(const Assembly& a, plan::Plan& plan) {
  for (const datasets::Gpu& gpu : a.question.catalog.gpus) {
    const bool used = std::ranges::any_of(
        plan.pools(), [&](const plan::Pool& pool) { return pool.gpu() == gpu.id; });
    if (used && !gpu.licence_note.empty()) {
      plan.add_warnings(fmt::format("{}: {}", gpu.id, gpu.licence_note));
    }
  }
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
  add_built_note(a, plan);
  add_best_effort_note(a, plan);
  add_licence_notes(a, plan);
  for (const Diagnostic& warning : a.question.scenario.warnings) {
    plan.add_warnings(warning.message);
  }
}

}  // namespace isochrone::place
