#include "place/planner/conflicts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "place/planner/unlawful.h"
#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateSite;
using scenarios::Population;

class Explainer {
 public:
  Explainer(const Question& question, const std::vector<Serving>& servings,
            const BuiltInstance& built, plan::Plan& plan)
      : question_(question), servings_(servings), built_(built), plan_(plan) {}

  /// Conflicts that differ in the loss alone are told once.
  void explain_all(const std::vector<Conflict>& conflicts) {
    std::vector<std::pair<const Conflict*, std::size_t>> told;  // and how many like it
    for (const Conflict& conflict : conflicts) {
      const auto like = [&](const auto& one) {
        return one.first->kind == "survival" && conflict.kind == "survival" &&
               one.first->demands == conflict.demands &&
               one.first->detail == conflict.detail;
      };
      const auto found = std::ranges::find_if(told, like);
      if (found == told.end()) {
        told.emplace_back(&conflict, 0);
      } else {
        ++found->second;
      }
    }
    for (const auto& [conflict, more] : told) {
      explain(*conflict);
      if (more == 0) continue;
      plan::Conflict& row = *plan_.mutable_conflicts(plan_.conflicts_size() - 1);
      row.set_text(fmt::format("{}; likewise after {} other losses", row.text(), more));
    }
  }

  void explain(const Conflict& conflict) {
    plan::Conflict& row = *plan_.add_conflicts();
    row.set_kind(conflict.kind);
    for (const int d : conflict.demands) row.add_populations(name_of(d));
    if (conflict.kind == "no_arc") {
      explain_no_arc(conflict, row);
      return;
    }
    if (conflict.kind == "survival" && nowhere_else(conflict)) {
      explain_no_refuge(conflict, row);
      return;
    }
    row.set_text(text_of(conflict));
    for (const std::string& path : lines_of(conflict)) cite(row, path);
  }

  /// What makes it hard, and what to do.
  void explain_doubt(const Solution& solution) {
    const spec::Scenario& spec = question_.scenario.spec;
    plan::Conflict& row = *plan_.add_conflicts();
    row.set_kind("undecided");
    const std::string& asked = spec.optimize().work();
    const std::string work = asked.empty() ? "normal" : asked;
    std::string text = fmt::format(
        "{} dual steps and {} moves found {}, and nothing proves that there is none",
        solution.statistics.dual_steps, solution.statistics.moves,
        solution.conflicts.empty() ? "no plan" : "no plan within the limits");
    text += work == "thorough"
                ? "; relax a limit"
                : fmt::format(
                      "; more work may decide it (optimize.work: {}), or relax a "
                      "limit",
                      work == "quick" ? "normal" : "thorough");
    row.set_text(text);
    for (const char* path :
         {"optimize.work", "limits.max_sites", "limits.max_provider_share",
          "limits.budget_usd_month", "resilience.survive", "sites.pin"}) {
      cite(row, path);
    }
  }

 private:
  const Population* population(int d) const {
    const auto index = static_cast<std::size_t>(d);
    if (index >= question_.demand.populations.size()) return nullptr;
    return &question_.population(index);
  }

  std::string name_of(int d) const {
    const Population* p = population(d);
    if (p == nullptr) {
      const auto b = static_cast<std::size_t>(d) - question_.demand.populations.size();
      return question_.workload(built_.batch_workloads[b]).name();
    }
    return fmt::format("{}, {} ({})", p->endpoint.name, p->endpoint.country.text(),
                       question_.entry(p->entry).name());
  }

  void cite(plan::Conflict& row, const std::string& path) const {
    const std::string line = question_.scenario.source.cite(path);
    if (!line.empty() && std::ranges::count(row.lines(), line) == 0)
      row.add_lines(line);
  }

  /// Distance to the nearest site that law admits, and the widest reach of any level.
  void explain_no_arc(const Conflict& conflict, plan::Conflict& row) const {
    std::string text = "no site can serve them within objectives and law:";
    std::size_t told = 0;
    std::vector<std::size_t> unlawful;
    for (const int d : conflict.demands) {
      const Population* p = population(d);
      if (p == nullptr) {
        text += fmt::format("\n  {}: no admitted site has an offer that fits the job",
                            name_of(d));
        text += why_no_offer_fits(d);
        cite(row, "workloads");
        continue;
      }
      cite(row, fmt::format("demand[{}]", p->entry));
      if (!question_.candidates.sites.empty() && !lawful_anywhere(*p)) {
        unlawful.push_back(static_cast<std::size_t>(d));
        continue;
      }
      if (told < 12) text += "\n  " + reason(d, *p);
      ++told;
    }
    if (told > 12) text += fmt::format("\n  and {} more", told - 12);
    for (const std::string& line : unlawful_users(question_, unlawful)) {
      text += "\n  " + line;
    }
    for (const char* path : {"workloads[0].slo", "sites.only", "sites.forbid",
                             "sites.class", "residency", "sites.certifications"}) {
      if (given(path)) cite(row, path);
    }
    row.set_text(text);
  }

  void explain_no_refuge(const Conflict& conflict, plan::Conflict& row) const {
    std::set<std::string> asked;
    for (const int d : conflict.demands) {
      const Population& p = *population(d);
      for (const std::string& data : question_.workload(p.workload).data()) {
        asked.insert(fmt::format("`explain --residency {} {}`",
                                 p.endpoint.country.text(), data));
      }
    }
    row.set_text(fmt::format(
        "after the loss of {} no candidate site is left where their data may go; {} "
        "says why",
        built_.elements[static_cast<std::size_t>(conflict.element)],
        fmt::join(asked, ", ")));
    for (const char* path :
         {"resilience", "residency", "sites.certifications", "sites.class"}) {
      if (given(path)) cite(row, path);
    }
  }

  /// The commonest reasons, most offers first, over all candidate sites.
  std::string why_no_offer_fits(int d) const {
    const std::size_t b =
        static_cast<std::size_t>(d) - question_.demand.populations.size();
    std::map<std::string, int> offers;
    for (const CandidateSite& site : question_.candidates.sites) {
      for (const scenarios::Offer& offer : site.offers) {
        const BatchFit fit = fit_batch(question_, built_.batch_workloads[b], offer);
        ++offers[fit.fits ? "the law does not admit the data there" : fit.why_not];
      }
    }
    std::vector<std::pair<int, std::string>> reasons;
    for (const auto& [reason, count] : offers) reasons.emplace_back(-count, reason);
    std::ranges::sort(reasons);
    constexpr std::size_t kMost = 4;
    if (reasons.size() > kMost) reasons.resize(kMost);
    std::string text;
    for (const auto& [count, reason] : reasons) {
      text += fmt::format("\n    {} offers: {}", -count, reason);
    }
    return text;
  }

  /// Whether the law keeps all of them from every site that outlives the loss.
  bool nowhere_else(const Conflict& conflict) const {
    if (conflict.element < 0) return false;
    for (std::size_t s = 0; s < question_.candidates.sites.size(); ++s) {
      if (std::ranges::count(built_.instance.sites[s].elements, conflict.element) > 0)
        continue;
      for (const int d : conflict.demands) {
        const Population* p = population(d);
        if (p == nullptr || question_.lawful(*p, question_.site(s))) return false;
      }
    }
    return true;
  }

  bool given(const std::string& path) const {
    const spec::Sites& sites = question_.scenario.spec.sites();
    if (path == "sites.only") return sites.only_size() > 0;
    if (path == "sites.forbid") return sites.forbid_size() > 0;
    if (path == "sites.certifications") return sites.certifications_size() > 0;
    if (path == "residency") return question_.scenario.spec.residency().mode() != "off";
    return true;
  }

  bool lawful_anywhere(const Population& p) const {
    return std::ranges::any_of(
        question_.candidates.sites,
        [&](const CandidateSite& site) { return question_.lawful(p, site); });
  }

  std::string reason(int d, const Population& p) const {
    const CandidateSite* nearest = nullptr;
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::size_t lawful = 0;
    for (std::size_t s = 0; s < question_.candidates.sites.size(); ++s) {
      const CandidateSite& site = question_.site(s);
      if (!question_.lawful(p, site)) continue;
      ++lawful;
      const std::int64_t rtt =
          question_.rtts.at(static_cast<std::size_t>(d), s).rtt.count();
      if (rtt < best) {
        best = rtt;
        nearest = &site;
      }
    }
    if (question_.candidates.sites.empty()) {
      return fmt::format("{}: there is no candidate site at all", name_of(d));
    }
    const auto widest = widest_reach(p);
    const std::string at =
        fmt::format("{}: nearest {} site {} is {} away", name_of(d),
                    lawful < question_.candidates.sites.size() ? "lawful" : "candidate",
                    nearest->id, to_text(Micros{best}));
    if (!widest) {
      return at + ", and no batch depth meets the objectives at any distance" +
             round_trips(p);
    }
    if (best <= widest->count()) {
      return at + fmt::format(", within the widest reach {}, but no offer there fits",
                              to_text(*widest));
    }
    return at + fmt::format(
                    ", the widest reach of any batch depth is {}; {} more would do{}",
                    to_text(*widest), to_text(Micros{best} - *widest), round_trips(p));
  }

  /// What is spent on the way before any work is done.
  std::string round_trips(const Population& p) const {
    const spec::Workload& workload = question_.workload(p.workload);
    const std::int64_t trips = scenarios::connection_trips(workload);
    const double access_ms = p.access.quantile_ms(0.5);
    if (trips == 1 && access_ms < 50) return "";
    return fmt::format(
        "; a request makes {} over a last mile of {:.0f} ms (median){}, {:.0f} ms "
        "before any site's distance and work",
        trips == 1 ? "one round trip" : fmt::format("{} round trips", trips), access_ms,
        trips == 1 ? "" : ", for it connects anew (" + workload.connection() + ")",
        static_cast<double>(trips) * access_ms);
  }

  std::optional<Micros> widest_reach(const Population& p) const {
    std::optional<Micros> widest;
    for (const Serving& serving : servings_) {
      if (serving.workload != p.workload) continue;
      for (const Serving::Reached& reached : serving.reach) {
        const auto it = reached.find({p.entry, p.endpoint.country});
        if (it != reached.end() && (!widest || it->second > *widest))
          widest = it->second;
      }
    }
    return widest;
  }

  std::string text_of(const Conflict& conflict) const {
    std::string text;
    if (conflict.kind == "capacity") {
      text = "together they need more than all sites in their reach can carry";
    } else if (conflict.kind == "survival") {
      text = fmt::format(
          "after the loss of {} the sites in their degraded reach cannot carry them",
          conflict.element >= 0
              ? built_.elements[static_cast<std::size_t>(conflict.element)]
              : "an element");
    } else if (conflict.kind == "max_sites") {
      text = "they cannot all be reached with so few sites";
    } else if (conflict.kind == "sites_to_survive") {
      text = "so few sites cannot survive a loss";
    } else if (conflict.kind == "sites_to_share") {
      text = "so few sites cannot share as they must";
    } else if (conflict.kind == "group_share") {
      text = "the providers cannot share as they must";
    } else if (conflict.kind == "budget_open") {
      text = "whether the budget suffices is open";
    } else if (conflict.kind == "budget") {
      text = "even the proven lower bound on the cost is above the budget";
    } else {
      text = "the limits cannot be met together (" + conflict.kind + ")";
    }
    if (conflict.block >= 0) text += fmt::format(", at {} h UTC", conflict.block);
    if (!conflict.detail.empty()) text += ": " + conflict.detail;
    return text;
  }

  static std::vector<std::string> lines_of(const Conflict& conflict) {
    if (conflict.kind == "capacity") return {"sites.default_available_gpus", "demand"};
    if (conflict.kind == "survival") {
      return {"resilience", "sites.default_available_gpus"};
    }
    if (conflict.kind == "max_sites") return {"limits.max_sites"};
    if (conflict.kind == "sites_to_survive") {
      return {"limits.max_sites", "resilience.survive"};
    }
    if (conflict.kind == "sites_to_share") {
      return {"limits.max_sites", "limits.max_provider_share"};
    }
    if (conflict.kind == "group_share") return {"limits.max_provider_share"};
    if (conflict.kind == "budget" || conflict.kind == "budget_open") {
      return {"limits.budget_usd_month"};
    }
    if (conflict.kind == "pins") return {"sites.pin"};
    return {"limits"};
  }

  const Question& question_;
  const std::vector<Serving>& servings_;
  const BuiltInstance& built_;
  plan::Plan& plan_;
};

}  // namespace

void explain_conflicts(const Question& question, const std::vector<Serving>& servings,
                       const BuiltInstance& built, const Solution& solution,
                       plan::Plan& plan) {
  Explainer explainer(question, servings, built, plan);
  explainer.explain_all(solution.conflicts);
  if (solution.status == Status::kUndecided) explainer.explain_doubt(solution);
}

}  // namespace isochrone::place
