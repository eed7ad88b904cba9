#include "place/planner/unlawful.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/residency.h"

namespace isochrone::place {
namespace {

using scenarios::Population;

struct Group {
  std::vector<std::size_t> rows;
  double users = 0;
};

/// Mechanisms that would each, claimed beside the others, open candidate sites.
std::vector<std::string> that_open(const Question& question, const Population& p) {
  std::vector<std::string> found;
  for (const std::string& word :
       scenarios::unclaimed_mechanisms(question.scenario.spec.residency())) {
    scenarios::Scenario with = question.scenario;
    with.spec.mutable_residency()->mutable_law()->add_mechanisms(word);
    const scenarios::ResidencyRules rules(with, question.catalog);
    const auto opened =
        std::ranges::count_if(question.candidates.sites, [&](const auto& site) {
          return rules.verdict(p.endpoint.country, p.workload, site.endpoint.country)
              .allowed;
        });
    if (opened == 0) continue;
    found.push_back(
        fmt::format("{} ({} {})", word, opened, opened == 1 ? "site" : "sites"));
  }
  return found;
}

/// What keeps users from the site that is nearest to them.
std::string obstacle(const Question& question, std::size_t row) {
  std::size_t nearest = 0;
  for (std::size_t s = 1; s < question.candidates.sites.size(); ++s) {
    if (question.rtts.at(row, s).rtt < question.rtts.at(row, nearest).rtt) nearest = s;
  }
  const Population& p = question.population(row);
  const scenarios::CandidateSite& site = question.site(nearest);
  const scenarios::Verdict verdict =
      question.residency.verdict(p.endpoint.country, p.workload, site.endpoint.country);
  return fmt::format("the nearest is {} in {}: {}", site.id,
                     site.endpoint.country.text(),
                     verdict.chain.empty() ? "no rule is known" : verdict.chain.back());
}

std::string remedy(const Question& question, const Population& p) {
  const std::string country = p.endpoint.country.text();
  if (question.scenario.spec.residency().mode() == "policy") {
    return fmt::format(
        "a wider rule (residency.rules) would, or a site in {} that the "
        "rules allow (sites.add)",
        country);
  }
  const std::vector<std::string> open = that_open(question, p);
  if (open.empty()) {
    return fmt::format(
        "no single transfer mechanism would, but a site in {} "
        "(sites.add) or counsel's reading (residency.assume)",
        country);
  }
  return fmt::format("{} in residency.law.mechanisms would", fmt::join(open, " or "));
}

std::string told(const Question& question, const Group& group) {
  const Population& p = question.population(group.rows.front());
  return fmt::format(
      "{} ({}, {} places, {:.0f} users): law and policy admit none of the {} candidate "
      "sites, {}; {}",
      p.endpoint.country.text(), question.workload(p.workload).name(),
      group.rows.size(), group.users, question.candidates.sites.size(),
      obstacle(question, group.rows.front()), remedy(question, p));
}

}  // namespace

std::vector<std::string> unlawful_users(const Question& question,
                                        const std::vector<std::size_t>& rows) {
  std::map<std::pair<geo::CountryCode, std::size_t>, Group> groups;
  for (const std::size_t row : rows) {
    const Population& p = question.population(row);
    Group& group = groups[{p.endpoint.country, p.workload}];
    group.rows.push_back(row);
    group.users += p.users;
  }
  std::vector<const Group*> order;
  for (const auto& [key, group] : groups) order.push_back(&group);
  std::ranges::stable_sort(order, std::greater<>(), &Group::users);
  std::vector<std::string> lines;
  for (const Group* group : order) lines.push_back(told(question, *group));
  return lines;
}

}  // namespace isochrone::place
