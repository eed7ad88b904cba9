// Checks a solution from the instance alone, the slow way: every demand for itself,
// every block, every element. Shares the bound and the maximum flow with the search and
// nothing else.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "place/core/bound.h"
#include "place/core/max_flow.h"
#include "place/core/model.h"
#include "place/core/solve.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kPpb = 1'000'000'000;

class Auditor {
 public:
  Auditor(const Instance& instance, const Solution& solution)
      : in_(instance), plan_(solution) {}

  std::vector<std::string> faults() {
    if (!check_references()) return faults_;
    check_sites();
    check_group_share();
    check_shares();
    check_coverage();
    check_loads();
    for (int e = 0; e < in_.elements; ++e) {
      for (int b = 0; b < in_.blocks; ++b) check_loss(e, b);
    }
    check_money();
    return faults_;
  }

 private:
  void fault(std::string text) { faults_.push_back(std::move(text)); }
  void expect(bool condition, const std::string& text) {
    if (!condition) fault(text);
  }

  const Site& site_of(const Choice& choice) const { return in_.sites[at(choice.site)]; }
  const Option& option_of(const Choice& choice) const {
    return site_of(choice).options[at(choice.option)];
  }
  static std::size_t row_of(const Choice& choice) {
    return static_cast<std::size_t>(choice.replicas - 1);
  }

  bool check_references() {
    std::set<std::pair<int, int>> built;
    for (const Choice& c : plan_.choices) {
      const bool known =
          c.site >= 0 && at(c.site) < in_.sites.size() && c.option >= 0 &&
          at(c.option) < site_of(c).options.size() && c.replicas >= 1 &&
          static_cast<std::size_t>(c.replicas) <= option_of(c).cost.size();
      if (!known) {
        fault("a choice names an unknown site, option or count");
        return false;
      }
      expect(built.emplace(c.site, option_of(c).commodity).second,
             "two options for one commodity at site " + std::to_string(c.site));
    }
    expect(plan_.unserved_ppb.size() == in_.demands.size(), "one unserved share each");
    for (const Flow& flow : plan_.flows) {
      const bool known = flow.demand >= 0 && at(flow.demand) < in_.demands.size() &&
                         flow.choice >= 0 && at(flow.choice) < plan_.choices.size() &&
                         flow.ppb.size() == at(in_.blocks);
      if (!known) fault("a flow names an unknown demand, choice or block");
    }
    return faults_.empty();
  }

  void check_sites() {
    std::set<int> open;
    std::map<std::pair<int, int>, std::int64_t> used;
    for (const Choice& c : plan_.choices) {
      open.insert(c.site);
      used[{c.site, option_of(c).stock_row}] += option_of(c).gpus[row_of(c)];
    }
    for (const auto& [key, gpus] : used) {
      expect(gpus <= in_.sites[at(key.first)].stock[at(key.second)],
             "site " + std::to_string(key.first) + " exceeds its stock");
    }
    expect(!in_.max_sites || static_cast<int>(open.size()) <= *in_.max_sites,
           "more sites than allowed");
    for (std::size_t s = 0; s < in_.sites.size(); ++s) {
      expect(!in_.sites[s].pinned || open.contains(static_cast<int>(s)),
             "pinned site " + std::to_string(s) + " is closed");
    }
  }

  void check_group_share() {
    if (!in_.group_share) return;
    using Of = Instance::GroupShare::Of;
    std::vector<double> part(at(in_.groups), 0);
    std::set<int> counted;
    for (std::size_t i = 0; i < plan_.choices.size(); ++i) {
      const Choice& c = plan_.choices[i];
      double amount = static_cast<double>(option_of(c).gpus[row_of(c)]);
      if (in_.group_share->of == Of::kCost) {
        amount = static_cast<double>(option_of(c).bill[row_of(c)]);
        if (counted.insert(c.site).second) {
          amount += static_cast<double>(site_of(c).fixed_bill);
        }
      }
      if (in_.group_share->of == Of::kTraffic) {
        amount = 0;
        for (const Flow& flow : plan_.flows) {
          if (at(flow.choice) != i) continue;
          for (int b = 0; b < in_.blocks; ++b) {
            amount += static_cast<double>(in_.demands[at(flow.demand)].load[at(b)]) *
                      flow.ppb[at(b)];
          }
        }
      }
      part[at(site_of(c).group)] += amount;
    }
    double total = 0;
    for (const double amount : part) total += amount;
    for (std::size_t g = 0; g < part.size(); ++g) {
      expect(part[g] <= in_.group_share->share * total * (1 + 1e-12) + 1e-6,
             "group " + std::to_string(g) + " exceeds its share");
    }
  }

  void check_shares() {
    std::vector<std::vector<std::int64_t>> sum(
        in_.demands.size(), std::vector<std::int64_t>(at(in_.blocks), 0));
    for (const Flow& flow : plan_.flows) {
      const Choice& c = plan_.choices[at(flow.choice)];
      const std::string arc = "demand " + std::to_string(flow.demand) + " at site " +
                              std::to_string(c.site);
      expect(option_of(c).commodity == in_.demands[at(flow.demand)].commodity,
             arc + ": another commodity");
      expect(has_bit(site_of(c).reach[at(option_of(c).reach_class)], flow.demand),
             arc + ": out of reach");
      for (int b = 0; b < in_.blocks; ++b) {
        expect(flow.ppb[at(b)] >= 0, arc + ": negative share");
        sum[at(flow.demand)][at(b)] += flow.ppb[at(b)];
        if (option_of(c).whole) {
          expect(flow.ppb[at(b)] == kPpb, arc + ": a whole job is split");
        }
      }
    }
    for (std::size_t d = 0; d < sum.size(); ++d) {
      const std::int64_t unserved = plan_.unserved_ppb[d];
      expect(unserved >= 0 && unserved <= kPpb, "unserved share out of range");
      for (const std::int64_t served : sum[d]) {
        expect(served + unserved == kPpb,
               "shares of demand " + std::to_string(d) + " do not add up");
      }
    }
  }

  void check_coverage() {
    std::vector<Wide> left(in_.coverage.size(), 0);
    for (std::size_t d = 0; d < in_.demands.size(); ++d) {
      const DemandRow& row = in_.demands[d];
      if (row.coverage_group < 0) {
        expect(plan_.unserved_ppb[d] == 0,
               "demand " + std::to_string(d) + " must be served whole");
      } else {
        left[at(row.coverage_group)] +=
            static_cast<Wide>(row.coverage_weight) * plan_.unserved_ppb[d];
      }
    }
    for (std::size_t g = 0; g < left.size(); ++g) {
      expect(left[g] <= static_cast<Wide>(in_.coverage[g].slack) * kPpb,
             "coverage group " + std::to_string(g) + " leaves too many unserved");
    }
  }

  void check_loads() {
    std::vector<std::vector<Wide>> load(plan_.choices.size(),
                                        std::vector<Wide>(at(in_.blocks), 0));
    for (const Flow& flow : plan_.flows) {
      for (int b = 0; b < in_.blocks; ++b) {
        load[at(flow.choice)][at(b)] +=
            static_cast<Wide>(in_.demands[at(flow.demand)].load[at(b)]) *
            flow.ppb[at(b)];
      }
    }
    for (std::size_t i = 0; i < load.size(); ++i) {
      const Choice& c = plan_.choices[i];
      if (option_of(c).whole) continue;
      for (const Wide amount : load[i]) {
        expect(amount <= static_cast<Wide>(option_of(c).capacity[row_of(c)]) * kPpb,
               "site " + std::to_string(c.site) + " is overloaded");
      }
    }
  }

  void check_loss(int element, int block) {
    MaxFlow network;
    const std::size_t demands = in_.demands.size();
    const std::size_t sink = 1 + demands + plan_.choices.size();
    network.reset(sink + 1);
    Wide asked = 0;
    for (std::size_t d = 0; d < demands; ++d) {
      const Wide part = static_cast<Wide>(in_.demands[d].load[at(block)]) *
                        (kPpb - plan_.unserved_ppb[d]);
      const auto load = static_cast<std::int64_t>(ceil_div(part, kPpb));
      network.add_edge(0, 1 + d, load);
      asked += load;
    }
    for (std::size_t i = 0; i < plan_.choices.size(); ++i) {
      const Choice& c = plan_.choices[i];
      if (std::ranges::count(site_of(c).elements, element) > 0) continue;
      if (option_of(c).whole) continue;
      network.add_edge(1 + demands + i, sink,
                       option_of(c).degraded_capacity[row_of(c)]);
      for (std::size_t d = 0; d < demands; ++d) {
        if (in_.demands[d].commodity != option_of(c).commodity) continue;
        if (!has_bit(site_of(c).reach[at(option_of(c).degraded_class)],
                     static_cast<int>(d))) {
          continue;
        }
        network.add_edge(1 + d, 1 + demands + i, std::int64_t{1} << 60);
      }
    }
    expect(network.run(0, sink) == asked,
           "the loss of element " + std::to_string(element) +
               " is not survived in block " + std::to_string(block));
  }

  void check_money() {
    Wide objective = in_.constant;
    Wide bill = in_.constant;
    std::set<int> open;
    std::set<int> groups;
    for (const Choice& c : plan_.choices) {
      objective += option_of(c).cost[row_of(c)];
      bill += option_of(c).bill[row_of(c)];
      if (!open.insert(c.site).second) continue;
      objective += site_of(c).fixed_cost;
      bill += site_of(c).fixed_bill;
      if (in_.groups > 0 && groups.insert(site_of(c).group).second) {
        objective += in_.group_premium[at(site_of(c).group)];
      }
    }
    Wide traffic = 0;
    for (const Flow& flow : plan_.flows) {
      const auto& cost = site_of(plan_.choices[at(flow.choice)]).traffic_cost;
      for (int b = 0; b < in_.blocks && !cost.empty(); ++b) {
        traffic += static_cast<Wide>(cost[at(b)][at(flow.demand)]) * flow.ppb[at(b)];
      }
    }
    Wide unserved = 0;
    for (std::size_t d = 0; d < in_.demands.size(); ++d) {
      unserved +=
          static_cast<Wide>(in_.demands[d].unserved_cost) * plan_.unserved_ppb[d];
    }
    objective += ceil_div(traffic + unserved, kPpb);
    bill += ceil_div(traffic, kPpb);
    expect(objective == plan_.objective,
           "the objective is " + std::to_string(saturate(objective)) + ", not " +
               std::to_string(plan_.objective));
    expect(!in_.budget || bill <= *in_.budget, "the bill exceeds the budget");
    expect(plan_.bound <= plan_.objective, "the bound exceeds the objective");
    const Model model(in_);
    const std::int64_t proven = plan_.parts.empty()
                                    ? evaluate_bound(model, plan_.certificate)
                                    : evaluate_bound(model, plan_.parts);
    expect(proven >= plan_.bound, "the certificate does not prove the bound");
  }

  const Instance& in_;
  const Solution& plan_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> audit(const Instance& instance, const Solution& solution) {
  return Auditor(instance, solution).faults();
}

}  // namespace isochrone::place
