#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "place/plan.pb.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"
#include "sim/deployment.h"
#include "sim/simulate.h"

namespace isochrone::place {

/// The plan as the simulator lives through it: pools with their enforced settings, and
/// the traffic of every assignment. Batch pools are left out: they have no requests.
/// Throws std::invalid_argument if the plan names what the question does not have.
sim::Deployment deploy(const Question& question, const plan::Plan& plan);

/// The loss of one element in the block that leaves the least room: all traffic of that
/// block over the surviving pools, within the degraded reach, cold connections for
/// those who are moved, degraded objectives.
struct LossDrill {
  std::string element;
  std::size_t block = 0;
  std::int64_t load = 0;  ///< micro-rps of all workloads
  std::int64_t surviving_capacity = 0;
  bool routed = false;  ///< every request found a place
  sim::Deployment deployment;
};
std::vector<LossDrill> loss_drills(const Question& question, const plan::Plan& plan);

/// Lives through plan and drills with validation streams and writes cells, drills and
/// warnings into the plan.
void live_through(const Question& question, plan::Plan& plan);

}  // namespace isochrone::place
