#include "place/core/plan_state.h"

#include <algorithm>
#include <cmath>

#include "place/core/wide.h"

namespace isochrone::place {

Service::Service(const Model& model, std::vector<std::int32_t> unserved_ppb)
    : unserved_(std::move(unserved_ppb)) {
  load_.resize(at(model.blocks()) * unserved_.size());
  for (int b = 0; b < model.blocks(); ++b) {
    for (std::size_t d = 0; d < unserved_.size(); ++d) {
      const Wide part = kWholeShare - unserved_[d];
      load_[at(b) * unserved_.size() + d] = static_cast<std::int64_t>(
          ceil_div(model.load(b, static_cast<int>(d)) * part, kWholeShare));
    }
  }
}

int PlanState::chosen(int site, int commodity) const {
  const auto found = std::ranges::lower_bound(picks_, Pick{site, commodity, -1});
  if (found == picks_.end() || found->site != site || found->commodity != commodity) {
    return -1;
  }
  return found->point;
}

bool PlanState::open(int site) const {
  const auto found = std::ranges::lower_bound(picks_, Pick{site, 0, -1});
  return found != picks_.end() && found->site == site;
}

int PlanState::open_sites() const {
  int count = 0;
  for (std::size_t i = 0; i < picks_.size(); ++i) {
    if (i == 0 || picks_[i].site != picks_[i - 1].site) ++count;
  }
  return count;
}

void PlanState::choose(int site, int commodity, int point) {
  const auto found = std::ranges::lower_bound(picks_, Pick{site, commodity, -1});
  const bool present =
      found != picks_.end() && found->site == site && found->commodity == commodity;
  if (point < 0) {
    if (present) picks_.erase(found);
  } else if (present) {
    found->point = point;
  } else {
    picks_.insert(found, Pick{site, commodity, point});
  }
}

std::int64_t PlanState::building_cost() const {
  const Instance& in = model_->instance();
  std::int64_t cost = in.constant;
  std::vector<std::uint8_t> used(at(in.groups), 0);
  for (std::size_t i = 0; i < picks_.size(); ++i) {
    cost += point(picks_[i]).cost;
    if (i > 0 && picks_[i].site == picks_[i - 1].site) continue;
    const Site& site = in.sites[at(picks_[i].site)];
    cost += site.fixed_cost;
    if (in.groups > 0) used[at(site.group)] = 1;
  }
  for (std::size_t g = 0; g < used.size(); ++g) {
    if (used[g] != 0) cost += in.group_premium[g];
  }
  return cost;
}

bool PlanState::within_limits() const {
  const Instance& in = model_->instance();
  if (in.max_sites && open_sites() > *in.max_sites) return false;
  for (int s = 0; s < model_->sites(); ++s) {
    if (in.sites[at(s)].pinned && !open(s)) return false;
  }
  return fits_stock() && largest_excess() <= 0;
}

bool PlanState::fits_stock() const {
  if (model_->commodities() == 1) return true;  // every point fits on its own
  return std::ranges::all_of(picks_, [&](const Pick& pick) {
    const int row = point(pick).stock_row;
    std::int64_t used = 0;
    for (const Pick& other : picks_) {
      if (other.site == pick.site && point(other).stock_row == row) {
        used += point(other).gpus;
      }
    }
    return used <= model_->instance().sites[at(pick.site)].stock[at(row)];
  });
}

double PlanState::largest_excess() const {
  const Instance& in = model_->instance();
  using Of = Instance::GroupShare::Of;
  if (!in.group_share || in.group_share->of == Of::kTraffic) return 0;
  std::vector<std::int64_t> part(at(in.groups), 0);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < picks_.size(); ++i) {
    const Site& site = in.sites[at(picks_[i].site)];
    std::int64_t amount = point(picks_[i]).gpus;
    if (in.group_share->of == Of::kCost) {
      amount = point(picks_[i]).bill;
      if (i == 0 || picks_[i].site != picks_[i - 1].site) amount += site.fixed_bill;
    }
    part[at(site.group)] += amount;
    total += amount;
  }
  if (total <= 0) return 0;
  const double largest = static_cast<double>(*std::ranges::max_element(part));
  return largest / static_cast<double>(total) - in.group_share->share - 1e-12;
}

CutMeter::CutMeter(const Model& model)
    : model_(model),
      sums_(at(std::max(model.instance().elements, model.instance().groups)), 0) {}

std::int64_t CutMeter::deficit(const Cut& cut, const PlanState& state) {
  return cut.loss ? cut.need - least_surviving(cut, state)
                  : cut.need - usable(cut, state);
}

std::int64_t CutMeter::usable(const Cut& cut, const PlanState& state) {
  const bool shared = cut.group_limit < std::numeric_limits<std::int64_t>::max();
  std::int64_t total = 0;
  for (const Pick& pick : state.picks()) {
    if (pick.commodity != cut.commodity) continue;
    const Point& point = state.point(pick);
    if (cut.reaches[model_.class_index(pick.site, point.reach)] == 0) continue;
    std::int64_t amount = model_.usable(point);
    if (shared) {
      std::int64_t& sum = sums_[at(model_.instance().sites[at(pick.site)].group)];
      amount = std::min(amount, cut.group_limit - sum);
      sum += amount;
    }
    total += amount;
  }
  if (shared) std::ranges::fill(sums_, 0);
  return total;
}

std::int64_t CutMeter::least_surviving(const Cut& cut, const PlanState& state) {
  std::int64_t total = 0;
  std::int64_t worst = 0;
  for (const Pick& pick : state.picks()) {
    if (pick.commodity != cut.commodity) continue;
    const Point& point = state.point(pick);
    if (cut.reaches[model_.class_index(pick.site, point.degraded_reach)] == 0) continue;
    total += point.degraded;
    for (const int e : model_.instance().sites[at(pick.site)].elements) {
      sums_[at(e)] += point.degraded;
      worst = std::max(worst, sums_[at(e)]);
    }
  }
  for (const Pick& pick : state.picks()) {
    for (const int e : model_.instance().sites[at(pick.site)].elements)
      sums_[at(e)] = 0;
  }
  return total - worst;
}

std::int64_t traffic_estimate(const Model& model, const PlanState& state,
                              const Service& service) {
  if (!model.has_traffic_cost()) return 0;
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> least(at(model.demands()), kNone);
  for (const Pick& pick : state.picks()) {
    const Bits& reach = model.reach(pick.site, state.point(pick).reach);
    for (const int d : model.demands_of(pick.commodity)) {
      if (!has_bit(reach, d)) continue;
      least[at(d)] = std::min(least[at(d)], model.month_traffic(pick.site, d));
    }
  }
  Wide total = 0;
  for (std::size_t d = 0; d < least.size(); ++d) {
    if (least[d] == kNone) continue;
    total += static_cast<Wide>(least[d]) * (kWholeShare - service.unserved()[d]);
  }
  return saturate(total / kWholeShare);
}

std::int64_t unserved_cost(const Model& model, const Service& service) {
  Wide cost = 0;
  for (std::size_t d = 0; d < service.unserved().size(); ++d) {
    cost += static_cast<Wide>(model.instance().demands[d].unserved_cost) *
            service.unserved()[d];
  }
  return saturate(cost / kWholeShare);
}

void refresh(Cut& cut, const Service& service, const Model& model) {
  cut.need = 0;
  for (const int d : model.demands_of(cut.commodity)) {
    if (!has_bit(cut.demands, d) || !service.served(d)) continue;
    const std::int64_t load = service.load(cut.block, d);
    cut.need += cut.loss ? load : std::max<std::int64_t>(1, load);
  }
  if (!cut.loss) {
    cut.group_limit = group_traffic_limit(model, service, cut.commodity, cut.block);
  }
}

std::int64_t group_traffic_limit(const Model& model, const Service& service,
                                 int commodity, int block) {
  const auto& share = model.instance().group_share;
  if (!share || share->of != Instance::GroupShare::Of::kTraffic) {
    return std::numeric_limits<std::int64_t>::max();
  }
  std::int64_t total = 0;
  for (const int d : model.demands_of(commodity)) total += service.load(block, d);
  const double limit = share->share * static_cast<double>(total);
  return std::max<std::int64_t>(
      0, static_cast<std::int64_t>(std::floor(limit)) - model.margin());
}

}  // namespace isochrone::place
