#pragma once

#include <string>
#include <vector>

#include "place/plan.pb.h"
#include "place/planner/drills.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// Degraded reach counts the round trips of the workload's own connections, for most
/// users stay where they are in a loss. But whoever is moved must connect anew
/// (scenarios::reconnection_trips), which a drill lives through. Where a drill misses
/// an objective mostly by distance, its moved users beyond the reach of a new
/// connection are held to that reach from now on (Serving::reconnecting), as long as
/// two elements can serve them within it: else no plan would survive a loss.
/// Returns what was done, a line per demand entry; empty if nothing was.
/// The plan must have been assembled from these servings and lived through, these
/// losses too.
std::vector<std::string> hold_to_reconnection(const Question& question,
                                              const plan::Plan& plan,
                                              const std::vector<LossDrill>& losses,
                                              std::vector<Serving>& servings);

}  // namespace isochrone::place
