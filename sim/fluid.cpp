#include "sim/fluid.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <boost/math/special_functions/gamma.hpp>

namespace isochrone::sim {
namespace {

constexpr std::size_t kShares = 1024;
constexpr double kMaxSlotsPerEpoch = 2;

bool fluctuates(const StreamGroup& group) {
  return group.modulation.shape > 0 && group.modulation.correlation_s > 0;
}

double slot_length(const std::vector<StreamGroup>& groups, double wanted_s) {
  double shortest = 0;
  for (const StreamGroup& group : groups) {
    const double correlation = group.modulation.correlation_s;
    if (!fluctuates(group)) continue;
    shortest = shortest == 0 ? correlation : std::min(shortest, correlation);
  }
  if (shortest == 0) return wanted_s;
  return shortest / std::clamp(std::floor(shortest / wanted_s), 1.0, kMaxSlotsPerEpoch);
}

}  // namespace

std::vector<double> gamma_multipliers(double shape) {
  std::vector<double> values(kShares);
  for (std::size_t i = 0; i < kShares; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(kShares);
    values[i] = boost::math::gamma_p_inv(shape, p);
  }
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(kShares);
  for (double& value : values) value /= mean;
  return values;
}

GammaTables::GammaTables(const std::vector<scenarios::Modulation>& modulations) {
  for (const scenarios::Modulation& modulation : modulations) {
    if (modulation.shape > 0 && !tables_.contains(modulation.shape)) {
      tables_[modulation.shape] = gamma_multipliers(modulation.shape);
    }
  }
}

FluidPath::FluidPath(std::vector<StreamGroup> groups, double capacity_rps,
                     double slot_s, std::size_t epochs, const GammaTables& tables,
                     const Rng& rng)
    : groups_(std::move(groups)),
      capacity_rps_(capacity_rps),
      slot_s_(slot_length(groups_, slot_s)) {
  double longest_s = 0;
  for (const StreamGroup& group : groups_) {
    mean_rps_ += group.rate_rps;
    if (fluctuates(group)) {
      longest_s = std::max(longest_s, group.modulation.correlation_s);
    }
  }
  const double slots =
      longest_s == 0 ? 1
                     : std::round(longest_s / slot_s_) * static_cast<double>(epochs);
  backlog_.assign(static_cast<std::size_t>(slots), 0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    waves_.push_back(
        make_wave(groups_[g], backlog_.size(), tables, rng.stream("wave", g)));
  }
  // Twice round, so that the start inherits the backlog of the end.
  double backlog = mean_rps_ >= capacity_rps_ ? capacity_rps_ * kTimeOut_s : 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t slot = 0; slot < backlog_.size(); ++slot) {
      backlog_[slot] = backlog;
      backlog = moved(backlog, total_rate(slot), slot_s_);
    }
  }
}

FluidPath::Wave FluidPath::make_wave(const StreamGroup& group, std::size_t slots,
                                     const GammaTables& tables, Rng rng) const {
  Wave wave;
  if (!fluctuates(group)) {
    wave.slots_per_epoch = slots;
    wave.rates = {group.rate_rps};
    return wave;
  }
  wave.slots_per_epoch = static_cast<std::size_t>(
      std::max(1.0, std::round(group.modulation.correlation_s / slot_s_)));
  const std::size_t epochs = (slots + wave.slots_per_epoch - 1) / wave.slots_per_epoch;
  const std::vector<double>& multipliers = tables.of(group.modulation.shape);
  wave.rates.resize(epochs);
  for (std::size_t i = 0; i < epochs; ++i) {
    const double p =
        (static_cast<double>(i) + rng.uniform()) / static_cast<double>(epochs);
    const auto share = static_cast<std::size_t>(p * static_cast<double>(kShares));
    wave.rates[i] = group.rate_rps * multipliers[std::min(share, kShares - 1)];
  }
  for (std::size_t i = epochs; i > 1; --i) {
    std::swap(wave.rates[i - 1], wave.rates[rng.below(i)]);
  }
  return wave;
}

double FluidPath::moved(double backlog, double rate, double time_s) const {
  return std::clamp(backlog + (rate - capacity_rps_) * time_s, 0.0,
                    capacity_rps_ * kTimeOut_s);
}

double FluidPath::total_rate(std::size_t slot) const {
  double sum = 0;
  for (std::size_t g = 0; g < waves_.size(); ++g) sum += rate(g, slot);
  return sum;
}

std::size_t FluidPath::slot_at(double time_s) const {
  const double turns = std::floor(time_s / length_s());
  const double slot = std::floor((time_s - turns * length_s()) / slot_s_);
  return std::min(static_cast<std::size_t>(std::max(slot, 0.0)), slots() - 1);
}

double FluidPath::time_above(std::size_t slot, double from_s, double to_s,
                             double backlog) const {
  const double rate = total_rate(slot);
  const double begin = moved(backlog_[slot], rate, from_s);
  const double end = moved(backlog_[slot], rate, to_s);
  if (begin > backlog && end > backlog) return to_s - from_s;
  if (begin <= backlog && end <= backlog) return 0;
  const double crossing = from_s + (backlog - begin) / (rate - capacity_rps_);
  return begin > backlog ? crossing - from_s : to_s - crossing;
}

double FluidPath::backlog_at(double time_s) const {
  const std::size_t slot = slot_at(time_s);
  const double within = std::fmod(time_s, slot_s_);
  return moved(backlog_[slot], total_rate(slot),
               within < 0 ? within + slot_s_ : within);
}

}  // namespace isochrone::sim
