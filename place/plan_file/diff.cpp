#include "place/plan_file/diff.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "place/plan_file/bill_lines.h"
#include "place/plan_file/plan_file.h"
#include "place/plan_file/table.h"

namespace isochrone::place {
namespace {

std::string signed_money(std::int64_t usd_micro) {
  if (usd_micro == 0) return "0";
  return (usd_micro > 0 ? "+" : "-") + to_text(MicroUsd::of(std::abs(usd_micro)));
}

using PoolKey = std::pair<std::string, std::string>;  // site, workload

std::string site_of(const plan::Plan& plan, const plan::Pool& pool) {
  return pool.site() < static_cast<std::uint32_t>(plan.sites_size())
             ? plan.sites(static_cast<int>(pool.site())).name()
             : fmt::format("site {}", pool.site());
}

/// A site may hold several pools of a workload: their texts stand together.
struct Standing {
  std::string text;
  std::int64_t gpus = 0;
  std::int64_t usd_micro = 0;
};

std::map<PoolKey, Standing> standing(const plan::Plan& plan) {
  std::map<PoolKey, Standing> pools;
  const std::vector<std::int64_t> rents = pool_rents(plan);
  std::size_t next = 0;
  for (const plan::Pool& pool : plan.pools()) {
    Standing& here = pools[{site_of(plan, pool), pool.workload()}];
    if (!here.text.empty()) here.text += "; ";
    here.text += fmt::format("{} x {} tp{} {} B{} {}", pool.replicas(), pool.gpu(),
                             pool.tensor_parallel(), pool.precision(),
                             pool.max_num_seqs(), pool.term());
    here.gpus += pool.gpus();
    if (next < rents.size()) here.usd_micro += rents[next];
    ++next;
  }
  return pools;
}

std::string pool_changes(const plan::Plan& before, const plan::Plan& after,
                         PlanDifference& difference) {
  std::map<PoolKey, std::pair<Standing, Standing>> both;
  for (auto& [key, pool] : standing(before)) both[key].first = pool;
  for (auto& [key, pool] : standing(after)) both[key].second = pool;
  TextTable table({"site", "workload", "before", "after", ">GPUs", ">$/month"});
  for (const auto& [key, pools] : both) {
    const auto& [old_pool, new_pool] = pools;
    if (old_pool.text == new_pool.text && old_pool.usd_micro == new_pool.usd_micro) {
      continue;
    }
    ++difference.pools_changed;
    table.add({key.first, key.second, old_pool.text.empty() ? "-" : old_pool.text,
               new_pool.text.empty() ? "-" : new_pool.text,
               fmt::format("{:+}", new_pool.gpus - old_pool.gpus),
               signed_money(new_pool.usd_micro - old_pool.usd_micro)});
  }
  return table.empty() ? "" : "\n" + table.text();
}

/// The bill by kind of line, with what is in the objective only beside it.
std::string line_changes(const plan::Plan& before, const plan::Plan& after) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> both;
  for (const plan::BillLine& line : before.bill()) {
    both[told_kind(line)].first += line.usd_micro();
  }
  for (const plan::BillLine& line : after.bill()) {
    both[told_kind(line)].second += line.usd_micro();
  }
  TextTable table({"bill line", ">before", ">after", ">$/month"});
  for (const auto& [kind, amounts] : both) {
    table.add({kind, to_text(MicroUsd::of(amounts.first)),
               to_text(MicroUsd::of(amounts.second)),
               signed_money(amounts.second - amounts.first)});
  }
  return table.empty() ? "" : "\n" + table.text();
}

void count_sites(const plan::Plan& before, const plan::Plan& after,
                 PlanDifference& difference) {
  std::map<std::string, int> sides;
  for (const plan::Site& site : before.sites()) sides[site.name()] |= 1;
  for (const plan::Site& site : after.sites()) sides[site.name()] |= 2;
  for (const auto& [name, side] : sides) {
    if (side == 1) ++difference.sites_closed;
    if (side == 2) ++difference.sites_opened;
  }
}

using Stream = std::tuple<std::string, std::string, int>;        // demand, metro, block
using Served = std::map<Stream, std::map<std::string, double>>;  // site -> share

Served served(const plan::Plan& plan) {
  Served shares;
  for (const plan::Assignment& assignment : plan.assignments()) {
    if (assignment.pool() >= static_cast<std::uint32_t>(plan.pools_size())) continue;
    const plan::Pool& pool = plan.pools(static_cast<int>(assignment.pool()));
    const std::string site = site_of(plan, pool);
    for (int block = 0; block < assignment.share_ppb_size(); ++block) {
      shares[{assignment.demand(), assignment.metro(), block}][site] +=
          assignment.share_ppb(block) / 1e9;
    }
  }
  return shares;
}

/// Share of the traffic of `after` that another site (or none) served before. Where the
/// plan names no loads each (demand, metro, block) counts alike.
double moved_share(const plan::Plan& before, const plan::Plan& after) {
  std::map<Stream, double> load;
  for (const plan::Population& population : after.populations()) {
    for (int block = 0; block < population.load_size(); ++block) {
      load[{population.demand(), population.metro(), block}] =
          static_cast<double>(population.load(block));
    }
  }
  const Served old_shares = served(before);
  double moved = 0;
  double total = 0;
  for (const auto& [stream, sites] : served(after)) {
    const auto known = load.find(stream);
    const double weight = known == load.end() ? 1.0 : known->second;
    const auto old_sites = old_shares.find(stream);
    for (const auto& [site, share] : sites) {
      double stayed = 0;
      if (old_sites != old_shares.end()) {
        const auto old_share = old_sites->second.find(site);
        if (old_share != old_sites->second.end()) {
          stayed = std::min(share, old_share->second);
        }
      }
      moved += weight * (share - stayed);
      total += weight * share;
    }
  }
  return total > 0 ? moved / total : 0;
}

std::string cell_changes(const plan::Plan& before, const plan::Plan& after,
                         PlanDifference& difference) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           std::pair<const plan::Cell*, const plan::Cell*>>
      both;
  for (const plan::Cell& cell : before.cells()) {
    both[{cell.workload(), cell.region(), cell.hours(), cell.objective()}].first =
        &cell;
  }
  for (const plan::Cell& cell : after.cells()) {
    both[{cell.workload(), cell.region(), cell.hours(), cell.objective()}].second =
        &cell;
  }
  TextTable table({"workload", "region", "hours", "objective", "before", "after"});
  for (const auto& [key, cells] : both) {
    const auto& [old_cell, new_cell] = cells;
    if (old_cell == nullptr || new_cell == nullptr ||
        old_cell->verdict() == new_cell->verdict()) {
      continue;
    }
    if (old_cell->verdict() == "met") ++difference.cells_worse;
    table.add({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key),
               old_cell->verdict(), new_cell->verdict()});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string verdict(const PlanDifference& difference) {
  const std::string interval = fmt::format(
      "between {} and {} a month", signed_money(difference.optimum_low_usd_micro),
      signed_money(difference.optimum_high_usd_micro));
  return difference.noise
             ? "the optima differ by " + interval + ": inside the gaps, so noise\n"
             : "the optima differ by " + interval + ": more than the gaps explain\n";
}

}  // namespace

PlanDifference diff_plans(const plan::Plan& before, const plan::Plan& after) {
  PlanDifference difference;
  difference.same = plan_bytes(before) == plan_bytes(after);
  if (difference.same) {
    difference.noise = true;
    difference.text = "the plans are the same\n";
    return difference;
  }
  const plan::Provenance& from = before.provenance();
  const plan::Provenance& to = after.provenance();
  difference.same_question = from.scenario_hash() == to.scenario_hash() &&
                             from.datasets_hash() == to.datasets_hash() &&
                             from.release() == to.release();
  count_sites(before, after, difference);
  const plan::Totals& old_totals = before.totals();
  const plan::Totals& new_totals = after.totals();
  difference.gpus = new_totals.gpus() - old_totals.gpus();
  difference.bill_usd_micro = new_totals.bill_usd_micro() - old_totals.bill_usd_micro();
  difference.objective_usd_micro =
      new_totals.objective_usd_micro() - old_totals.objective_usd_micro();
  difference.optimum_low_usd_micro =
      after.bound().objective_usd_micro() - old_totals.objective_usd_micro();
  difference.optimum_high_usd_micro =
      new_totals.objective_usd_micro() - before.bound().objective_usd_micro();
  difference.noise =
      difference.optimum_low_usd_micro <= 0 && difference.optimum_high_usd_micro >= 0;
  difference.moved_share = moved_share(before, after);
  const std::string pools = pool_changes(before, after, difference);
  const std::string cells = cell_changes(before, after, difference);

  std::string& text = difference.text;
  if (before.status() != after.status()) {
    text += fmt::format("status: {}, then {}\n", before.status(), after.status());
  }
  if (!difference.same_question) {
    text += "the plans answer different questions (scenario, data or release)\n";
  }
  text += fmt::format(
      "bill {} a month, {:+} GPUs, {} sites opened, {} closed, {:.1f} % of the traffic "
      "moved\n",
      signed_money(difference.bill_usd_micro), difference.gpus, difference.sites_opened,
      difference.sites_closed, 100 * difference.moved_share);
  text += verdict(difference) + line_changes(before, after) + pools + cells;
  return difference;
}

}  // namespace isochrone::place
