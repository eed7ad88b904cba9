#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "place/core/instance.h"
#include "place/plan.pb.h"
#include "place/planner/build_instance.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// What a plan is assembled from, and the way from a choice back to what it means.
struct Assembly {
  const Question& question;
  const std::vector<Serving>& servings;
  const BuiltInstance& built;
  const Solution& solution;

  const Option& option_of(const Choice& choice) const;
  const OptionMeaning& meaning_of(const Choice& choice) const;
  const Serving& serving_of(std::size_t workload) const;
  /// Index in the plan's tables of a level of a workload.
  std::uint32_t table_of(std::size_t workload, std::size_t level) const;
  /// Whether an open choice reaches a population; on degraded terms: after a loss.
  bool reaches(const Choice& choice, std::size_t population, bool degraded) const;
};

/// R* of a level in us; -1: not even at distance zero.
std::int64_t reach_us(const Serving::Reached& reach,
                      const std::pair<std::size_t, geo::CountryCode>& key);

// One function per chapter of a plan that needs no other chapter but those named.

void add_populations(const Assembly& a, plan::Plan& plan);
/// With their hash.
void add_tables(const Assembly& a, plan::Plan& plan);
/// Where the data of the users may be, in all blocks and after all losses.
void add_law(const Assembly& a, plan::Plan& plan);
void add_certificate(const Assembly& a, plan::Plan& plan);
/// After the certificate and those left out.
void add_coverage(const Assembly& a, plan::Plan& plan);
/// After totals and pools.
void add_bound(const Assembly& a, plan::Plan& plan);
/// Cuts of losses that the search met and that the plan is larger for.
void add_repairs(const Assembly& a, plan::Plan& plan);
/// Assumptions and warnings.
void add_notes(const Assembly& a, plan::Plan& plan);

}  // namespace isochrone::place
