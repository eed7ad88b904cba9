#include "place/core/money.h"

#include <set>

#include "place/core/model.h"
#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr Wide kWhole = 1'000'000'000;

/// In MicroUsd times 10^9.
Wide traffic(const Instance& instance, const Solution& solution) {
  Wide total = 0;
  for (const Flow& flow : solution.flows) {
    const int s = solution.choices[at(flow.choice)].site;
    const auto& cost = instance.sites[at(s)].traffic_cost;
    for (std::size_t b = 0; b < cost.size(); ++b) {
      total += static_cast<Wide>(cost[b][at(flow.demand)]) * flow.ppb[b];
    }
  }
  return total;
}

Wide penalties(const Instance& instance, const Solution& solution) {
  Wide total = 0;
  for (std::size_t d = 0; d < solution.unserved_ppb.size(); ++d) {
    total +=
        static_cast<Wide>(instance.demands[d].unserved_cost) * solution.unserved_ppb[d];
  }
  return total;
}

}  // namespace

std::int64_t objective_of(const Instance& instance, const Solution& solution) {
  Wide total = instance.constant;
  std::set<int> open;
  std::set<int> groups;
  for (const Choice& choice : solution.choices) {
    const Site& site = instance.sites[at(choice.site)];
    total += site.options[at(choice.option)]
                 .cost[static_cast<std::size_t>(choice.replicas - 1)];
    if (!open.insert(choice.site).second) continue;
    total += site.fixed_cost;
    if (instance.groups > 0 && groups.insert(site.group).second) {
      total += instance.group_premium[at(site.group)];
    }
  }
  return saturate(
      total +
      ceil_div(traffic(instance, solution) + penalties(instance, solution), kWhole));
}

std::int64_t bill_of(const Instance& instance, const Solution& solution) {
  Wide total = instance.constant;
  std::set<int> open;
  for (const Choice& choice : solution.choices) {
    const Site& site = instance.sites[at(choice.site)];
    total += site.options[at(choice.option)]
                 .bill[static_cast<std::size_t>(choice.replicas - 1)];
    if (open.insert(choice.site).second) total += site.fixed_bill;
  }
  return saturate(total + ceil_div(traffic(instance, solution), kWhole));
}

}  // namespace isochrone::place
