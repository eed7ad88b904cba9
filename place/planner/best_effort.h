#pragma once

#include <vector>

#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// Largest share of a (workload, region) load, in any block, that may come from users
/// for whom no arc meets the objectives: this part of the misses 1 - p that are
/// allowed.
inline constexpr double kBestEffortPart = 0.25;

/// How much farther than the nearest lawful site such users may be sent.
inline constexpr Micros kBestEffortDetour{150'000};

/// By population: whether it is served by best effort, because no candidate lies within
/// the reach of any level and the users of its region who fare so are few. Objectives
/// hold per (workload, region, block), so a few islands on a satellite do not make a
/// question infeasible; they are counted as missed there. Entries with coverage below 1
/// have a price for leaving users out instead.
std::vector<bool> best_effort(const Question& question,
                              const std::vector<Serving>& servings);

/// RTT up to which a population served by best effort may be sent: the nearest lawful
/// candidate and kBestEffortDetour. During a loss any lawful site will do.
Micros best_effort_reach(const Question& question, std::size_t population);

}  // namespace isochrone::place
