#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "place/core/instance.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// What an option of the instance stands for.
struct OptionMeaning {
  std::size_t site = 0;   ///< candidate
  std::size_t offer = 0;  ///< in its offers
  std::size_t workload = 0;
  std::size_t level = 0;  ///< in the workload's Serving::levels; unused for batch
  int gpus_per_replica = 1;
  bool batch = false;
};

/// The numbers that the core optimises and the way back to what they mean. Demands are
/// the populations in order, then one per batch workload.
struct BuiltInstance {
  Instance instance;
  std::vector<OptionMeaning> meaning;        ///< by Option::label
  std::vector<std::string> groups;           ///< provider names
  std::vector<std::string> elements;         ///< what may be lost
  std::vector<std::size_t> batch_workloads;  ///< of the demands after the populations
  std::vector<bool> best_effort;             ///< by population, see best_effort.h
};

BuiltInstance build_instance(const Question& question,
                             const std::vector<Serving>& servings);

/// A batch workload on one offer: what it needs there, or why it cannot run.
struct BatchFit {
  bool fits = false;
  std::string why_not;
  std::int64_t gangs = 0;  ///< that run side by side
  std::int64_t gpus = 0;   ///< rented, whole shapes
  double hours_per_job = 0;
  double gpu_hours_month = 0;  ///< on this GPU
  MicroUsd bill_month;         ///< on demand: hours used; committed: the whole month
  MicroUsd extra_month;
  std::string arithmetic;
};
BatchFit fit_batch(const Question& question, std::size_t workload,
                   const scenarios::Offer& offer);

}  // namespace isochrone::place
