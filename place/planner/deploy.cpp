#include "place/planner/deploy.h"

#include <utility>

#include "place/planner/resolved.h"

namespace isochrone::place {

sim::Deployment deploy(const Question& question, const plan::Plan& plan) {
  const Resolved resolved(question, plan);
  sim::Deployment deployment = resolved.empty_deployment(false);
  for (const plan::Assignment& a : plan.assignments()) {
    const scenarios::Population& p = resolved.population(a);
    sim::Stream stream = resolved.stream(a, p);
    for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
      stream.load[block] =
          share_of(p.load[block], a.share_ppb(static_cast<int>(block)));
    }
    deployment.streams.push_back(std::move(stream));
  }
  return deployment;
}

}  // namespace isochrone::place
