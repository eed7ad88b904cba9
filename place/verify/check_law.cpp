#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "place/verify/checks.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::Population;
using scenarios::PopulationId;

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
      const auto [day, after_loss] = facts.may_serve(pool, PopulationId{i});
      if (!day && !after_loss) continue;
      const CandidateSite& site = *facts.site_of(pool);
      if (day || !loss_element(facts.scenario, site).empty()) {
        place.may_be_in.insert(site.endpoint.country.text());
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
  std::pair<std::size_t, geo::CountryCode> last;
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
    if (i > 0 && place->first < last) {
      faults.add(fmt::format("law[{}]", i),
                 "they are not in the order of entries and countries");
    }
    last = place->first;
    places_left.erase(place);
  }
  for (const auto& [key, place] : places_left) {
    faults.add("law", fmt::format("nothing is said of users in {}", key.second.text()));
  }
}

}  // namespace isochrone::verify
