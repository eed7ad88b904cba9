#include "place/plan_file/show.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "place/plan_file/bill_lines.h"
#include "place/plan_file/table.h"

namespace isochrone::place {
namespace {

std::string money(std::int64_t usd_micro) { return to_text(MicroUsd::of(usd_micro)); }

std::string people(double users) {
  return users >= 1e6 ? fmt::format("{:.2f} M", users / 1e6)
                      : fmt::format("{:.0f}", users);
}

void name_open(const std::string& when, const plan::Cell& cell,
               std::vector<std::string>& open) {
  if (cell.verdict() == "met") return;
  open.push_back(fmt::format(
      "{}: {} {}{} {} of {:g} ms: {:.2f} % within ({:.2f} to {:.2f})", cell.verdict(),
      when, cell.workload(), cell.region().empty() ? "" : " in " + cell.region(),
      cell.objective(), cell.limit_ms(), cell.attained() * 100, cell.low() * 100,
      cell.high() * 100));
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

std::string head(const plan::Plan& plan) {
  std::string out = fmt::format("{}: {}", plan.scenario(), plan.status());
  const std::vector<std::string> open = open_objectives(plan);
  if (!open.empty()) {
    out +=
        fmt::format(", BUT {} not shown to be met:",
                    open.size() == 1 ? "one objective is"
                                     : fmt::format("{} objectives are", open.size()));
  }
  out += "\n";
  for (const std::string& line : open) out += "  " + line + "\n";
  if (plan.status() != "planned") return out;
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
  if (totals.users_asked() > 0) {
    out += fmt::format("  users       {} served of {} asked\n",
                       people(totals.users_served()), people(totals.users_asked()));
  }
  return out;
}

std::string pools(const plan::Plan& plan) {
  TextTable table({"site", "city", "in", "workload", "GPUs", "tp", "prec", ">batch",
                   ">wait ms", ">n", "term", "price", ">$/month", ">use"});
  const std::vector<std::int64_t> rent = pool_rents(plan);
  std::size_t next = 0;
  for (const plan::Pool& pool : plan.pools()) {
    const std::size_t index = next++;
    if (pool.site() >= static_cast<std::uint32_t>(plan.sites_size())) continue;
    const plan::Site& site = plan.sites(static_cast<int>(pool.site()));
    table.add({site.name(), site.city(), site.country(), pool.workload(),
               fmt::format("{} {}", pool.gpus(), pool.gpu()),
               fmt::to_string(pool.tensor_parallel()), pool.precision(),
               fmt::to_string(pool.max_num_seqs()),
               fmt::format("{:g}", pool.wait_budget_ms()),
               fmt::to_string(pool.replicas()), pool.term(), pool.price_basis(),
               index < rent.size() ? money(rent[index]) : "-",
               fmt::format("{:.0f} %", 100 * pool.peak_utilisation())});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string bill(const plan::Plan& plan) {
  TextTable table({"bill line", "of", ">$/month", "how"});
  for (const plan::BillLine& line : plan.bill()) {
    table.add({told_kind(line), line.site().empty() ? line.what() : line.site(),
               money(line.usd_micro()), line.arithmetic()});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string spend(const plan::Plan& plan) {
  if (plan.spend().empty()) return "";
  std::string out = "\nspend rests on:";
  double guessed = 0;
  const char* separator = " ";
  for (const plan::SpendShare& share : plan.spend()) {
    out += fmt::format("{}{} {:.0f} %", separator, share.basis(), 100 * share.share());
    separator = ", ";
    if (share.basis() == "built" || share.basis() == "discounted") {
      guessed += share.share();
    }
  }
  out += '\n';
  if (guessed > 0.5) out += "more than half of the spend is estimated\n";
  return out;
}

std::string cells(const plan::Plan& plan) {
  TextTable table({"workload", "region", "hours", "objective", ">limit ms",
                   ">at percentile", ">within", ">low", ">high", "verdict"});
  for (const plan::Cell& cell : plan.cells()) {
    table.add({cell.workload(), cell.region(), cell.hours(), cell.objective(),
               fmt::format("{:g}", cell.limit_ms()),
               fmt::format("{:.1f}", cell.at_percentile_ms()),
               fmt::format("{:.2f} %", 100 * cell.attained()),
               fmt::format("{:.2f}", 100 * cell.low()),
               fmt::format("{:.2f}", 100 * cell.high()), cell.verdict()});
  }
  return table.empty()
             ? ""
             : fmt::format("\n{}{} requests simulated, {} losses drilled\n",
                           table.text(), plan.simulated_requests(), plan.drills_size());
}

std::string use_of(const plan::Cut& cut) {
  if (cut.left() <= 0) return "";
  return fmt::format("{:.0f} %", 100 * static_cast<double>(cut.need()) /
                                     static_cast<double>(cut.left()));
}

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

std::string first_metro(const plan::Plan& plan, const plan::Cut& cut) {
  if (cut.populations().empty()) return "";
  const std::uint32_t first = cut.populations(0);
  return first < static_cast<std::uint32_t>(plan.populations_size())
             ? plan.populations(static_cast<int>(first)).metro()
             : "";
}

std::string rps(std::int64_t micro) {
  return fmt::format("{:.1f}", static_cast<double>(micro) / 1e6);
}

std::string drills(const plan::Plan& plan) {
  TextTable table({"after the loss of", ">h UTC", ">load rps", ">carries rps",
                   ">tightest use", "for", ">met", ">worst within"});
  for (const plan::Drill& drill : plan.drills()) {
    int met = 0;
    double worst = 1;
    for (const plan::Cell& cell : drill.cells()) {
      met += cell.verdict() == "met" ? 1 : 0;
      worst = std::min(worst, cell.attained());
    }
    table.add({drill.element(), fmt::to_string(drill.block()), rps(drill.load()),
               rps(drill.surviving_capacity()), use_of(drill.tightest()),
               users_of(plan, drill.tightest()),
               fmt::format("{} of {}", met, drill.cells_size()),
               fmt::format("{:.2f} %", 100 * worst)});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string repairs(const plan::Plan& plan) {
  std::string out;
  for (const plan::Repair& repair : plan.repairs().cuts()) {
    const plan::Cut& cut = repair.cut();
    out += fmt::format(
        "  - without {} {} (e.g. {}) need {} rps at {:02} UTC; the rest would carry {} "
        "with what the day needs, and carries {}\n",
        repair.element(), users_of(plan, cut), first_metro(plan, cut), rps(cut.need()),
        cut.block(), rps(repair.had()), rps(cut.left()));
  }
  return out.empty() ? "" : "\nmade larger to survive a loss\n" + out;
}

template <class Lines>
std::string list(const char* heading, const Lines& lines) {
  if (lines.empty()) return "";
  std::string out = fmt::format("\n{}\n", heading);
  for (const std::string& line : lines) out += fmt::format("  - {}\n", line);
  return out;
}

std::string conflicts(const plan::Plan& plan) {
  std::string out;
  for (const plan::Conflict& conflict : plan.conflicts()) {
    out += fmt::format("\n{}: {}\n", conflict.kind(), conflict.text());
    for (const std::string& line : conflict.lines()) out += fmt::format("  {}\n", line);
    if (!conflict.populations().empty()) {
      out += fmt::format("  concerns {}\n", fmt::join(conflict.populations(), ", "));
    }
  }
  return out;
}

}  // namespace

std::string show_plan(const plan::Plan& plan) {
  return head(plan) + conflicts(plan) + pools(plan) + bill(plan) + spend(plan) +
         cells(plan) + drills(plan) + repairs(plan) +
         list("warnings", plan.warnings()) + list("assumed", plan.assumptions());
}

}  // namespace isochrone::place
