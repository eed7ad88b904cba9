// Every deployment of a tiny world, one after the other. Uses neither Model nor MaxFlow
// nor any bound: only the instance as it is written.
#include <algorithm>
#include <cmath>
#include <limits>

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include "core/worlds.h"
#include "place/core/model.h"

namespace isochrone::place {
namespace {

struct Built {
  int site = 0;
  const Option* option = nullptr;
  std::size_t row = 0;
};

class BruteForce {
 public:
  explicit BruteForce(const Instance& in) : in_(in) {
    for (int s = 0; s < static_cast<int>(in.sites.size()); ++s) {
      for (int k = 0; k < in.commodities; ++k) places_.emplace_back(s, k);
    }
  }

  std::optional<std::int64_t> least() {
    for (const auto& served : services()) {
      served_ = served;
      built_.clear();
      extend(0);
    }
    return best_;
  }

 private:
  /// Served parts to try: each demand whole, not at all, or down to what slack allows.
  std::vector<std::vector<double>> services() const {
    std::vector<std::vector<double>> found;
    std::vector<double> served(in_.demands.size(), 1);
    choose_service(0, in_.coverage.empty() ? 0 : in_.coverage[0].slack, served, found);
    return found;
  }

  void choose_service(std::size_t d, std::int64_t slack, std::vector<double>& served,
                      std::vector<std::vector<double>>& found) const {
    if (d == served.size()) {
      found.push_back(served);
      return;
    }
    served[d] = 1;
    choose_service(d + 1, slack, served, found);
    const DemandRow& row = in_.demands[d];
    if (row.coverage_group < 0) return;
    if (row.coverage_weight <= slack) {
      served[d] = 0;
      choose_service(d + 1, slack - row.coverage_weight, served, found);
    } else if (slack > 0) {
      // Rounded so that the unserved part never exceeds the slack.
      served[d] = 1 - std::floor(1e9 * static_cast<double>(slack) /
                                 static_cast<double>(row.coverage_weight)) /
                          1e9;
      choose_service(d + 1, 0, served, found);
    }
    served[d] = 1;
  }

  std::int64_t load(std::size_t d, int b) const {
    return static_cast<std::int64_t>(
        std::ceil(served_[d] * static_cast<double>(in_.demands[d].load[at(b)])));
  }

  void extend(std::size_t place) {
    if (place == places_.size()) {
      consider();
      return;
    }
    extend(place + 1);
    const auto [s, k] = places_[place];
    for (const Option& option : in_.sites[at(s)].options) {
      if (option.commodity != k) continue;
      for (std::size_t row = 0; row < option.cost.size(); ++row) {
        built_.push_back({s, &option, row});
        extend(place + 1);
        built_.pop_back();
      }
    }
  }

  std::int64_t building_cost() const {
    std::int64_t cost = in_.constant;
    std::vector<bool> open(in_.sites.size());
    std::vector<bool> used(at(in_.groups));
    for (const Built& b : built_) {
      cost += b.option->cost[b.row];
      const Site& site = in_.sites[at(b.site)];
      if (!open[at(b.site)]) cost += site.fixed_cost;
      if (!used[at(site.group)]) cost += in_.group_premium[at(site.group)];
      open[at(b.site)] = used[at(site.group)] = true;
    }
    for (std::size_t d = 0; d < served_.size(); ++d) {
      cost += static_cast<std::int64_t>(std::ceil(
          (1 - served_[d]) * static_cast<double>(in_.demands[d].unserved_cost)));
    }
    return cost;
  }

  bool within_limits() const {
    std::vector<bool> open(in_.sites.size());
    for (const Built& b : built_) open[at(b.site)] = true;
    if (in_.max_sites && std::ranges::count(open, true) > *in_.max_sites) return false;
    for (std::size_t s = 0; s < in_.sites.size(); ++s) {
      if (in_.sites[s].pinned && !open[s]) return false;
      for (std::size_t r = 0; r < in_.sites[s].stock.size(); ++r) {
        std::int64_t used = 0;
        for (const Built& b : built_) {
          if (at(b.site) == s && at(b.option->stock_row) == r)
            used += b.option->gpus[b.row];
        }
        if (used > in_.sites[s].stock[r]) return false;
      }
    }
    return within_group_share();
  }

  bool within_group_share() const {
    using Of = Instance::GroupShare::Of;
    if (!in_.group_share || in_.group_share->of == Of::kTraffic) return true;
    std::vector<double> part(at(in_.groups), 0);
    std::vector<bool> open(in_.sites.size());
    for (const Built& b : built_) {
      const Site& site = in_.sites[at(b.site)];
      double amount = static_cast<double>(b.option->gpus[b.row]);
      if (in_.group_share->of == Of::kCost) {
        amount = static_cast<double>(b.option->bill[b.row]);
        if (!open[at(b.site)]) amount += static_cast<double>(site.fixed_bill);
        open[at(b.site)] = true;
      }
      part[at(site.group)] += amount;
    }
    return std::ranges::all_of(part, [&](double amount) {
      return amount <= in_.group_share->share * (part[0] + part[1]) + 1e-6;
    });
  }

  std::int64_t group_limit(int commodity, int b) const {
    using Of = Instance::GroupShare::Of;
    if (!in_.group_share || in_.group_share->of != Of::kTraffic) {
      return std::numeric_limits<std::int64_t>::max() / 4;
    }
    double total = 0;
    for (std::size_t d = 0; d < served_.size(); ++d) {
      if (in_.demands[d].commodity == commodity)
        total += static_cast<double>(load(d, b));
    }
    return static_cast<std::int64_t>(in_.group_share->share * total);
  }

  bool reaches(const Built& built, std::size_t d, bool degraded) const {
    const int c = degraded ? built.option->degraded_class : built.option->reach_class;
    return built.option->commodity == in_.demands[d].commodity &&
           has_bit(in_.sites[at(built.site)].reach[at(c)], static_cast<int>(d));
  }

  /// Hall: no set of demands asks for more than the pools that reach one of them carry.
  bool carries(int b, int lost) const {
    const bool degraded = lost >= 0;
    for (std::uint32_t set = 1; set < (1U << served_.size()); ++set) {
      for (int k = 0; k < in_.commodities; ++k) {
        std::int64_t asked = 0;
        bool any = false;
        for (std::size_t d = 0; d < served_.size(); ++d) {
          if ((set >> d & 1U) == 0 || in_.demands[d].commodity != k) continue;
          if (served_[d] <= 0) continue;
          asked += load(d, b);
          any = true;
        }
        if (!any || (degraded && asked == 0)) continue;
        std::vector<std::int64_t> supply(at(in_.groups), 0);
        bool reached = false;
        for (const Built& built : built_) {
          const Site& site = in_.sites[at(built.site)];
          if (degraded && std::ranges::count(site.elements, lost) > 0) continue;
          bool joins = false;
          for (std::size_t d = 0; d < served_.size(); ++d) {
            joins =
                joins || ((set >> d & 1U) != 0 && served_[d] > 0 &&
                          in_.demands[d].commodity == k && reaches(built, d, degraded));
          }
          if (!joins) continue;
          reached = true;
          supply[at(site.group)] += degraded
                                        ? built.option->degraded_capacity[built.row]
                                        : built.option->capacity[built.row];
        }
        if (!reached) return false;
        std::int64_t total = 0;
        for (const std::int64_t amount : supply) {
          total += degraded ? amount : std::min(amount, group_limit(k, b));
        }
        if (total < asked) return false;
      }
    }
    return true;
  }

  /// Least cost of traffic in a block; the routes exist. Whole jobs go to the cheapest.
  std::int64_t traffic(int k, int b) const {
    lemon::SmartDigraph graph;
    lemon::SmartDigraph::ArcMap<std::int64_t> upper(graph);
    lemon::SmartDigraph::ArcMap<std::int64_t> price(graph);
    lemon::SmartDigraph::NodeMap<std::int64_t> supply(graph, 0);
    const auto sink = graph.addNode();
    std::vector<lemon::SmartDigraph::Node> groups;
    for (int g = 0; g < in_.groups; ++g) {
      groups.push_back(graph.addNode());
      const auto arc = graph.addArc(groups.back(), sink);
      upper[arc] = group_limit(k, b);
    }
    std::vector<lemon::SmartDigraph::Node> pools;
    for (const Built& built : built_) {
      pools.push_back(graph.addNode());
      const auto arc =
          graph.addArc(pools.back(), groups[at(in_.sites[at(built.site)].group)]);
      upper[arc] = built.option->capacity[built.row];
    }
    for (std::size_t d = 0; d < served_.size(); ++d) {
      if (in_.demands[d].commodity != k || load(d, b) == 0) continue;
      const auto node = graph.addNode();
      supply[node] = load(d, b);
      supply[sink] -= load(d, b);
      for (std::size_t i = 0; i < built_.size(); ++i) {
        if (!reaches(built_[i], d, false)) continue;
        const auto arc = graph.addArc(node, pools[i]);
        upper[arc] = load(d, b);
        const auto& cost = in_.sites[at(built_[i].site)].traffic_cost;
        price[arc] = cost.empty() ? 0 : cost[at(b)][d] / in_.demands[d].load[at(b)];
      }
    }
    lemon::NetworkSimplex<lemon::SmartDigraph, std::int64_t> simplex(graph);
    simplex.upperMap(upper).costMap(price).supplyMap(supply);
    if (simplex.run() != simplex.OPTIMAL)
      return std::numeric_limits<std::int64_t>::max();
    return simplex.totalCost<std::int64_t>();
  }

  void consider() {
    std::int64_t cost = building_cost();
    if (best_ && cost >= *best_) return;
    if (!within_limits()) return;
    for (int b = 0; b < in_.blocks; ++b) {
      if (!carries(b, -1)) return;
      for (int e = 0; e < in_.elements; ++e) {
        if (!carries(b, e)) return;
      }
    }
    const bool priced = std::ranges::any_of(
        in_.sites, [](const Site& site) { return !site.traffic_cost.empty(); });
    for (int k = 0; priced && k < in_.commodities; ++k) {
      for (int b = 0; b < in_.blocks; ++b) cost += traffic(k, b);
    }
    if (!best_ || cost < *best_) best_ = cost;
  }

  const Instance& in_;
  std::vector<std::pair<int, int>> places_;
  std::vector<Built> built_;
  std::vector<double> served_;
  std::optional<std::int64_t> best_;
};

}  // namespace

std::optional<std::int64_t> cheapest_deployment(const Instance& instance) {
  return BruteForce(instance).least();
}

}  // namespace isochrone::place
