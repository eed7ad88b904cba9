#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/verify/checks.h"
#include "place/verify/loss.h"

namespace isochrone::verify {
namespace {

using scenarios::kBlocks;
using scenarios::Population;
using scenarios::PopulationId;

struct Loss {
  std::string element;
  std::size_t block = 0;
};

std::string message_of(const Facts& facts, const Loss& loss,
                       const Losses::Shortfall& shortfall) {
  if (shortfall.missing == 0) return "";
  constexpr std::size_t kTold = 3;
  std::vector<std::string> metros;
  for (const PopulationId id : shortfall.cut) {
    if (metros.size() < kTold) metros.push_back(facts.demand.populations[id].metro);
  }
  const std::size_t more = shortfall.cut.size() - metros.size();
  return fmt::format(
      "without {} {} {} of {} micro-rps find no place in block {} ({}{})",
      facts.scenario.spec.resilience().survive(), loss.element, shortfall.missing,
      shortfall.total, loss.block, fmt::join(metros, ", "),
      more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

void check_survival(const Facts& facts, Faults& faults) {
  const Losses losses(facts);
  const ServedLoads loads = loads_to_survive(facts);
  std::vector<Loss> all;
  for (const std::string& element : losses.elements()) {
    for (std::size_t b = 0; b < kBlocks; ++b) all.push_back({element, b});
  }
  const auto messages = parallel_map(all.size(), [&](std::size_t i) {
    return message_of(facts, all[i],
                      losses.shortfall(all[i].element, all[i].block, loads));
  });
  // One block per element says enough.
  std::set<std::string> told;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (messages[i].empty() || !told.insert(all[i].element).second) continue;
    faults.add("survival", messages[i]);
  }
}

void check_unserved(const Facts& facts, Faults& faults) {
  std::vector<double> left_out(
      static_cast<std::size_t>(facts.scenario.spec.demand_size()), 0);
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < facts.plan.unserved_size(); ++i) {
    const plan::Unserved& claimed = facts.plan.unserved(i);
    const std::string where = fmt::format("unserved[{}]", i);
    const auto id = facts.population(claimed.demand(), claimed.metro());
    if (!id) {
      faults.add(where + ".metro",
                 fmt::format("the scenario has no users of \"{}\" in {}",
                             claimed.demand(), claimed.metro()));
      continue;
    }
    if (!seen.insert({claimed.demand(), claimed.metro()}).second) {
      faults.add(where, "the same users twice");
    }
    const Population& population = facts.demand.populations[*id];
    if (claimed.share_ppb() == 0 || claimed.share_ppb() > kWholeShare) {
      faults.add(where + ".share_ppb", "it is no share");
    }
    const double users = population.users * claimed.share_ppb() / 1e9;
    faults.near(where + ".users", claimed.users(), users, 1e-6 * std::max(1.0, users));
    faults.equal(where + ".usd_micro", claimed.usd_micro(),
                 unserved_price(facts, *id, claimed.share_ppb()));
    if (claimed.because().empty()) faults.add(where + ".because", "no reason is given");
    left_out[population.entry] += users;
  }
  for (std::size_t e = 0; e < left_out.size(); ++e) {
    const spec::Demand& entry = facts.scenario.spec.demand(static_cast<int>(e));
    double users = 0;
    for (const Population& population : facts.demand.populations) {
      if (population.entry == e) users += population.users;
    }
    const double coverage = entry.has_coverage() ? entry.coverage() : 1;
    const double allowed = users * (1 - coverage);
    if (left_out[e] > allowed + 1e-6 * users) {
      faults.add("unserved",
                 fmt::format("{:.1f} users of \"{}\" are left out, {:.1f} may be",
                             left_out[e], entry.name(), allowed));
    }
  }
}

}  // namespace isochrone::verify
