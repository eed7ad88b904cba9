#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "place/core/instance.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// One way to serve a workload out of an offer, before it stands at a site.
struct Draft {
  Option option;
  std::size_t offer = 0;
  std::size_t level = 0;
  int gpus_per_replica = 1;
};

/// The ways to serve each workload at each candidate site, without those that another
/// beats in cost, GPUs, capacity and reach wherever they stand. Sites with equal offers
/// share them.
class Drafts {
 public:
  Drafts(const Question& question, const std::vector<Serving>& servings);

  /// Of one of `servings` and a candidate site, both by index.
  const std::vector<Draft>& of(std::size_t serving, std::size_t site) const {
    return drafts_[index_.at({serving, site})];
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> index_;
  std::vector<std::vector<Draft>> drafts_;
};

/// GPUs rented for `replicas`: whole groups of the shape.
std::int64_t rented_gpus(std::int64_t replicas, int gpus_per_replica, int shape_gpus);

}  // namespace isochrone::place
