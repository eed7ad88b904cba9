#include "place/plan_file/summary.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "place/plan_file/missed_by.h"

namespace isochrone::place {
namespace {

constexpr std::uint64_t kFewestWindows = 48;  // of a verdict: sim/MODEL.md, Attainment

std::string money(std::int64_t usd_micro) { return to_text(MicroUsd::of(usd_micro)); }

void name_open(const std::string& when, const plan::Cell& cell,
               std::vector<std::string>& open) {
  if (cell.verdict() == "met") return;
  open.push_back(fmt::format(
      "{}: {} {}{} {} of {:g} ms: {:.2f} % within ({:.2f} to {:.2f}){}", cell.verdict(),
      when, cell.workload(), cell.region().empty() ? "" : " in " + cell.region(),
      cell.objective(), cell.limit_ms(), cell.attained() * 100, cell.low() * 100,
      cell.high() * 100,
      cell.missed_by().empty() ? "" : ", missed by " + missed_by(cell)));
  if (cell.verdict() == "not shown" && cell.windows() < kFewestWindows) {
    open.back() += fmt::format(
        "; from {} windows of the {} that a verdict takes: simulate more requests",
        cell.windows(), kFewestWindows);
  }
}

/// "2 objectives are missed, 1 is not shown to be met".
std::string how_many_open(const plan::Plan& plan) {
  int missed = 0;
  int not_shown = 0;
  const auto count = [&](const auto& cells) {
    for (const plan::Cell& cell : cells) {
      missed += cell.verdict() == "missed" ? 1 : 0;
      not_shown += cell.verdict() != "missed" && cell.verdict() != "met" ? 1 : 0;
    }
  };
  count(plan.cells());
  for (const plan::Drill& drill : plan.drills()) count(drill.cells());
  const auto objectives = [](int n, const char* what) {
    return n == 1 ? fmt::format("one objective is {}", what)
                  : fmt::format("{} objectives are {}", n, what);
  };
  if (not_shown == 0) return objectives(missed, "missed");
  const std::string open = objectives(not_shown, "not shown to be met");
  return missed == 0 ? open : objectives(missed, "missed") + " and " + open;
}

/// Objectives that the simulation does not show as met, in the day and after each loss.
std::vector<std::string> open_objectives(const plan::Plan& plan) {
  std::vector<std::string> open;
  for (const plan::Cell& cell : plan.cells()) {
    name_open("at " + cell.hours() + ",", cell, open);
  }
  for (const plan::Drill& drill : plan.drills()) {
    for (const plan::Cell& cell : drill.cells()) {
      name_open("after the loss of " + drill.element() + ",", cell, open);
    }
  }
  return open;
}

/// How full the pools run at the peak of a day, and the users whose pools run fullest
/// after a loss.
std::string how_full(const plan::Plan& plan) {
  double least = 1;
  double most = 0;
  for (const plan::Pool& pool : plan.pools()) {
    if (pool.capacity() == 0) continue;
    least = std::min(least, pool.peak_utilisation());
    most = std::max(most, pool.peak_utilisation());
  }
  if (most == 0) return "";
  const std::string low = fmt::format("{:.0f}", 100 * least);
  const std::string high = fmt::format("{:.0f}", 100 * most);
  std::string out = fmt::format(
      "  full        {} % of what a pool carries within its objectives, at its peak\n",
      low == high ? high : low + " to " + high);
  const plan::Drill* tightest = nullptr;
  double use = 0;
  for (const plan::Drill& drill : plan.drills()) {
    const plan::Cut& cut = drill.tightest();
    if (cut.left() <= 0) continue;
    const double own =
        static_cast<double>(cut.need()) / static_cast<double>(cut.left());
    if (own <= use) continue;
    use = own;
    tightest = &drill;
  }
  if (tightest != nullptr) {
    out += fmt::format(
        "              {:.0f} % of what is left for {} after the loss of {} at {:02} "
        "UTC, the worst\n",
        100 * use, users_of(plan, tightest->tightest()), tightest->element(),
        tightest->block());
  }
  return out;
}

/// Pools that would need more GPUs than there are.
int beyond_stock(const plan::Plan& plan, const plan::StepTimeCase& sized) {
  int pools = 0;
  for (int p = 0; p < std::min(plan.pools_size(), sized.replicas_size()); ++p) {
    const plan::Pool& pool = plan.pools(p);
    const std::int64_t shape = std::max(1, pool.shape_gpus());
    const std::int64_t gpus =
        (sized.replicas(p) * pool.tensor_parallel() + shape - 1) / shape * shape;
    pools += pool.available_gpus() >= 0 && gpus > pool.available_gpus() ? 1 : 0;
  }
  return pools;
}

std::string step_time_case(const plan::Plan& plan, const plan::StepTimeCase& sized) {
  std::int64_t replicas = 0;
  for (const std::int64_t n : sized.replicas()) replicas += n;
  std::string out = fmt::format("{}  {} GPUs, {} replicas, {} a month", sized.name(),
                                sized.gpus(), replicas, money(sized.bill_usd_micro()));
  if (sized.bill_low_usd_micro() != sized.bill_high_usd_micro()) {
    out += fmt::format(" ({} to {})", money(sized.bill_low_usd_micro()),
                       money(sized.bill_high_usd_micro()));
  }
  const int pools = beyond_stock(plan, sized);
  if (pools > 0) {
    out += fmt::format(", more than the stock of {}",
                       pools == 1 ? "one pool" : fmt::format("{} pools", pools));
  }
  return out;
}

std::string step_times(const plan::Plan& plan) {
  if (plan.step_times().empty()) return "";
  double least = 1e9;
  double most = 0;
  for (const plan::Pool& pool : plan.pools()) {
    if (pool.step_error_pct() <= 0) continue;
    least = std::min(least, pool.step_error_pct());
    most = std::max(most, pool.step_error_pct());
  }
  const std::string band = least == most ? fmt::format("{:g} %", most)
                                         : fmt::format("{:g} to {:g} %", least, most);
  std::string out = fmt::format(
      "  step times  +-{}; were they all off, and each pool sized anew alone:\n", band);
  for (const plan::StepTimeCase& sized : plan.step_times()) {
    out += fmt::format("              {}\n", step_time_case(plan, sized));
  }
  return out +
         "              (whole groups of GPUs at the same sites, batches and reach: a "
         "new plan would round less)\n";
}

}  // namespace

/// Regions and number of metros of a set of users.
std::string users_of(const plan::Plan& plan, const plan::Cut& cut) {
  std::set<std::string> regions;
  for (const std::uint32_t index : cut.populations()) {
    if (index >= static_cast<std::uint32_t>(plan.populations_size())) continue;
    regions.insert(plan.populations(static_cast<int>(index)).region());
  }
  constexpr std::size_t kTold = 3;
  const std::string where = regions.size() > kTold
                                ? fmt::format("{} regions", regions.size())
                                : fmt::to_string(fmt::join(regions, ", "));
  return fmt::format("{} {} in {}", cut.populations_size(),
                     cut.populations_size() == 1 ? "population" : "populations", where);
}

std::string people(double users) {
  return users >= 1e6 ? fmt::format("{:.2f} M", users / 1e6)
                      : fmt::format("{:.0f}", users);
}

std::string summary(const plan::Plan& plan) {
  std::string out = fmt::format("{}: {}", plan.scenario(), plan.status());
  const std::vector<std::string> open = open_objectives(plan);
  if (!open.empty()) {
    out += fmt::format(", BUT {}:", how_many_open(plan));
  }
  if (plan.status() == "interrupted") {
    out += ", so neither lived through nor verified";
  }
  out += "\n";
  for (const std::string& line : open) out += "  " + line + "\n";
  if (plan.pools_size() == 0) return out;
  const plan::Totals& totals = plan.totals();
  const plan::Bound& bound = plan.bound();
  out += fmt::format("  bill        {} a month", money(totals.bill_usd_micro()));
  if (totals.bill_low_usd_micro() != totals.bill_high_usd_micro()) {
    out += fmt::format(" ({} to {})", money(totals.bill_low_usd_micro()),
                       money(totals.bill_high_usd_micro()));
  }
  out += fmt::format(", {} over the horizon\n", money(totals.horizon_usd_micro()));
  if (totals.objective_usd_micro() != totals.bill_usd_micro()) {
    out += fmt::format(
        "  objective   {} a month: the bill with premiums, penalties and exit, which "
        "the gap is of\n",
        money(totals.objective_usd_micro()));
  }
  out += fmt::format("  bound       {} a month: gap {:.2f} %, {:.1f} replicas\n",
                     money(bound.objective_usd_micro()),
                     static_cast<double>(bound.gap_ppm()) / 1e4, bound.gap_replicas());
  if (!bound.refers_to().empty()) {
    out += fmt::format("              of {}\n", bound.refers_to());
  }
  out += fmt::format("  hardware    {} GPUs, {} replicas, {} sites\n", totals.gpus(),
                     totals.replicas(), plan.sites_size());
  out += how_full(plan) + step_times(plan);
  if (totals.users_asked() > 0) {
    out += fmt::format("  users       {} served of {} asked\n",
                       people(totals.users_served()), people(totals.users_asked()));
  }
  return out;
}

}  // namespace isochrone::place
