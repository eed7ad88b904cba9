#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "place/plan.pb.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"
#include "sim/deployment.h"

namespace isochrone::place {

/// The words of a plan resolved against its question, for whoever simulates it. Every
/// function throws std::invalid_argument if the plan names what the question does not
/// have. Keeps references to both.
class Resolved {
 public:
  Resolved(const Question& question, const plan::Plan& plan);

  const scenarios::Population& population(const plan::Assignment& a) const;
  const scenarios::CandidateSite& site(const plan::Pool& pool) const;
  sim::Stream stream(const plan::Assignment& a, const scenarios::Population& p) const;
  /// Pools and objectives, nobody sent anywhere. Batch pools keep their place in the
  /// order but never get a stream.
  sim::Deployment empty_deployment(bool degraded) const;

 private:
  sim::Pool pool(const plan::Pool& p) const;

  const Question& question_;
  const plan::Plan& plan_;
  std::map<std::string, const scenarios::CandidateSite*> site_;
  std::map<std::pair<std::string, std::string>, const scenarios::Population*>
      population_;
  std::vector<std::vector<ServingOption>> options_;  // by workload
};

/// Part of a load, rounded down.
MicroRps share_of(MicroRps load, std::uint32_t ppb);

}  // namespace isochrone::place
