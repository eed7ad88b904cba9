// The formulation of place/MODEL.md, row by row. It shares nothing with bound and
// search but the instance, so that a solver's answer to it is an opinion of its own.
#include "place/core/mixed_integer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "place/core/model.h"

namespace isochrone::place {
namespace {

using Sense = MixedInteger::Sense;

constexpr double kMicro = 1e-6;

double units(std::int64_t micro) { return static_cast<double>(micro) * kMicro; }

class Writer {
 public:
  explicit Writer(const Instance& in) : in_(in) {
    program_.constant = units(in.constant);
    for (int d = 0; d < demands(); ++d) job_.push_back(is_job(d));
  }

  MixedInteger program() {
    add_points();
    add_unserved();
    add_limits();
    for (int b = 0; b < in_.blocks; ++b) add_service(b, kEverySite);
    for (int e = 0; e < in_.elements; ++e) {
      for (int b = 0; b < in_.blocks; ++b) add_service(b, e);
    }
    return std::move(program_);
  }

 private:
  static constexpr int kEverySite = -1;  // as a loss

  /// A number of replicas of an option that may be built.
  struct Point {
    int column = 0;
    int site = 0;
    const Option* option = nullptr;
    std::size_t row = 0;
  };

  int add_row(std::string name, Sense sense, double limit) {
    program_.rows.push_back({std::move(name), sense, limit});
    return static_cast<int>(program_.rows.size()) - 1;
  }
  int add_column(std::string name, double cost, double upper, bool integer) {
    program_.columns.push_back({std::move(name), cost, upper, integer, {}});
    return static_cast<int>(program_.columns.size()) - 1;
  }
  void add_entry(int row, int column, double value) {
    if (value != 0) program_.columns[at(column)].entries.emplace_back(row, value);
  }

  const Site& site(int s) const { return in_.sites[at(s)]; }
  int sites() const { return static_cast<int>(in_.sites.size()); }
  int demands() const { return static_cast<int>(in_.demands.size()); }

  /// Sites, and one point per site and commodity at most.
  void add_points() {
    points_.resize(in_.sites.size());
    for (int s = 0; s < sites(); ++s) {
      open_.push_back(
          add_column(fmt::format("open_{}", s), units(site(s).fixed_cost), 1, true));
      for (int k = 0; k < in_.commodities; ++k) {
        const int once = add_row(fmt::format("once_{}_{}", s, k), Sense::kLess, 0);
        add_entry(once, open_.back(), -1);
        for (std::size_t o = 0; o < site(s).options.size(); ++o) {
          const Option& option = site(s).options[o];
          if (option.commodity != k) continue;
          for (std::size_t row = 0; row < option.cost.size(); ++row) {
            const int built = add_column(fmt::format("built_{}_{}_{}", s, o, row + 1),
                                         units(option.cost[row]), 1, true);
            add_entry(once, built, 1);
            points_[at(s)].push_back({built, s, &option, row});
          }
        }
      }
      // A site is open if something is built there, and only then.
      const int used = add_row(fmt::format("used_{}", s), Sense::kLess, 0);
      add_entry(used, open_.back(), 1);
      for (const Point& point : points_[at(s)]) add_entry(used, point.column, -1);
    }
  }

  void add_unserved() {
    std::vector<int> slack;
    for (std::size_t g = 0; g < in_.coverage.size(); ++g) {
      slack.push_back(add_row(fmt::format("coverage_{}", g), Sense::kLess,
                              static_cast<double>(in_.coverage[g].slack)));
    }
    for (int d = 0; d < demands(); ++d) {
      const DemandRow& row = in_.demands[at(d)];
      const bool may = row.coverage_group >= 0;
      unserved_.push_back(add_column(fmt::format("unserved_{}", d),
                                     units(row.unserved_cost), may ? 1 : 0, false));
      if (may) {
        add_entry(slack[at(row.coverage_group)], unserved_.back(),
                  static_cast<double>(row.coverage_weight));
      }
    }
  }

  void add_limits() {
    if (in_.max_sites) {
      const int most = add_row("max_sites", Sense::kLess, *in_.max_sites);
      for (const int open : open_) add_entry(most, open, 1);
    }
    if (in_.budget) {
      const int budget = add_row("budget", Sense::kLess, units(*in_.budget));
      for (int s = 0; s < sites(); ++s) {
        add_entry(budget, open_[at(s)], units(site(s).fixed_bill));
        for (const Point& point : points_[at(s)])
          add_entry(budget, point.column, units(point.option->bill[point.row]));
      }
    }
    for (int s = 0; s < sites(); ++s) {
      if (site(s).pinned) {
        add_entry(add_row(fmt::format("pinned_{}", s), Sense::kEqual, 1), open_[at(s)],
                  1);
      }
      add_stock(s);
    }
    add_premiums();
    add_group_shares();
  }

  void add_stock(int s) {
    for (std::size_t r = 0; r < site(s).stock.size(); ++r) {
      const std::int64_t stock = site(s).stock[r];
      if (stock == std::numeric_limits<std::int64_t>::max()) continue;
      const int row = add_row(fmt::format("stock_{}_{}", s, r), Sense::kLess,
                              static_cast<double>(stock));
      for (const Point& point : points_[at(s)]) {
        if (at(point.option->stock_row) == r) add_entry(row, point.column, gpus(point));
      }
    }
  }

  static double gpus(const Point& point) {
    return static_cast<double>(point.option->gpus[point.row]);
  }

  /// A group is used if a site of it is open, and only then.
  void add_premiums() {
    for (int g = 0; g < in_.groups; ++g) {
      if (in_.group_premium[at(g)] == 0) continue;
      const int used = add_column(fmt::format("group_{}", g),
                                  units(in_.group_premium[at(g)]), 1, true);
      const int only = add_row(fmt::format("group_only_{}", g), Sense::kLess, 0);
      add_entry(only, used, 1);
      for (int s = 0; s < sites(); ++s) {
        if (site(s).group != g) continue;
        const int forced = add_row(fmt::format("group_by_{}", s), Sense::kLess, 0);
        add_entry(forced, open_[at(s)], 1);
        add_entry(forced, used, -1);
        add_entry(only, open_[at(s)], -1);
      }
    }
  }

  void add_group_shares() {
    using Of = Instance::GroupShare::Of;
    if (!in_.group_share || in_.group_share->of == Of::kTraffic) return;
    const bool of_gpus = in_.group_share->of == Of::kGpus;
    for (int g = 0; g < in_.groups; ++g) {
      const int row = add_row(fmt::format("share_{}", g), Sense::kLess, 0);
      for (int s = 0; s < sites(); ++s) {
        const double part = (site(s).group == g ? 1 : 0) - in_.group_share->share;
        if (!of_gpus) add_entry(row, open_[at(s)], part * units(site(s).fixed_bill));
        for (const Point& point : points_[at(s)]) {
          add_entry(
              row, point.column,
              part * (of_gpus ? gpus(point) : units(point.option->bill[point.row])));
        }
      }
    }
  }

  /// One block, of a day or after a loss.
  struct Scene {
    int block = 0;
    int lost = kEverySite;
    std::string tag;
    std::vector<int> served;  ///< row, by demand; -1: asks for nothing
    std::map<std::pair<int, int>, int>
        held;  ///< (commodity, group) -> row of its share
    bool degraded() const { return lost != kEverySite; }
  };

  bool is_job(int d) const {
    return std::ranges::any_of(in_.sites, [&](const Site& one) {
      return std::ranges::any_of(one.options, [&](const Option& option) {
        return option.whole && option.commodity == in_.demands[at(d)].commodity;
      });
    });
  }

  /// Everybody in a block, over all sites or those that are left without an element. A
  /// whole job is the same in all blocks, so it stands in the first alone.
  void add_service(int block, int lost) {
    Scene scene{block, lost, fmt::to_string(block), {}, {}};
    if (scene.degraded()) scene.tag += fmt::format("_without_{}", lost);
    scene.served.assign(in_.demands.size(), -1);
    for (int d = 0; d < demands(); ++d) {
      if (job_[at(d)] ? block > 0 || scene.degraded()
                      : scene.degraded() && in_.demands[at(d)].load[at(block)] == 0) {
        continue;
      }
      scene.served[at(d)] =
          add_row(fmt::format("served_{}_{}", d, scene.tag), Sense::kEqual, 1);
      add_entry(scene.served[at(d)], unserved_[at(d)], 1);
    }
    add_held_traffic(scene);
    for (int s = 0; s < sites(); ++s) {
      if (std::ranges::count(site(s).elements, lost) == 0) add_site_service(s, scene);
    }
  }

  /// Rows that hold a group's share of the load that is served.
  void add_held_traffic(Scene& scene) {
    using Of = Instance::GroupShare::Of;
    if (scene.degraded() || !in_.group_share || in_.group_share->of != Of::kTraffic) {
      return;
    }
    for (int k = 0; k < in_.commodities; ++k) {
      for (int g = 0; g < in_.groups; ++g) {
        scene.held[{k, g}] =
            add_row(fmt::format("held_{}_{}_{}", k, g, scene.tag), Sense::kLess, 0);
      }
    }
  }

  void add_site_service(int s, const Scene& scene) {
    std::map<int, int> carries;  // commodity -> row
    for (const Point& point : points_[at(s)]) {
      if (point.option->whole) continue;
      const int k = point.option->commodity;
      const auto [it, fresh] = carries.try_emplace(k, 0);
      if (fresh) {
        it->second =
            add_row(fmt::format("carries_{}_{}_{}", s, k, scene.tag), Sense::kLess, 0);
      }
      add_entry(it->second, point.column,
                -units(scene.degraded() ? point.option->degraded_capacity[point.row]
                                        : point.option->capacity[point.row]));
    }
    for (int d = 0; d < demands(); ++d) {
      if (scene.served[at(d)] < 0) continue;
      const int share = add_arc(s, d, scene);
      if (share < 0 || job_[at(d)]) continue;
      const int k = in_.demands[at(d)].commodity;
      const double load = units(in_.demands[at(d)].load[at(scene.block)]);
      add_entry(carries.at(k), share, load);
      for (const auto& [key, row] : scene.held) {
        if (key.first != k) continue;
        const double own = key.second == site(s).group ? 1 : 0;
        add_entry(row, share, (own - in_.group_share->share) * load);
      }
    }
  }

  /// Share of a demand at a site: no more than what is built there and reaches it. -1:
  /// nothing could.
  int add_arc(int s, int d, const Scene& scene) {
    std::vector<int> by;
    for (const Point& point : points_[at(s)]) {
      const int c =
          scene.degraded() ? point.option->degraded_class : point.option->reach_class;
      if (point.option->commodity == in_.demands[at(d)].commodity &&
          has_bit(site(s).reach[at(c)], d)) {
        by.push_back(point.column);
      }
    }
    if (by.empty()) return -1;
    const std::string name = fmt::format("{}_{}_{}", d, s, scene.tag);
    const double cost = scene.degraded() ? 0 : traffic_cost(s, d, scene.block);
    const int share = add_column("share_" + name, cost, 1, job_[at(d)]);
    add_entry(scene.served[at(d)], share, 1);
    const int link = add_row("link_" + name, Sense::kLess, 0);
    add_entry(link, share, 1);
    for (const int column : by) add_entry(link, column, -1);
    return share;
  }

  double traffic_cost(int s, int d, int block) const {
    const auto& cost = site(s).traffic_cost;
    if (cost.empty()) return 0;
    if (!job_[at(d)]) return units(cost[at(block)][at(d)]);
    double sum = 0;
    for (const auto& of_block : cost) sum += units(of_block[at(d)]);
    return sum;
  }

  const Instance& in_;
  MixedInteger program_;
  std::vector<int> open_;                   // column, by site
  std::vector<std::vector<Point>> points_;  // by site
  std::vector<int> unserved_;               // column, by demand
  std::vector<bool> job_;                   // by demand
};

const char* letter(Sense sense) {
  return sense == Sense::kLess ? "L" : sense == Sense::kEqual ? "E" : "G";
}

}  // namespace

std::int64_t MixedInteger::nonzeros() const {
  std::int64_t sum = 0;
  for (const Column& column : columns) {
    sum += static_cast<std::int64_t>(column.entries.size());
  }
  return sum;
}

MixedInteger mixed_integer(const Instance& instance) {
  return Writer(instance).program();
}

void write_mps(const MixedInteger& program, const std::string& name,
               std::ostream& out) {
  fmt::print(out, "NAME {} FREE\nROWS\n N cost\n", name);
  for (const auto& row : program.rows) {
    fmt::print(out, " {} {}\n", letter(row.sense), row.name);
  }
  fmt::print(out, "COLUMNS\n");
  bool integer = false;
  int marks = 0;
  const auto mark = [&](bool wanted) {
    if (integer == wanted) return;
    fmt::print(out, " mark{} 'MARKER' '{}'\n", marks++, wanted ? "INTORG" : "INTEND");
    integer = wanted;
  };
  for (const auto& column : program.columns) {
    mark(column.integer);
    fmt::print(out, " {} cost {:.17g}\n", column.name, column.cost);
    for (const auto& [row, value] : column.entries) {
      fmt::print(out, " {} {} {:.17g}\n", column.name, program.rows[at(row)].name,
                 value);
    }
  }
  mark(false);
  fmt::print(out, "RHS\n");
  if (program.constant != 0) fmt::print(out, " rhs cost {:.17g}\n", -program.constant);
  for (const auto& row : program.rows) {
    if (row.limit != 0) fmt::print(out, " rhs {} {:.17g}\n", row.name, row.limit);
  }
  fmt::print(out, "BOUNDS\n");
  for (const auto& column : program.columns) {
    fmt::print(out, " UP bound {} {:.17g}\n", column.name, column.upper);
  }
  fmt::print(out, "ENDATA\n");
}

}  // namespace isochrone::place
