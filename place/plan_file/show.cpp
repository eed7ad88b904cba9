#include "place/plan_file/show.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "place/plan_file/bill_lines.h"
#include "place/plan_file/levels.h"
#include "place/plan_file/missed_by.h"
#include "place/plan_file/served.h"
#include "place/plan_file/summary.h"
#include "place/plan_file/table.h"

namespace isochrone::place {
namespace {

std::string money(std::int64_t usd_micro) { return to_text(MicroUsd::of(usd_micro)); }

std::string price_seen(const plan::BillLine& line) {
  if (!line.as_of().empty()) return line.as_of();
  return line.basis() == "quote" || line.basis() == "scenario" ? "yours" : "-";
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
               pool.profile() == "batch"
                   ? "-"
                   : fmt::format("{:.0f} %", 100 * pool.peak_utilisation())});
  }
  return table.empty() ? "" : "\n" + table.text();
}

/// Hours of the day with room for so many gangs: "18 to 5 UTC, 12 to 13 UTC".
std::string hours_with(const plan::Valley& valley, std::uint32_t gangs) {
  const int blocks = valley.gangs_size();
  const auto open = [&](int b) { return valley.gangs((b + blocks) % blocks) >= gangs; };
  std::string out;
  for (int b = 0; b < blocks; ++b) {
    if (!open(b) || open(b - 1)) continue;
    int end = b;
    while (open(end)) ++end;
    out += fmt::format("{}{} to {} UTC", out.empty() ? "" : ", ", b, end % blocks);
  }
  return out.empty() ? "at all hours" : out;
}

std::string valleys(const plan::Plan& plan) {
  std::string out;
  for (const plan::Valley& valley : plan.valleys()) {
    if (valley.pool() >= static_cast<std::uint32_t>(plan.pools_size())) continue;
    const plan::Pool& host = plan.pools(static_cast<int>(valley.pool()));
    if (host.site() >= static_cast<std::uint32_t>(plan.sites_size())) continue;
    out += fmt::format(
        "\n{} runs in the valleys of {} at {}: {} of its {} {}, {}; {:.0f} h a month, "
        "a "
        "job takes {:.1f} h, {:.1f} h with its pauses; GPUs of its own would cost {} a "
        "month at least\n",
        valley.workload(), host.workload(),
        plan.sites(static_cast<int>(host.site())).name(),
        valley.gangs_used() * valley.gang_gpus(), host.gpus(), host.gpu(),
        hours_with(valley, valley.gangs_used()), valley.hours_month(),
        valley.hours_per_job(), valley.longest_hours(),
        money(valley.rented_usd_micro()));
  }
  return out;
}

std::string bill(const plan::Plan& plan) {
  TextTable table({"bill line", "of", ">$/month", "how", "seen", "source"});
  for (const plan::BillLine& line : plan.bill()) {
    table.add({told_kind(line), line.site().empty() ? line.what() : line.site(),
               money(line.usd_micro()), line.arithmetic(), price_seen(line),
               line.source()});
  }
  return table.empty() ? "" : "\n" + table.text();
}

/// What was looked up or assumed, and not brought by the scenario as a price of its
/// own.
bool own_price(const plan::SpendShare& share) {
  return share.basis() == "quote" || share.basis() == "scenario";
}

bool is_estimate(const plan::SpendShare& share) {
  return share.basis() == "built" || share.basis() == "discounted" ||
         share.basis() == "egress, assumed dearest";
}

/// Age of the prices that were looked up.
std::string prices_seen(const plan::Plan& plan) {
  std::string oldest;
  std::string newest;
  for (const plan::BillLine& line : plan.bill()) {
    if (line.as_of().empty()) continue;
    if (oldest.empty() || line.as_of() < oldest) oldest = line.as_of();
    newest = std::max(newest, line.as_of());
  }
  if (oldest.empty()) return "";
  return oldest == newest
             ? fmt::format("prices were seen in {}\n", oldest)
             : fmt::format("prices were seen from {} to {}\n", oldest, newest);
}

std::string spend(const plan::Plan& plan) {
  if (plan.spend().empty()) return "";
  std::string out = "\nspend rests on:";
  std::int64_t estimated = 0;
  std::int64_t looked_up = 0;
  const char* separator = " ";
  for (const plan::SpendShare& share : plan.spend()) {
    out += fmt::format("{}{} {:.0f} %", separator, share.basis(), 100 * share.share());
    separator = ", ";
    if (own_price(share)) continue;
    looked_up += share.usd_micro();
    if (is_estimate(share)) estimated += share.usd_micro();
  }
  out += '\n' + prices_seen(plan);
  if (2 * estimated > looked_up) {
    out += fmt::format(
        "more than half of the spend that is not at your own prices is estimated: "
        "{:.0f} % of {}\n",
        100 * static_cast<double>(estimated) / static_cast<double>(looked_up),
        money(looked_up));
  }
  return out;
}

std::string coverage(const plan::Plan& plan) {
  std::string out;
  for (const plan::Coverage& row : plan.coverage()) {
    out +=
        fmt::format("\ncoverage of {}: {} of {} users left out, {:g} % must be served",
                    row.demand(), people(row.users_left_out()), people(row.users()),
                    100 * row.least());
    if (row.users() > 0) {
      out += fmt::format(
          "; one left out counts ${:.4f} a month, serving one costs about ${:.4f}",
          static_cast<double>(row.usd_micro_per_user_left_out()) / 1e6,
          static_cast<double>(row.serving_usd_micro()) / 1e6 / row.users());
    }
    out += fmt::format(
        "\n  left out {} a month in the objective; serving all is worth {} a month in "
        "the prices of the bound\n",
        money(row.left_out_usd_micro()), money(row.serving_usd_micro()));
  }
  return out;
}

std::string cells(const plan::Plan& plan) {
  TextTable table({"workload", "region", "hours", "objective", ">limit ms",
                   ">at percentile", ">within", ">low", ">high", "verdict",
                   "missed by"});
  for (const plan::Cell& cell : plan.cells()) {
    table.add({cell.workload(), cell.region(), cell.hours(), cell.objective(),
               fmt::format("{:g}", cell.limit_ms()),
               fmt::format("{:.1f}", cell.at_percentile_ms()),
               fmt::format("{:.2f} %", 100 * cell.attained()),
               fmt::format("{:.2f}", 100 * cell.low()),
               fmt::format("{:.2f}", 100 * cell.high()), cell.verdict(),
               missed_by(cell)});
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

/// The plans before this one, and what was learnt from living through each.
std::string revisions(const plan::Plan& plan) {
  std::vector<std::string> lines;
  for (const plan::Revision& one : plan.revisions()) {
    lines.push_back(fmt::format(
        "a plan of {} a month (bound {}) left {} open: {}",
        money(one.objective_usd_micro()), money(one.bound_usd_micro()),
        one.open() == 1 ? "one objective" : fmt::format("{} objectives", one.open()),
        fmt::join(one.corrected(), "; ")));
  }
  return list("planned anew, for living through it showed what no table had", lines);
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

std::string show_plan(const plan::Plan& plan, bool detail) {
  return summary(plan) + conflicts(plan) + pools(plan) + valleys(plan) +
         one_level(plan) + served_where(plan, detail) + bill(plan) + spend(plan) +
         coverage(plan) + cells(plan) + drills(plan) + repairs(plan) + revisions(plan) +
         list("what stays open, and what would help", plan.outlook().lines()) +
         list("warnings", plan.warnings()) + list("assumed", plan.assumptions());
}

}  // namespace isochrone::place
