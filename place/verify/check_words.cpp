// The sentences of a plan: what was assumed and what to beware of follows from scenario
// and catalog as the numbers do, so a sentence that was altered, left out or added is
// found like a wrong sum.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "place/verify/checks.h"
#include "place/verify/site_value.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::Population;
using scenarios::PopulationId;
using Sentences = std::vector<std::string>;

constexpr const char* kRefersTo =
    "cost under these capacity tables, loads enveloped over the days of the horizon, "
    "every arc within its reach alone; limits on stock, provider share and budget "
    "relaxed";

template <class Claimed>
void check_sentences(const char* where, const Claimed& claimed, const Sentences& should,
                     Faults& faults) {
  if (claimed.size() != static_cast<int>(should.size())) {
    faults.add(where, fmt::format("{} sentences, there should be {}", claimed.size(),
                                  should.size()));
  }
  for (int i = 0; i < std::min(claimed.size(), static_cast<int>(should.size())); ++i) {
    faults.equal(fmt::format("{}[{}]", where, i), claimed[i],
                 should[static_cast<std::size_t>(i)]);
  }
}

/// One sentence for each GPU of a plan that rents nothing.
void say_why_built(const Facts& facts, Sentences& out) {
  std::set<std::string> gpus;
  for (const plan::Pool& pool : facts.plan.pools()) {
    if (pool.term() != "built") return;
    gpus.insert(pool.gpu());
  }
  for (const std::string& gpu : gpus) {
    std::optional<MicroUsd> own;
    std::optional<MicroUsd> cheapest;
    std::string where;
    int rented = 0;
    for (const CandidateSite& site : facts.candidates.sites) {
      for (const scenarios::Offer& offer : site.offers) {
        if (facts.catalog.gpus[offer.gpu].id != gpu) continue;
        const MicroUsd cost = offer.bill_gpu_month + offer.extra_gpu_month;
        if (offer.term == "built") {
          if (!own || cost < *own) own = cost;
        } else {
          ++rented;
          if (!cheapest || cost < *cheapest) {
            cheapest = cost;
            where = site.id + ", " + offer.term;
          }
        }
      }
    }
    if (!cheapest) {
      out.push_back("everything is built: no candidate rents out " + gpu);
    } else {
      out.push_back(fmt::format(
          "everything is built: a {} costs {} a month with what is left of it at the "
          "end; of {} rented offers the cheapest is {} ({})",
          gpu, to_text(own.value_or(MicroUsd())), rented, to_text(*cheapest), where));
    }
  }
}

Sentences assumptions(const Facts& facts) {
  Sentences out = facts.demand.notes;
  out.insert(out.end(), facts.candidates.notes.begin(), facts.candidates.notes.end());
  for (const auto& [reason, sites] : facts.candidates.fell_away) {
    out.push_back(fmt::format("{} sites are no candidates: {}", sites, reason));
  }
  say_why_built(facts, out);
  return out;
}

void warn_of_best_effort(const Facts& facts, Sentences& out) {
  Sentences names;
  double users = 0;
  for (std::uint32_t i = 0; i < facts.demand.populations.size(); ++i) {
    if (facts.best_effort_us(PopulationId{i}) < 0) continue;
    const Population& p = facts.demand.populations[PopulationId{i}];
    names.push_back(fmt::format("{}, {}", p.endpoint.name, p.endpoint.country.text()));
    users += p.users;
  }
  if (names.empty()) return;
  out.push_back(
      fmt::format("{:.0f} users are beyond the reach of every site and are served by "
                  "best effort, counted as missed in their regions: {}",
                  users, fmt::join(names, "; ")));
}

void warn_of_licences(const Facts& facts, Sentences& out) {
  for (const datasets::Gpu& gpu : facts.catalog.gpus) {
    if (gpu.licence_note.empty()) continue;
    const bool used = std::ranges::any_of(
        facts.plan.pools(), [&](const plan::Pool& p) { return p.gpu() == gpu.id; });
    if (used) out.push_back(fmt::format("{}: {}", gpu.id, gpu.licence_note));
  }
}

Sentences warnings(const Facts& facts) {
  Sentences out;
  warn_of_best_effort(facts, out);
  warn_of_licences(facts, out);
  for (const Diagnostic& warning : facts.scenario.warnings) {
    out.push_back(warning.message);
  }
  for (const plan::Drill& drill : facts.plan.drills()) {
    if (drill.tightest().need() <= drill.tightest().left()) continue;
    out.push_back(
        fmt::format("after the loss of {} some users find no place", drill.element()));
  }
  return out;
}

/// Whether any offer of a site could hold one replica of a table, within the reach of
/// the users.
bool could_serve(const Facts& facts, const LevelCurve& curve, const CandidateSite& site,
                 PopulationId id) {
  const Population& users = facts.demand.populations[id];
  if (curve.workload != users.workload || !facts.lawful(users, site) ||
      facts.rtt(id, site).rtt.count() > curve.reach_us[id.index()]) {
    return false;
  }
  const spec::Requires& needs = facts.workload(users).requirements();
  return std::ranges::any_of(site.offers, [&](const scenarios::Offer& offer) {
    return offer.gpu == curve.gpu && curve.replica_gpus <= offer.shape_gpus &&
           lacking(needs, facts.catalog.gpus[offer.gpu], offer).empty();
  });
}

void check_reasons(const Facts& facts, Faults& faults) {
  if (facts.plan.unserved().empty()) return;
  const std::vector<LevelCurve> curves = level_curves(facts);
  for (int i = 0; i < facts.plan.unserved_size(); ++i) {
    const plan::Unserved& left = facts.plan.unserved(i);
    const auto id = facts.population(left.demand(), left.metro());
    if (!id) continue;
    const bool could = std::ranges::any_of(facts.candidates.sites, [&](const auto& s) {
      return std::ranges::any_of(curves, [&](const LevelCurve& curve) {
        return could_serve(facts, curve, s, *id);
      });
    });
    faults.equal(
        fmt::format("unserved[{}].because", i), left.because(),
        could ? "cheaper to leave out, within `coverage`" : "no site is within reach");
  }
}

double weights_scaled(const Facts& facts, const spec::Workload& workload) {
  for (const spec::Model& own : facts.scenario.spec.models()) {
    if (own.name() != workload.model() || !own.has_params_b()) continue;
    const auto like = facts.catalog.model(own.like());
    if (like) return own.params_b() / facts.catalog.models[*like].params_total_b;
  }
  return 1;
}

std::string table_rests_on(const Facts& facts, const spec::Workload& workload,
                           const plan::Table& table) {
  if (workload.kind() == "service") return "service time given by the scenario";
  if (workload.has_rate()) return "rate given by the scenario; no KV limit";
  const auto profile = std::ranges::find(facts.catalog.profiles, table.profile(),
                                         &datasets::StepProfile::id);
  if (profile == facts.catalog.profiles.end()) return "";
  std::string words =
      fmt::format("step profile {}, {} +-{:.0f} %", profile->id,
                  datasets::to_text(profile->basis), profile->error_pct);
  const double ratio = weights_scaled(facts, workload);
  if (ratio != 1.0) words += fmt::format(", weights scaled by {:.3f}", ratio);
  return words;
}

void check_tables_rest_on(const Facts& facts, Faults& faults) {
  for (int i = 0; i < facts.plan.tables_size(); ++i) {
    const plan::Table& table = facts.plan.tables(i);
    const spec::Workload* workload = facts.workload(table.workload());
    if (workload == nullptr) continue;  // reported where the tables are checked
    faults.equal(fmt::format("tables[{}].rests_on", i), table.rests_on(),
                 table_rests_on(facts, *workload, table));
  }
}

}  // namespace

void check_words(const Facts& facts, Faults& faults) {
  check_sentences("assumptions", facts.plan.assumptions(), assumptions(facts), faults);
  check_sentences("warnings", facts.plan.warnings(), warnings(facts), faults);
  check_reasons(facts, faults);
  check_tables_rest_on(facts, faults);
  faults.equal("bound.refers_to", facts.plan.bound().refers_to(), kRefersTo);
}

}  // namespace isochrone::verify
