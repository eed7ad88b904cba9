#include "place/planner/reconnecting.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "place/planner/best_effort.h"
#include "place/planner/lessons.h"
#include "scenarios/network.h"
#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

using scenarios::Population;

/// A route that a drill sends moved users over.
struct Moved {
  TableOrigin table;
  Serving::Users users;
  Micros rtt;
};

std::vector<Moved> moved_too_far(const Question& question, const plan::Plan& plan,
                                 const std::vector<LossDrill>& losses,
                                 const std::vector<Serving>& servings) {
  std::vector<Moved> moved;
  const auto origins = table_origins(servings);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    std::set<std::pair<std::string, std::string>> missed;  // workload, region
    const plan::Drill& drill = plan.drills(static_cast<int>(i));
    for (const plan::Cell& cell : drill.cells()) {
      if (missed_by_distance(cell)) missed.emplace(cell.workload(), cell.region());
    }
    const auto& streams = losses[i].deployment.streams;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const Population& p = question.population(losses[i].populations[s]);
      const spec::Workload& workload = question.workload(p.workload);
      if (!missed.contains({workload.name(), question.demand.regions[p.region].name}) ||
          streams[s].connection_trips <= scenarios::connection_trips(workload)) {
        continue;
      }
      const auto pool = static_cast<int>(streams[s].pool.index());
      moved.push_back({origins[plan.pools(pool).table()],
                       {p.entry, p.endpoint.country},
                       streams[s].rtt});
    }
  }
  return moved;
}

/// Whether all whom the serving must carry after a loss have two elements in reach, or
/// one that is never lost.
bool survivable(const Question& question, const Serving& serving,
                const Serving::Users& users) {
  Micros widest{-1};
  for (const Serving::Reached& reached : serving.degraded_reach) {
    const auto it = reached.find(users);
    if (it != reached.end()) widest = std::max(widest, it->second);
  }
  for (std::size_t row = 0; row < question.demand.populations.size(); ++row) {
    const Population& p = question.population(row);
    if (Serving::Users{p.entry, p.endpoint.country} != users ||
        serving.best_effort[row]) {
      continue;
    }
    std::set<std::string> elements;
    for (std::size_t s = 0; s < question.rtts.columns(); ++s) {
      if (question.rtts.at(row, s).rtt <= widest &&
          question.lawful(p, question.site(s))) {
        elements.insert(scenarios::loss_element(question.scenario, question.site(s)));
      }
    }
    if (elements.size() < 2 && !elements.contains("")) return false;
  }
  return true;
}

Serving held(const Question& question, Serving serving,
             const std::set<Serving::Users>& users) {
  serving.reconnecting.insert(users.begin(), users.end());
  settle_best_effort(question, serving);
  return serving;
}

}  // namespace

std::vector<std::string> hold_to_reconnection(const Question& question,
                                              const plan::Plan& plan,
                                              const std::vector<LossDrill>& losses,
                                              std::vector<Serving>& servings) {
  std::vector<std::set<Serving::Users>> asked(servings.size());
  const std::vector<Moved> moved = moved_too_far(question, plan, losses, servings);
  for (const Moved& one : moved) {
    const Serving& serving = servings[one.table.serving];
    if (!serving.reconnecting.contains(one.users)) {
      asked[one.table.serving].insert(one.users);
    }
  }
  std::map<std::size_t, std::vector<std::string>> countries;  // by demand entry
  for (std::size_t i = 0; i < servings.size(); ++i) {
    if (asked[i].empty()) continue;
    const Serving trial = held(question, servings[i], asked[i]);
    std::set<Serving::Users> kept;
    for (const Moved& one : moved) {
      if (one.table.serving != i || !asked[i].contains(one.users)) continue;
      const Serving::Reached& reached = trial.degraded_reach[one.table.level];
      const auto it = reached.find(one.users);
      const bool too_far = it == reached.end() || it->second < one.rtt;
      if (too_far && survivable(question, trial, one.users)) kept.insert(one.users);
    }
    if (kept.empty()) continue;
    servings[i] = held(question, std::move(servings[i]), kept);
    for (const auto& [entry, country] : kept)
      countries[entry].push_back(country.text());
  }
  std::vector<std::string> lines;
  for (const auto& [entry, names] : countries) {
    const spec::Workload& workload =
        question.workload(workload_index(question.scenario, question.entry(entry)));
    lines.push_back(
        fmt::format("{}, users in {}: after a loss within reach of a new connection, "
                    "{} round trips",
                    question.entry(entry).name(), fmt::join(names, ", "),
                    scenarios::reconnection_trips(workload)));
  }
  return lines;
}

}  // namespace isochrone::place
