#include "place/core/routing.h"

#include <algorithm>
#include <limits>
#include <map>

namespace isochrone::place {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

/// Finds the pools of a commodity and groups its served demands by them.
void Router::gather(const PlanState& state, const Service& service, int commodity,
                    bool degraded) {
  commodity_ = commodity;
  pools_.clear();
  for (std::size_t i = 0; i < state.picks().size(); ++i) {
    if (state.picks()[i].commodity == commodity) pools_.push_back(static_cast<int>(i));
  }
  std::vector<const Bits*> reach;
  for (const int i : pools_) {
    const Pick& pick = state.picks()[at(i)];
    const Point& point = state.point(pick);
    reach.push_back(
        &model_.reach(pick.site, degraded ? point.degraded_reach : point.reach));
  }
  std::map<Bits, std::size_t> known;
  classes_.clear();
  Bits pools((pools_.size() + 63) / 64 + 1, 0);
  for (const int d : model_.demands_of(commodity)) {
    if (!service.served(d)) continue;
    std::ranges::fill(pools, 0U);
    for (std::size_t p = 0; p < reach.size(); ++p) {
      if (has_bit(*reach[p], d)) set_bit(pools, static_cast<int>(p));
    }
    const auto [found, fresh] = known.try_emplace(pools, classes_.size());
    if (fresh) classes_.push_back({{}, pools});
    classes_[found->second].demands.push_back(d);
  }
}

/// Nodes: source, classes, pools, groups (if traffic is shared), sink. Edges: source to
/// classes, pools onward, groups to sink, then classes to pools.
void Router::build_network(const PlanState& state, bool grouped) {
  groups_ = grouped ? at(model_.instance().groups) : 0;
  const std::size_t first_pool = 1 + classes_.size();
  const std::size_t first_group = first_pool + pools_.size();
  sink_ = first_group + groups_;
  network_.reset(sink_ + 1);
  for (std::size_t c = 0; c < classes_.size(); ++c) network_.add_edge(0, 1 + c, 0);
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    const int site = state.picks()[at(pools_[p])].site;
    const std::size_t group = at(model_.instance().sites[at(site)].group);
    network_.add_edge(first_pool + p, grouped ? first_group + group : sink_, 0);
  }
  for (std::size_t g = 0; g < groups_; ++g)
    network_.add_edge(first_group + g, sink_, 0);
  first_arc_ = classes_.size() + pools_.size() + groups_;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      if (!has_bit(classes_[c].pools, static_cast<int>(p))) continue;
      network_.add_edge(1 + c, first_pool + p, kUnlimited);
    }
  }
}

/// Routes one block over the gathered pools, less those lost (empty: none). Returns the
/// demands of a minimum cut if not all load gets through, those apart that share no
/// pool.
std::vector<Bits> Router::shortfall(const PlanState& state, const Service& service,
                                    int block, bool degraded,
                                    const std::vector<std::uint8_t>& lost) {
  std::int64_t asked = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    std::int64_t load = 0;
    for (const int d : classes_[c].demands) {
      load += degraded ? service.load(block, d)
                       : std::max<std::int64_t>(1, service.load(block, d));
    }
    network_.set_capacity(c, load);
    asked += load;
  }
  std::size_t edge = classes_.size();
  for (std::size_t p = 0; p < pools_.size(); ++p, ++edge) {
    const Point& point = state.point(state.picks()[at(pools_[p])]);
    std::int64_t capacity = degraded ? point.degraded : model_.usable(point);
    if (!lost.empty() && lost[p] != 0) capacity = 0;
    network_.set_capacity(edge, capacity);
  }
  for (std::size_t g = 0; g < groups_; ++g, ++edge) {
    network_.set_capacity(edge,
                          group_traffic_limit(model_, service, commodity_, block));
  }
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      if (!has_bit(classes_[c].pools, static_cast<int>(p))) continue;
      network_.set_capacity(edge++, kUnlimited);
    }
  }
  ++flows_solved_;
  if (network_.run(0, sink_) == asked) return {};
  return demands_apart();
}

/// Demands on the source side of the cut that was found, those apart that share no
/// pool (all together where groups bind pools).
std::vector<Bits> Router::demands_apart() const {
  struct Part {
    Bits pools;
    Bits demands;
  };
  const auto add = [](Bits& into, const Bits& more) {
    for (std::size_t w = 0; w < into.size(); ++w) into[w] |= more[w];
  };
  std::vector<Part> parts;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    if (!network_.on_source_side(1 + c)) continue;
    Part joined{classes_[c].pools, Bits(model_.mask_of(commodity_).size(), 0)};
    for (const int d : classes_[c].demands) set_bit(joined.demands, d);
    std::vector<Part> apart;
    for (Part& part : parts) {
      if (groups_ == 0 && !intersects(part.pools, classes_[c].pools)) {
        apart.push_back(std::move(part));
      } else {
        add(joined.pools, part.pools);
        add(joined.demands, part.demands);
      }
    }
    apart.push_back(std::move(joined));
    parts = std::move(apart);
  }
  std::vector<Bits> demands;
  for (Part& part : parts) demands.push_back(std::move(part.demands));
  return demands;
}

/// Adds the demands that no class reaches but those that reach the cut already: they
/// need more of the same supply. Then takes the block in which the need is largest, for
/// the supply is the same in all.
void Router::strengthen(Cut& cut, const Service& service) const {
  Bits reaching((model_.class_count() + 63) / 64, 0);
  for (std::size_t c = 0; c < cut.reaches.size(); ++c) {
    if (cut.reaches[c] != 0) set_bit(reaching, static_cast<int>(c));
  }
  for (const int d : model_.demands_of(cut.commodity)) {
    if (service.served(d) && contains(reaching, model_.classes_of(d, cut.loss))) {
      set_bit(cut.demands, d);
    }
  }
  const auto& share = model_.instance().group_share;
  if (share && share->of == Instance::GroupShare::Of::kTraffic) return;
  std::int64_t most = -1;
  int hardest = cut.block;
  for (const int b : model_.hard_blocks_of(cut.commodity)) {
    cut.block = b;
    refresh(cut, service, model_);
    if (cut.need <= most) continue;
    most = cut.need;
    hardest = b;
  }
  cut.block = hardest;
}

Violation Router::make_violation(Bits demands, int block, int element,
                                 const Service& service) const {
  Violation violation;
  violation.element = element;
  Cut& cut = violation.cut;
  cut.commodity = commodity_;
  cut.block = block;
  cut.loss = element >= 0;
  cut.reaches = model_.classes_that_reach(demands);
  cut.demands = std::move(demands);
  strengthen(cut, service);
  refresh(cut, service, model_);
  return violation;
}

/// Elements that take some of the gathered pools, each with what it takes; without
/// those that take nothing beyond what another takes.
std::vector<Router::Loss> Router::losses(const PlanState& state) const {
  std::map<int, Bits> taken;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    const int site = state.picks()[at(pools_[p])].site;
    for (const int e : model_.instance().sites[at(site)].elements) {
      auto& bits = taken.try_emplace(e, Bits(pools_.size() / 64 + 1, 0)).first->second;
      set_bit(bits, static_cast<int>(p));
    }
  }
  std::vector<Loss> losses;
  if (taken.empty()) losses.push_back({0, std::vector<std::uint8_t>(pools_.size(), 0)});
  for (const auto& [element, bits] : taken) {
    const bool within_other = std::ranges::any_of(taken, [&](const auto& other) {
      return other.first != element && contains(other.second, bits) &&
             (other.second != bits || other.first < element);
    });
    if (within_other) continue;
    Loss loss{element, std::vector<std::uint8_t>(pools_.size(), 0)};
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      loss.pools[p] = has_bit(bits, static_cast<int>(p)) ? 1 : 0;
    }
    losses.push_back(std::move(loss));
  }
  return losses;
}

std::vector<Violation> Router::violations(const PlanState& state,
                                          const Service& service) {
  std::vector<Violation> found;
  for (int k = 0; k < model_.commodities(); ++k) {
    gather(state, service, k, false);
    if (model_.whole(k)) {
      for (const DemandClass& group : classes_) {
        if (std::ranges::any_of(group.pools, [](auto word) { return word != 0; })) {
          continue;
        }
        found.push_back(make_violation(model_.mask_of(k), 0, -1, service));
      }
      continue;
    }
    const bool grouped = group_traffic_limit(model_, service, k, 0) < kUnlimited;
    build_network(state, grouped);
    // A limit in parts of the block's own traffic may bind in any block.
    for (const int b : grouped ? model_.all_blocks() : model_.hard_blocks_of(k)) {
      for (Bits& demands : shortfall(state, service, b, false, {})) {
        found.push_back(make_violation(std::move(demands), b, -1, service));
      }
    }
  }
  if (!found.empty() || model_.instance().elements == 0) return found;
  for (int k = 0; k < model_.commodities(); ++k) {
    if (model_.whole(k)) continue;
    gather(state, service, k, true);
    build_network(state, false);
    for (const Loss& loss : losses(state)) {
      for (const int b : model_.hard_blocks_of(k)) {
        for (Bits& demands : shortfall(state, service, b, true, loss.pools)) {
          found.push_back(make_violation(std::move(demands), b, loss.element, service));
        }
      }
      if (found.size() >= 8) return found;
    }
  }
  return found;
}

std::optional<std::vector<Carried>> Router::route(const PlanState& state,
                                                  const Service& service, int commodity,
                                                  int block) {
  gather(state, service, commodity, false);
  build_network(state, group_traffic_limit(model_, service, commodity, 0) < kUnlimited);
  if (!shortfall(state, service, block, false, {}).empty()) return std::nullopt;
  std::vector<Carried> carried;
  std::size_t edge = first_arc_;
  for (const DemandClass& group : classes_) {
    std::size_t next = 0;
    std::int64_t left = 0;
    if (!group.demands.empty()) {
      left = std::max<std::int64_t>(1, service.load(block, group.demands[0]));
    }
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      if (!has_bit(group.pools, static_cast<int>(p))) continue;
      std::int64_t flow = network_.flow(edge++);
      while (flow > 0) {
        const std::int64_t amount = std::min(flow, left);
        carried.push_back({group.demands[next], pools_[p], amount});
        flow -= amount;
        left -= amount;
        if (left == 0 && ++next < group.demands.size()) {
          left = std::max<std::int64_t>(1, service.load(block, group.demands[next]));
        }
      }
    }
  }
  return carried;
}

}  // namespace isochrone::place
