#include "sim/control.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace isochrone::sim {
namespace {

constexpr std::size_t kStretches = 16;
constexpr std::size_t kUtilisationCells = 128;

double middle_of(std::size_t cell) {
  return (static_cast<double>(cell) + 0.5) / static_cast<double>(kUtilisationCells);
}

FluidAnswer in_slot(const FluidPath& path, const FluidQuestion& question,
                    std::size_t slot, double from_s, double to_s) {
  double rate = 0;
  for (std::size_t g = 0; g < path.groups(); ++g) {
    if (question.holds(g)) rate += path.rate(g, slot);
  }
  FluidAnswer answer{rate * (to_s - from_s), 0};
  if (question.waits()) {
    const double late_s = path.time_above(slot, from_s, to_s, question.late_backlog());
    const double share =
        question.late_share(path.total_rate(slot) / path.capacity_rps());
    answer.missed = rate * (late_s + share * (to_s - from_s - late_s));
  }
  return answer;
}

void add(FluidAnswer& sum, const FluidAnswer& more) {
  sum.requests += more.requests;
  sum.missed += more.missed;
}

}  // namespace

std::vector<double> busy_chances(std::int64_t servers) {
  std::vector<double> chances(kUtilisationCells);
  for (std::size_t cell = 0; cell < kUtilisationCells; ++cell) {
    const double utilisation = middle_of(cell);
    const double load = utilisation * static_cast<double>(servers);
    double lost = 1;  // Erlang B, by its recursion
    for (std::int64_t s = 1; s <= servers; ++s) {
      lost = load * lost / (static_cast<double>(s) + load * lost);
    }
    chances[cell] = lost / (1 - utilisation * (1 - lost));
  }
  return chances;
}

FluidQuestion::FluidQuestion(std::vector<bool> groups, std::optional<double> slack_s,
                             double capacity_rps,
                             const std::vector<double>& busy_chances)
    : groups_(std::move(groups)),
      waits_(slack_s.has_value()),
      late_backlog_(capacity_rps * std::max(0.0, slack_s.value_or(0))),
      late_shares_(busy_chances) {
  for (std::size_t cell = 0; cell < late_shares_.size(); ++cell) {
    late_shares_[cell] *= std::exp(-(1 - middle_of(cell)) * late_backlog_);
  }
}

double FluidQuestion::late_share(double utilisation) const {
  const auto cell = static_cast<std::size_t>(utilisation * kUtilisationCells);
  return late_shares_[std::min(cell, late_shares_.size() - 1)];
}

FluidAnswer ask(const FluidPath& path, const FluidQuestion& question, double begin_s,
                double length_s) {
  // Where nothing fluctuates every moment is like the first.
  if (path.slots() == 1) {
    FluidAnswer all = in_slot(path, question, 0, 0, path.slot_s());
    return {all.requests * length_s / path.slot_s(),
            all.missed * length_s / path.slot_s()};
  }
  FluidAnswer sum;
  std::size_t slot = path.slot_at(begin_s);
  double from = begin_s - std::floor(begin_s / path.length_s()) * path.length_s() -
                static_cast<double>(slot) * path.slot_s();
  from = std::clamp(from, 0.0, path.slot_s());
  while (length_s > 0) {
    const double to = std::min(path.slot_s(), from + length_s);
    add(sum, in_slot(path, question, slot, from, to));
    length_s -= std::max(to - from, 1e-9);
    slot = (slot + 1) % path.slots();
    from = 0;
  }
  return sum;
}

FluidLife live(const FluidPath& path, const FluidQuestion& question) {
  FluidLife life;
  std::array<double, kStretches> stretches{};
  for (std::size_t slot = 0; slot < path.slots(); ++slot) {
    const FluidAnswer answer = in_slot(path, question, slot, 0, path.slot_s());
    add(life.rate, answer);
    stretches[slot * kStretches / path.slots()] += answer.missed;
  }
  life.rate.requests /= path.length_s();
  life.rate.missed /= path.length_s();
  if (path.slots() < kStretches) return life;
  const double stretch_s = path.length_s() / static_cast<double>(kStretches);
  for (const double missed : stretches) {
    const double off = missed / stretch_s - life.rate.missed;
    life.missed_variance +=
        off * off / static_cast<double>(kStretches * (kStretches - 1));
  }
  return life;
}

}  // namespace isochrone::sim
