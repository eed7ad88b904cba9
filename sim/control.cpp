#include "sim/control.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace isochrone::sim {
namespace {

constexpr std::size_t kStretches = 16;

FluidAnswer in_slot(const FluidPath& path, const FluidQuestion& question,
                    std::size_t slot, double from_s, double to_s) {
  double rate = 0;
  for (std::size_t g = 0; g < path.groups(); ++g) {
    if (question.groups[g]) rate += path.rate(g, slot);
  }
  FluidAnswer answer{rate * (to_s - from_s), 0};
  if (question.waits) {
    answer.missed = rate * path.time_above(slot, from_s, to_s, question.late_backlog);
  }
  return answer;
}

void add(FluidAnswer& sum, const FluidAnswer& more) {
  sum.requests += more.requests;
  sum.missed += more.missed;
}

}  // namespace

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
