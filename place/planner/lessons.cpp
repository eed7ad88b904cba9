// A plan missed an objective although its tables said that it would not. Whose table is
// to blame? The users of a cell are spread over pools; those that are nearly idle do
// not make them wait. So the blame falls on pools that are at least half full in the
// hours of the cell, each by as much as the cell misses beyond what it may.
#include "place/planner/lessons.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "place/planner/deploy.h"
#include "place/planner/drills.h"
#include "place/planner/seal.h"

namespace isochrone::place {
namespace {

using scenarios::kBlocks;
using Cells = google::protobuf::RepeatedPtrField<plan::Cell>;

constexpr double kFullEnough = 0.5;    // to be blamed for a miss
constexpr double kTried = 0.8;         // to have shown that a table holds
constexpr double kMostly = 0.5;        // of the misses of a cell
constexpr double kScatterPart = 0.25;  // of the misses allowed: margin for scatter

/// "ttft_p99.9_ms" -> 0.001.
double misses_allowed(const plan::Cell& cell) {
  const auto from = cell.objective().find("_p");
  INVARIANT(from != std::string::npos, "no percentile in " + cell.objective());
  return 1 - std::strtod(cell.objective().c_str() + from + 2, nullptr) / 100;
}

/// Misses beyond what is allowed. A part of what the simulation leaves open counts too:
/// a plan that is aimed at its percentile exactly would never be shown to meet it.
double excess_of(const plan::Cell& cell) {
  if (cell.verdict() == "met" || !cell.complete()) return 0;
  const double allowed = misses_allowed(cell);
  const double scatter = std::min(cell.attained() - cell.low(), kScatterPart * allowed);
  return 1 - cell.attained() - allowed + scatter;
}

/// One run of the simulator: the day, or what is left after a loss.
class Scene {
 public:
  Scene(const Question& question, const plan::Plan& plan, const Cells& cells,
        sim::Deployment deployment, bool degraded)
      : question_(question),
        plan_(plan),
        cells_(cells),
        deployment_(std::move(deployment)),
        degraded_(degraded),
        load_(deployment_.pools.size()) {
    for (const sim::Stream& stream : deployment_.streams) {
      for (std::size_t b = 0; b < kBlocks; ++b) {
        load_[stream.pool.index()][b] += stream.load[b].count();
      }
    }
  }

  /// By pool; pools that show nothing are left out.
  std::map<std::size_t, Lived> lived() const {
    std::map<std::size_t, Lived> seen;
    for (std::size_t pool = 0; pool < load_.size(); ++pool) {
      const std::int64_t most = *std::ranges::max_element(load_[pool]);
      if (filled(pool, most) >= kTried) {
        seen[pool] = {row(pool).replicas(), MicroRps::of(most), 0};
      }
    }
    for (const plan::Cell& cell : cells_) blame(cell, seen);
    return seen;
  }

 private:
  const plan::Pool& row(std::size_t pool) const {
    return plan_.pools(static_cast<int>(pool));
  }

  double filled(std::size_t pool, std::int64_t load) const {
    const std::int64_t carries =
        degraded_ ? row(pool).degraded_capacity() : row(pool).capacity();
    return carries > 0 ? static_cast<double>(load) / static_cast<double>(carries) : 0;
  }

  void blame(const plan::Cell& cell, std::map<std::size_t, Lived>& seen) const {
    const double excess = excess_of(cell);
    if (excess <= 0) return;
    const std::vector<bool> hours = hours_of(cell);
    std::set<std::size_t> pools;
    for (const sim::Stream& stream : deployment_.streams) {
      if (question_.workload(stream.workload).name() != cell.workload() ||
          question_.demand.regions[stream.region].name != cell.region()) {
        continue;
      }
      for (std::size_t b = 0; b < kBlocks; ++b) {
        if (hours[b] && stream.load[b].count() > 0) pools.insert(stream.pool.index());
      }
    }
    for (const std::size_t pool : pools) {
      std::int64_t most = 0;
      for (std::size_t b = 0; b < kBlocks; ++b) {
        if (hours[b]) most = std::max(most, load_[pool][b]);
      }
      if (filled(pool, most) < kFullEnough) continue;
      Lived& lived = seen[pool];
      if (lived.excess >= excess) continue;
      lived = {row(pool).replicas(), MicroRps::of(most), excess};
    }
  }

  static std::string name_of(std::size_t block) {
    return fmt::format("{:02} UTC", block);
  }

  /// Blocks of a cell. Those that stand alone are named; "other hours" are the rest.
  std::vector<bool> hours_of(const plan::Cell& cell) const {
    std::set<std::string> alone;
    for (const plan::Cell& other : cells_) {
      if (other.workload() == cell.workload() && other.region() == cell.region()) {
        alone.insert(other.hours());
      }
    }
    std::vector<bool> hours(kBlocks, false);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const std::string name = name_of(b);
      hours[b] = cell.hours() == name ||
                 (cell.hours() == "other hours" && !alone.contains(name));
    }
    return hours;
  }

  const Question& question_;
  const plan::Plan& plan_;
  const Cells& cells_;
  sim::Deployment deployment_;
  bool degraded_;
  std::vector<std::array<std::int64_t, kBlocks>> load_;  // by pool
};

bool open(const plan::Cell& cell) { return cell.verdict() != "met"; }

std::string remedy(const plan::Cell& cell, const std::string& when) {
  const double allowed = misses_allowed(cell);
  std::string text =
      fmt::format("{}{}, {}: {} is {}: {:.2f} % within {:g} ms, {:g} % must be", when,
                  cell.workload(), cell.region(), cell.objective(), cell.verdict(),
                  cell.attained() * 100, cell.limit_ms(), (1 - allowed) * 100);
  if (!cell.complete() || 1 - cell.attained() <= allowed) {
    return text + "; more requests would tell: simulate.max_requests";
  }
  text += fmt::format("; {:.4g} ms would be met", cell.at_percentile_ms());
  if (missed_by_distance(cell)) {
    text += "; most of the misses are charged to the network";
  }
  return text;
}

/// What would help where an objective is open, a line each, the worst first.
std::vector<std::string> remedies(const plan::Plan& plan) {
  std::vector<std::pair<double, std::string>> all;
  const auto look = [&](const Cells& cells, const std::string& when) {
    for (const plan::Cell& cell : cells) {
      if (!open(cell)) continue;
      all.emplace_back((cell.attained() - 1) / misses_allowed(cell),
                       remedy(cell, when));
    }
  };
  look(plan.cells(), "");
  for (const plan::Drill& drill : plan.drills()) {
    look(drill.cells(), "after the loss of " + drill.element() + ": ");
  }
  std::ranges::stable_sort(all, {}, &std::pair<double, std::string>::first);
  std::vector<std::string> lines;
  for (auto& [worst, line] : all) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::vector<Lesson> lessons_of(const Question& question,
                               const std::vector<Serving>& servings,
                               const plan::Plan& plan,
                               const std::vector<LossDrill>& losses) {
  if (open_cells(plan).all() == 0) return {};
  const std::vector<TableOrigin> origins = table_origins(servings);
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::vector<Lived>> seen;
  const auto add = [&](const Scene& scene, bool degraded) {
    for (const auto& [pool, lived] : scene.lived()) {
      const auto& [serving, level] =
          origins[plan.pools(static_cast<int>(pool)).table()];
      seen[{serving, level, degraded}].push_back(lived);
    }
  };
  add(Scene(question, plan, plan.cells(), deploy(question, plan), false), false);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const plan::Drill& drill = plan.drills(static_cast<int>(i));
    add(Scene(question, plan, drill.cells(), losses[i].deployment, true), true);
  }
  std::vector<Lesson> lessons;
  for (auto& [key, lived] : seen) {
    const bool missed =
        std::ranges::any_of(lived, [](const Lived& one) { return one.excess > 0; });
    if (!missed) continue;
    lessons.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::move(lived)});
  }
  return lessons;
}

std::vector<std::string> learn(const std::vector<Lesson>& lessons,
                               std::vector<Serving>& servings) {
  std::vector<std::string> done;
  for (const Lesson& lesson : lessons) {
    Serving& serving = servings[lesson.serving];
    LevelTable& level = serving.levels[lesson.level];
    const LevelTable before = level;
    level =
        tightened(before, serving.question.modulation, lesson.lived, lesson.degraded);
    double least = 1;
    for (std::size_t i = 0; i < level.capacity.size(); ++i) {
      least = std::min(
          least, lesson.degraded
                     ? level.degraded_correction[i] / before.degraded_correction[i]
                     : level.correction[i] / before.correction[i]);
    }
    done.push_back(fmt::format(
        "{} at batch depth {}, wait {:g} ms{}: capacity down by up to {:.1f} %",
        serving.options[level.option].profile, level.max_num_seqs,
        lesson.degraded ? level.degraded_wait_budget_ms : level.wait_budget_ms,
        lesson.degraded ? ", after a loss" : "", (1 - least) * 100));
  }
  return done;
}

OpenCells open_cells(const plan::Plan& plan) {
  OpenCells count;
  const auto look = [&](const Cells& cells) {
    for (const plan::Cell& cell : cells) {
      if (!open(cell)) continue;
      ++(cell.verdict() == "missed" ? count.missed : count.not_shown);
    }
  };
  look(plan.cells());
  for (const plan::Drill& drill : plan.drills()) look(drill.cells());
  return count;
}

bool missed_by_distance(const plan::Cell& cell) {
  return open(cell) && cell.missed_by_size() > 0 && cell.missed_by(0) >= kMostly;
}

bool fewer_open(const plan::Plan& a, const plan::Plan& b) {
  const auto rank = [](const plan::Plan& plan) {
    const OpenCells open = open_cells(plan);
    return std::tuple(open.missed, open.not_shown, plan.totals().objective_usd_micro());
  };
  return rank(a) < rank(b);
}

void tell_open(plan::Plan& plan, std::size_t tried,
               const std::vector<std::string>& notes) {
  constexpr std::size_t kMostLines = 6;
  if (open_cells(plan).all() == 0) return;
  plan::Outlook& outlook = *plan.mutable_outlook();
  if (tried > 0) {
    outlook.add_lines(
        fmt::format("tables were corrected {} times by what living through showed; "
                    "this plan has the fewest open objectives",
                    tried));
  }
  for (const std::string& note : notes) outlook.add_lines(note);
  std::vector<std::string> lines = remedies(plan);
  if (lines.size() > kMostLines) {
    const std::string more = fmt::format("and {} more", lines.size() - kMostLines);
    lines.resize(kMostLines);
    lines.push_back(more);
  }
  for (const std::string& line : lines) outlook.add_lines(line);
  seal(outlook);
}

}  // namespace isochrone::place
