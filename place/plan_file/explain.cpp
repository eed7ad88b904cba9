#include "place/plan_file/explain.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/units.h"
#include "place/plan_file/bill_lines.h"
#include "place/plan_file/served.h"
#include "place/plan_file/summary.h"
#include "place/plan_file/table.h"

namespace isochrone::place {
namespace {

std::string money(std::int64_t usd_micro) { return to_text(MicroUsd::of(usd_micro)); }

std::string rps(double micro) { return fmt::format("{:.1f}", micro / 1e6); }

[[noreturn]] void refuse(const char* what, std::string_view name,
                         const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  throw std::invalid_argument(fmt::format("the plan has no {} \"{}\" (it has {}); {}",
                                          what, name, fmt::join(names, ", "),
                                          did_you_mean(name, names)));
}

using UsersOf = std::map<std::pair<std::string, std::string>, const plan::Population*>;

UsersOf users_by_name(const plan::Plan& plan) {
  UsersOf users;
  for (const plan::Population& p : plan.populations()) {
    users[{p.demand(), p.metro()}] = &p;
  }
  return users;
}

double requests_of(const plan::Population& p, const plan::Assignment& a) {
  double requests = 0;
  for (int b = 0; b < std::min(a.share_ppb_size(), p.requests_month_size()); ++b) {
    requests += static_cast<double>(p.requests_month(b)) * a.share_ppb(b) / 1e9;
  }
  return requests;
}

std::string pools_at(const plan::Plan& plan, std::uint32_t site) {
  TextTable table({"workload", "GPUs", ">n", ">batch", ">wait ms", ">carries rps",
                   ">at peak", ">after a loss", "term", "price", "seen", "source"});
  for (const plan::Pool& pool : plan.pools()) {
    if (pool.site() != site) continue;
    table.add({pool.workload(), fmt::format("{} {}", pool.gpus(), pool.gpu()),
               fmt::to_string(pool.replicas()), fmt::to_string(pool.max_num_seqs()),
               fmt::format("{:g}", pool.wait_budget_ms()),
               rps(static_cast<double>(pool.capacity())),
               fmt::format("{:.0f} %", 100 * pool.peak_utilisation()),
               rps(static_cast<double>(pool.degraded_capacity())), pool.term(),
               pool.price_basis(), pool.price_as_of(), pool.price_source()});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string bill_of(const plan::Plan& plan, const std::string& site) {
  TextTable table({"bill line", ">$/month", "how"});
  for (const plan::BillLine& line : plan.bill()) {
    if (line.site() != site) continue;
    table.add({told_kind(line), money(line.usd_micro()), line.arithmetic()});
  }
  return table.empty() ? "" : "\n" + table.text();
}

/// Users by country: which part of them a site serves.
std::string served_by(const plan::Plan& plan, std::uint32_t site) {
  struct Country {
    double all = 0;
    double here = 0;
    double rtt = 0;
    double furthest = 0;
  };
  const UsersOf users = users_by_name(plan);
  std::map<std::string, Country> countries;
  for (const plan::Assignment& a : plan.assignments()) {
    const auto found = users.find({a.demand(), a.metro()});
    if (found == users.end() || static_cast<int>(a.pool()) >= plan.pools_size()) {
      continue;
    }
    Country& country = countries[a.country()];
    const double requests = requests_of(*found->second, a);
    const double ms = static_cast<double>(a.rtt_us()) / 1e3;
    country.all += requests;
    if (plan.pools(static_cast<int>(a.pool())).site() != site) continue;
    country.here += requests;
    country.rtt += requests * ms;
    country.furthest = std::max(country.furthest, ms);
  }
  TextTable table(
      {"serves users in", ">of their requests", ">mean RTT ms", ">furthest"});
  for (const auto& [name, country] : countries) {
    if (country.here <= 0) continue;
    table.add({name, fmt::format("{:.1f} %", 100 * country.here / country.all),
               fmt::format("{:.1f}", country.rtt / country.here),
               fmt::format("{:.1f}", country.furthest)});
  }
  return table.empty() ? "" : "\n" + table.text();
}

/// Elements that a site may be lost with: itself, its location, country, provider.
std::string loss_of(const plan::Plan& plan, const plan::Site& site) {
  std::string out;
  for (const plan::Drill& drill : plan.drills()) {
    const std::set<std::string> elements{site.name(), site.location(), site.country(),
                                         site.provider()};
    if (!elements.contains(drill.element())) continue;
    const plan::Cut& cut = drill.tightest();
    const auto met = std::ranges::count(drill.cells(), "met", &plan::Cell::verdict);
    out += fmt::format(
        "\nwithout {}, at {:02} UTC: {} rps asked, {} carried by the rest; {} use "
        "{:.0f} "
        "% of what they have left; {} of {} objectives shown to be met\n",
        drill.element(), drill.block(), rps(static_cast<double>(drill.load())),
        rps(static_cast<double>(drill.surviving_capacity())), users_of(plan, cut),
        cut.left() > 0
            ? 100 * static_cast<double>(cut.need()) / static_cast<double>(cut.left())
            : 0,
        met, drill.cells_size());
  }
  return out;
}

std::string where_the_time_goes(const plan::Cell& cell) {
  std::string out;
  for (const plan::Cell::Part& part : cell.parts()) {
    out += fmt::format("{}{} {:.1f}", out.empty() ? "" : ", ", part.name(),
                       static_cast<double>(part.ns()) / 1e6);
  }
  return out;
}

void add_cell(const std::string& when, const plan::Cell& cell, TextTable& table) {
  table.add({when, cell.workload(), cell.objective(),
             fmt::format("{:g}", cell.limit_ms()),
             fmt::format("{:.1f}", cell.at_percentile_ms()),
             fmt::format("{:.2f} %", 100 * cell.attained()), cell.verdict(),
             where_the_time_goes(cell)});
}

std::string cells_of(const plan::Plan& plan, std::string_view region) {
  TextTable table({"when", "workload", "objective", ">limit ms", ">at percentile",
                   ">within", "verdict", "mean ms"});
  for (const plan::Cell& cell : plan.cells()) {
    if (cell.region() == region) add_cell(cell.hours(), cell, table);
  }
  for (const plan::Drill& drill : plan.drills()) {
    for (const plan::Cell& cell : drill.cells()) {
      if (cell.region() == region) add_cell("without " + drill.element(), cell, table);
    }
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string left_out_in(const plan::Plan& plan, std::string_view region) {
  const UsersOf users = users_by_name(plan);
  std::string out;
  for (const plan::Unserved& left : plan.unserved()) {
    const auto found = users.find({left.demand(), left.metro()});
    if (found == users.end() || found->second->region() != region) continue;
    out +=
        fmt::format("  {} users of {} in {} are left out: {}\n", people(left.users()),
                    left.demand(), left.metro(), left.because());
  }
  return out;
}

}  // namespace

std::string explain_site(const plan::Plan& plan, std::string_view site) {
  const auto found = std::ranges::find(plan.sites(), site, &plan::Site::name);
  if (found == plan.sites().end()) {
    std::set<std::string> known;
    for (const plan::Site& open : plan.sites()) known.insert(open.name());
    refuse("open site", site, known);
  }
  const auto index = static_cast<std::uint32_t>(found - plan.sites().begin());
  return fmt::format("{}: {}, {}, {} of {}\n", found->name(), found->city(),
                     found->country(), found->site_class(), found->provider()) +
         pools_at(plan, index) + bill_of(plan, found->name()) + served_by(plan, index) +
         loss_of(plan, *found);
}

std::string explain_region(const plan::Plan& plan, std::string_view region) {
  plan::Plan part = plan;
  part.clear_populations();
  double users = 0;
  std::set<std::string> known;
  for (const plan::Population& p : plan.populations()) {
    known.insert(p.region());
    if (p.region() != region) continue;
    *part.add_populations() = p;
    users += p.users();
  }
  if (!known.contains(std::string(region))) refuse("region", region, known);
  return fmt::format("{}: {} users in {} metros\n", region, people(users),
                     part.populations_size()) +
         left_out_in(plan, region) + served_where(part, true) + cells_of(plan, region);
}

}  // namespace isochrone::place
