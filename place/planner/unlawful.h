#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "place/planner/question.h"

namespace isochrone::place {

/// Users whom law or policy keeps from every candidate site, told by country and
/// workload, a line each, most users first: who they are, what keeps them from the
/// nearest site, and which transfer mechanisms the company does not claim would, each
/// alone, open how many sites. `rows`: their rows in the demand.
std::vector<std::string> unlawful_users(const Question& question,
                                        const std::vector<std::size_t>& rows);

}  // namespace isochrone::place
