#include "place/planner/relaxations.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include "scenarios/residency.h"

namespace isochrone::place {
namespace {

constexpr double kStretches[] = {1.1, 1.25, 1.5, 2};

class Easing {
 public:
  Easing(const spec::Scenario& spec, const plan::Plan& refused)
      : spec_(spec), refused_(refused) {}

  std::vector<Relaxation> all() {
    if (rests_on({"no_arc", "max_sites", "survival", "capacity"})) {
      ease_objectives();
      ease_coverage();
    }
    if (rests_on({"survival", "sites_to_survive"})) ease_survival();
    if (rests_on({"max_sites", "sites_to_survive", "sites_to_share"})) ease_sites();
    if (rests_on({"group_share", "sites_to_share"})) ease_share();
    if (rests_on({"capacity", "survival", "group_share"})) ease_stock();
    if (rests_on({"budget", "budget_open"})) ease_budget();
    if (rests_on({"no_arc", "capacity", "survival", "group_share"})) {
      ease_choice();
      ease_law();
    }
    return std::move(found_);
  }

 private:
  /// An undecided question may rest on anything.
  bool rests_on(std::initializer_list<std::string_view> kinds) const {
    return std::ranges::any_of(refused_.conflicts(),
                               [&](const plan::Conflict& conflict) {
                                 return conflict.kind() == "undecided" ||
                                        std::ranges::count(kinds, conflict.kind()) > 0;
                               });
  }

  void ease_slo(const spec::Slo& slo, const std::string& path, const std::string& of) {
    const auto stretch = [&](const std::string& field, double ms) {
      Relaxation one{of + " " + field, {}};
      for (const double factor : kStretches) {
        one.steps.push_back(
            {{path + "." + field, fmt::format("{:g}", ms * factor)},
             fmt::format("{:g} ms (+{:g})", ms * factor, ms * factor - ms)});
      }
      found_.push_back(std::move(one));
    };
    if (slo.has_rtt_max_ms()) stretch("rtt_max_ms", slo.rtt_max_ms());
    for (const spec::Objective& objective : slo.objectives()) {
      stretch(fmt::format("{}_p{:g}_ms", objective.metric(), objective.percentile()),
              objective.ms());
    }
  }

  void ease_objectives() {
    for (int w = 0; w < spec_.workloads_size(); ++w) {
      ease_slo(spec_.workloads(w).slo(), fmt::format("workloads[{}].slo", w),
               spec_.workloads(w).name());
    }
    for (int e = 0; e < spec_.demand_size(); ++e) {
      ease_slo(spec_.demand(e).slo(), fmt::format("demand[{}].slo", e),
               spec_.demand(e).name());
    }
  }

  void ease_coverage() {
    for (int e = 0; e < spec_.demand_size(); ++e) {
      const spec::Demand& entry = spec_.demand(e);
      if (entry.has_rps_peak()) continue;
      const double now = entry.has_coverage() ? entry.coverage() : 1;
      Relaxation one{entry.name() + " coverage", {}};
      for (const double share : {0.99, 0.97, 0.95, 0.9, 0.8}) {
        if (share >= now) continue;
        one.steps.push_back(
            {{fmt::format("demand[{}].coverage", e), fmt::format("{:g}", share)},
             fmt::format("{:g} % of its users", share * 100)});
      }
      found_.push_back(std::move(one));
    }
  }

  void ease_survival() {
    const std::string& now = spec_.resilience().survive();
    if (now.empty() || now == "none") return;
    Relaxation one{"resilience.survive", {}};
    for (const char* milder : {"site", "none"}) {
      if (now != milder) one.steps.push_back({{"resilience.survive", milder}, milder});
    }
    found_.push_back(std::move(one));
    ease_slo(spec_.resilience().degraded(), "resilience.degraded", "after a loss");
  }

  void ease_sites() {
    if (!spec_.limits().has_max_sites()) return;
    const int now = spec_.limits().max_sites();
    Relaxation one{"limits.max_sites", {}};
    for (const int more : {1, 2, 4, 8, 16}) {
      one.steps.push_back({{"limits.max_sites", std::to_string(now + more)},
                           fmt::format("{} sites (+{})", now + more, more)});
    }
    found_.push_back(std::move(one));
  }

  void ease_share() {
    if (!spec_.limits().has_max_provider_share()) return;
    const double now = spec_.limits().max_provider_share().share();
    Relaxation one{"limits.max_provider_share.share", {}};
    for (const double share : {0.25, 0.34, 0.4, 0.5, 0.6, 0.75, 1.0}) {
      if (share <= now) continue;
      one.steps.push_back(
          {{"limits.max_provider_share.share", fmt::format("{:g}", share)},
           fmt::format("{:g} %", share * 100)});
    }
    found_.push_back(std::move(one));
  }

  void ease_stock() {
    if (!spec_.sites().has_default_available_gpus()) return;
    const std::int64_t now = spec_.sites().default_available_gpus();
    Relaxation one{"sites.default_available_gpus", {}};
    for (const std::int64_t factor : {2, 4, 16}) {
      one.steps.push_back(
          {{"sites.default_available_gpus", std::to_string(now * factor)},
           fmt::format("{} GPUs where stock is not known", now * factor)});
    }
    found_.push_back(std::move(one));
  }

  void ease_budget() {
    if (!spec_.limits().has_budget_usd_month()) return;
    const double now = spec_.limits().budget_usd_month();
    Relaxation one{"limits.budget_usd_month", {}};
    for (const double factor : {1.05, 1.1, 1.25, 1.5, 2.0, 4.0}) {
      one.steps.push_back(
          {{"limits.budget_usd_month", fmt::format("{:.0f}", now * factor)},
           fmt::format("${:.0f} a month (+${:.0f})", now * factor,
                       now * factor - now)});
    }
    found_.push_back(std::move(one));
  }

  void ease_choice() {
    if (spec_.sites().only_size() > 0) {
      found_.push_back({"sites.only", {{{"sites.only", "[\"*\"]"}, "any site"}}});
    }
    if (spec_.sites().forbid_size() > 0) {
      found_.push_back({"sites.forbid", {{{"sites.forbid", "[]"}, "no site"}}});
    }
    if (spec_.sites().certifications_size() > 0) {
      found_.push_back(
          {"sites.certifications", {{{"sites.certifications", "[]"}, "none"}}});
    }
  }

  /// Mechanisms are contracts and audits that a company may take on; what no rule
  /// admits is not to be eased.
  void ease_law() {
    const spec::Residency& residency = spec_.residency();
    if (residency.mode() != "law" && residency.mode() != "both") return;
    std::string with;
    for (const std::string& held : residency.law().mechanisms()) with += held + ", ";
    for (const std::string& more : scenarios::unclaimed_mechanisms(residency)) {
      found_.push_back(
          {fmt::format("residency.law.mechanisms with {}", more),
           {{{"residency.law.mechanisms", "[" + with + more + "]"}, more}}});
    }
  }

  const spec::Scenario& spec_;
  const plan::Plan& refused_;
  std::vector<Relaxation> found_;
};

}  // namespace

std::vector<Relaxation> relaxations(const scenarios::Scenario& scenario,
                                    const plan::Plan& refused) {
  return Easing(scenario.spec, refused).all();
}

}  // namespace isochrone::place
