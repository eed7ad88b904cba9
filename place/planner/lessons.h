#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "place/plan.pb.h"
#include "place/planner/drills.h"
#include "place/planner/question.h"
#include "place/planner/serving.h"

namespace isochrone::place {

/// What living through a plan showed of one table, in the day or after losses.
struct Lesson {
  std::size_t serving = 0;  ///< index in the servings
  std::size_t level = 0;
  bool degraded = false;
  std::vector<Lived> lived;
};

/// Tables of pools whose users miss an objective, or are not shown to meet it, while
/// the pool is at least half full: there capacity is what can mend it. With what was
/// seen of other pools of these tables. Empty: no table is to blame. The plan must have
/// been assembled from these servings and lived through, these losses too.
std::vector<Lesson> lessons_of(const Question& question,
                               const std::vector<Serving>& servings,
                               const plan::Plan& plan,
                               const std::vector<LossDrill>& losses);

/// The tables corrected by what was seen; what was done, a line each, none without a
/// lesson.
std::vector<std::string> learn(const std::vector<Lesson>& lessons,
                               std::vector<Serving>& servings);

/// Cells of the day and of drills whose objective is missed, and those where it is
/// neither met nor missed.
struct OpenCells {
  int missed = 0;
  int not_shown = 0;
  int all() const { return missed + not_shown; }
};
OpenCells open_cells(const plan::Plan& plan);

/// Whether a cell is open, and most of its misses are charged to the network.
bool missed_by_distance(const plan::Cell& cell);

/// Whether a plan has fewer missed, then fewer open objectives, then costs less.
bool fewer_open(const plan::Plan& a, const plan::Plan& b);

/// Writes into a plan with open objectives why they stay open after so many
/// corrections, with notes on those that failed, and what would help, the worst first.
void tell_open(plan::Plan& plan, std::size_t tried,
               const std::vector<std::string>& notes);

}  // namespace isochrone::place
