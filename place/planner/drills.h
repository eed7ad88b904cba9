#pragma once

#include <vector>

#include "place/plan.pb.h"
#include "place/planner/question.h"
#include "sim/deployment.h"

namespace isochrone::place {

/// The loss of one element in its worst block: the one in which some set of users asks
/// for the largest part of what the pools that it can still reach carry. All traffic of
/// that block goes over the surviving pools, within the degraded reach, with cold
/// connections for those who are moved and the degraded objectives. It is the state
/// that settles after the loss, not the minute of the loss: requests in flight, their
/// KV and the queue of the lost pools are not followed.
struct LossDrill {
  plan::Drill row;      ///< all but what simulation tells
  bool routed = false;  ///< every request found a place
  sim::Deployment deployment;
  std::vector<std::size_t> populations;  ///< by stream: its row in the demand
};

/// One drill per element that the plan uses, in the order of their names; of equally
/// bad blocks the earliest. Only blocks that `simulate.hours` covers.
std::vector<LossDrill> loss_drills(const Question& question, const plan::Plan& plan);

/// Those that the plan was lived through, in the order of plan.drills(); empty where
/// none was.
std::vector<LossDrill> lived_drills(const Question& question, const plan::Plan& plan);

}  // namespace isochrone::place
