#include "place/core/counting.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "place/core/wide.h"

namespace isochrone::place {
namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

/// What must be carried of a commodity in its largest block.
std::int64_t largest_load(const Model& model, int commodity) {
  std::int64_t largest = 0;
  for (int b = 0; b < model.blocks(); ++b) {
    std::int64_t sum = 0;
    for (const int d : model.demands_of(commodity)) {
      if (must_be_served(model, d)) sum += model.load(b, d);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

bool anything_to_carry(const Model& model, int demand) {
  for (int b = 0; b < model.blocks(); ++b) {
    if (model.load(b, demand) > 0) return true;
  }
  return false;
}

/// Sites that could ever serve each demand, in the day or after a loss.
std::vector<Bits> servers_of(const Model& model) {
  std::vector<Bits> servers(at(model.demands()), Bits(at(model.sites()) / 64 + 1, 0));
  for (int k = 0; k < model.commodities(); ++k) {
    for (int s = 0; s < model.sites(); ++s) {
      for (const bool degraded : {false, true}) {
        if (degraded && model.instance().elements == 0) continue;
        const Reserve reserve = reserve_of(model, s, k, degraded);
        for (const int d : model.demands_of(k)) {
          if (has_bit(reserve.reached, d)) set_bit(servers[at(d)], s);
        }
      }
    }
  }
  return servers;
}

/// Sites that a demand needs, each of them one that could serve it: two where whichever
/// serves it may be lost.
int sites_needed(const Model& model, int demand, const Bits& servers) {
  if (!must_be_served(model, demand)) return 0;
  const Instance& in = model.instance();
  const bool lost_with_its_site = in.elements > 0 &&
                                  !model.whole(in.demands[at(demand)].commodity) &&
                                  anything_to_carry(model, demand);
  if (!lost_with_its_site) return 1;
  for (int s = 0; s < model.sites(); ++s) {
    if (has_bit(servers, s) && in.sites[at(s)].elements.empty()) return 1;
  }
  return 2;
}

/// Demands no two of which a single site can serve: each needs sites of its own.
void find_too_few_sites(const Model& model, std::vector<Conflict>& found) {
  const auto& most = model.instance().max_sites;
  if (!most) return;
  const std::vector<Bits> servers = servers_of(model);
  std::vector<std::pair<int, int>> order;
  for (int d = 0; d < model.demands(); ++d) {
    int count = 0;
    for (int s = 0; s < model.sites(); ++s) count += has_bit(servers[at(d)], s) ? 1 : 0;
    if (must_be_served(model, d)) order.emplace_back(count, d);
  }
  std::ranges::sort(order);
  std::vector<int> apart;
  std::int64_t needed = 0;
  for (const auto& [count, d] : order) {
    const bool disjoint = std::ranges::none_of(apart, [&](int other) {
      return intersects(servers[at(d)], servers[at(other)]);
    });
    if (!disjoint) continue;
    apart.push_back(d);
    needed += sites_needed(model, d, servers[at(d)]);
  }
  if (needed <= *most) return;
  const bool by_losses = static_cast<std::int64_t>(apart.size()) <= *most;
  const std::string allowed = std::to_string(*most) + " allowed";
  found.push_back({by_losses ? "sites_to_survive" : "max_sites", apart, -1, -1,
                   by_losses
                       ? "a second site must be left when one is lost: " +
                             std::to_string(needed) + " sites are needed, " + allowed
                       : "no two of these demands share a site, and only " +
                             std::to_string(*most) + " sites are allowed"});
}

/// As many sites as are allowed, the largest, carry less than must be carried. After a
/// loss the largest of them is gone, whichever they are.
void find_too_small_sites(const Model& model, std::vector<Conflict>& found) {
  const Instance& in = model.instance();
  if (!in.max_sites) return;
  const bool any_may_be_lost =
      in.elements > 0 && std::ranges::none_of(in.sites, [](const Site& site) {
        return site.elements.empty();
      });
  for (int k = 0; k < model.commodities() && found.empty(); ++k) {
    if (model.whole(k)) continue;
    std::vector<int> demands;
    for (const int d : model.demands_of(k)) {
      if (must_be_served(model, d)) demands.push_back(d);
    }
    const std::int64_t load = largest_load(model, k);
    for (const bool degraded : {false, true}) {
      if (degraded && !any_may_be_lost) continue;
      std::vector<std::int64_t> capacity;
      for (int s = 0; s < model.sites(); ++s) {
        capacity.push_back(reserve_of(model, s, k, degraded).capacity);
      }
      std::ranges::sort(capacity, std::ranges::greater{});
      Wide carried = 0;
      for (std::size_t i = degraded ? 1 : 0;
           i < std::min(capacity.size(), at(*in.max_sites)); ++i) {
        carried += capacity[i];
      }
      if (carried >= load) continue;
      found.push_back({degraded ? "sites_to_survive" : "max_sites", demands, -1, -1,
                       "the " + std::to_string(*in.max_sites) +
                           " largest sites carry too little" +
                           (degraded ? " when one of them is lost" : "")});
      break;
    }
  }
}

/// Whether every plan has something that the shares are of.
bool something_to_share(const Model& model) {
  const Instance& in = model.instance();
  using Of = Instance::GroupShare::Of;
  bool served = false;
  bool carried = false;
  for (int d = 0; d < model.demands(); ++d) {
    if (!must_be_served(model, d)) continue;
    served = true;
    for (int b = 0; b < model.blocks(); ++b) carried = carried || model.load(b, d) > 0;
  }
  if (in.group_share->of == Of::kTraffic) return carried;
  if (!served) return false;
  for (int s = 0; s < model.sites(); ++s) {
    for (int k = 0; k < model.commodities(); ++k) {
      for (const Point& point : model.points(s, k)) {
        if ((in.group_share->of == Of::kGpus ? point.gpus : point.bill) <= 0)
          return false;
      }
    }
  }
  return true;
}

std::string percent(double share) {
  std::string text = std::to_string(share * 100);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void find_too_few_groups(const Model& model, std::vector<Conflict>& found) {
  const Instance& in = model.instance();
  if (!in.group_share || !something_to_share(model)) return;
  std::vector<std::uint8_t> able(at(in.groups), 0);
  for (int s = 0; s < model.sites(); ++s) {
    for (int k = 0; k < model.commodities(); ++k) {
      if (!model.points(s, k).empty()) able[at(in.sites[at(s)].group)] = 1;
    }
  }
  const auto groups = std::ranges::count(able, 1);
  const double share = in.group_share->share;
  const std::string each = "at most " + percent(share) + " % each";
  if (static_cast<double>(groups) * share < 1 - 1e-9) {
    found.push_back({"group_share",
                     {},
                     -1,
                     -1,
                     std::to_string(groups) + " can serve, and " + each +
                         " they do not make up the whole"});
    return;
  }
  // Each of them has a site of its own.
  const auto least = static_cast<std::int64_t>(std::ceil(1 / share - 1e-9));
  if (in.max_sites && least > *in.max_sites) {
    found.push_back({"sites_to_share",
                     {},
                     -1,
                     -1,
                     each + ", so at least " + std::to_string(least) +
                         " of them, and as many sites, are needed; " +
                         std::to_string(*in.max_sites) + " allowed"});
  }
}

/// Parts of a whole that groups may have, and that their sites can have at most.
struct Parts {
  std::vector<std::int64_t> most;  ///< by group
  std::int64_t whole = 0;          ///< at least
};

/// GPUs: the stock of each group, and what the load needs at the best load per GPU.
Parts gpu_parts(const Model& model) {
  const Instance& in = model.instance();
  Parts parts{std::vector<std::int64_t>(at(in.groups), 0), 0};
  std::vector<double> best(at(model.commodities()), 0);  // load per GPU
  for (const Site& site : in.sites) {
    std::int64_t& most = parts.most[at(site.group)];
    for (const std::int64_t stock : site.stock) {
      most = std::min(kUnlimited, most + std::min(stock, kUnlimited));
    }
    for (const Option& option : site.options) {
      for (std::size_t i = 0; i < option.gpus.size(); ++i) {
        double& ratio = best[at(option.commodity)];
        if (option.gpus[i] <= 0) continue;
        ratio = std::max(ratio, static_cast<double>(option.capacity[i]) /
                                    static_cast<double>(option.gpus[i]));
      }
    }
  }
  for (int k = 0; k < model.commodities(); ++k) {
    if (model.whole(k) || best[at(k)] <= 0) continue;
    parts.whole += static_cast<std::int64_t>(
        std::ceil(static_cast<double>(largest_load(model, k)) / best[at(k)] - 1e-6));
  }
  return parts;
}

/// Groups that are small cannot take their share of what must be built, so the others
/// would have to take more than theirs. What all may have less the whole is concave in
/// the whole and 0 at 0: short at the least that is needed, short for good.
void find_too_small_groups(const Model& model, std::vector<Conflict>& found) {
  const Instance& in = model.instance();
  if (!in.group_share || in.group_share->of != Instance::GroupShare::Of::kGpus) return;
  const Parts parts = gpu_parts(model);
  const double share = in.group_share->share * static_cast<double>(parts.whole);
  double had = 0;
  for (const std::int64_t most : parts.most) {
    had += std::min(share, static_cast<double>(most));
  }
  if (parts.whole == 0 || had >= static_cast<double>(parts.whole) * (1 - 1e-9)) return;
  found.push_back({"group_share",
                   {},
                   -1,
                   -1,
                   "at least " + std::to_string(parts.whole) +
                       " GPUs are needed, at most " + percent(in.group_share->share) +
                       " % of one provider; with their stock they come to " +
                       std::to_string(static_cast<std::int64_t>(had)) + " at most"});
}

}  // namespace

bool must_be_served(const Model& model, int demand) {
  const DemandRow& row = model.instance().demands[at(demand)];
  if (row.coverage_group < 0) return true;
  const std::int64_t slack = model.instance().coverage[at(row.coverage_group)].slack;
  return slack <= 0 && row.coverage_weight > 0;
}

Reserve reserve_of(const Model& model, int site, int commodity, bool degraded) {
  Reserve reserve{Bits(model.mask_of(commodity).size(), 0), 0};
  for (const Point& point : model.points(site, commodity)) {
    const Bits& reach =
        model.reach(site, degraded ? point.degraded_reach : point.reach);
    for (std::size_t w = 0; w < reach.size(); ++w) reserve.reached[w] |= reach[w];
    reserve.capacity =
        std::max(reserve.capacity, degraded ? point.degraded : point.capacity);
  }
  return reserve;
}

void find_by_counting(const Model& model, std::vector<Conflict>& found) {
  find_too_few_sites(model, found);
  if (found.empty()) find_too_small_sites(model, found);
  find_too_few_groups(model, found);
  if (found.empty()) find_too_small_groups(model, found);
}

}  // namespace isochrone::place
