#pragma once

#include <vector>

#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// How much farther than the nearest lawful site such users may be sent.
inline constexpr Micros kBestEffortDetour{150'000};

/// Decides which users of the serving's workload are served by best effort, and how far
/// its levels reach the others. Objectives hold per (workload, region, block), so a few
/// islands on a satellite do not make a question infeasible: whom no candidate reaches
/// is sent to a site anyhow and counted as missed. Where they are a share s of their
/// region's load in its worst block, the others must attain p / (1 - s), so that the
/// region as a whole still attains p; their reach is computed for that. Whoever is out
/// of reach then is counted in s too, until nothing changes. A region in which s leaves
/// the others more to attain than the level that waits least admits has no best effort.
/// Entries with coverage below 1 have a price for leaving users out instead.
void settle_best_effort(const Question& question, Serving& serving);

/// By population, of all workloads: whether it is served by best effort.
std::vector<bool> best_effort(const Question& question,
                              const std::vector<Serving>& servings);

/// RTT up to which a population served by best effort may be sent: the nearest lawful
/// candidate and kBestEffortDetour. During a loss any lawful site will do.
Micros best_effort_reach(const Question& question, std::size_t population);

}  // namespace isochrone::place
