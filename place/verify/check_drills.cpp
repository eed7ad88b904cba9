// Drills: every loss that the plan must survive, each in its worst block. That no other
// set of users in any block has a tighter cut than the one claimed is shown by
// max-flow: with what the survivors carry scaled to the claimed ratio everybody must
// find a place.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/verify/cell.h"
#include "place/verify/checks.h"
#include "place/verify/loss.h"

namespace isochrone::verify {
namespace {

using scenarios::kBlocks;

class DrillCheck {
 public:
  DrillCheck(const Facts& facts, Faults& faults, const Losses& losses,
             const ServedLoads& served)
      : facts_(facts), faults_(faults), losses_(losses), served_(served) {
    const spec::Simulate& wish = facts.scenario.spec.simulate();
    if (wish.has_hours()) {
      covered_ = std::min(kBlocks, static_cast<std::size_t>(wish.hours()));
    }
  }

  void run(int index) {
    const plan::Drill& drill = facts_.plan.drills(index);
    const std::string where = fmt::format("drills[{}]", index);
    if (drill.block() >= covered_) {
      faults_.add(where + ".block", "there is no such block in the simulated hours");
      return;
    }
    if (!losses_.elements().contains(drill.element())) {
      faults_.add(where + ".element", "the plan does not use it");
      return;
    }
    std::int64_t load = 0;
    for (const auto& blocks : served_) load += blocks[drill.block()];
    faults_.equal(where + ".load", drill.load(), load);
    faults_.equal(where + ".surviving_capacity", drill.surviving_capacity(),
                  losses_.surviving(drill.element()));
    if (!drill.residency_kept()) {
      faults_.add(where + ".residency_kept", "a loss must not widen where data may be");
    }
    check_tightest(drill, where);
    check_cell_list(drill.cells(), asked_of_drill(facts_, served_, drill.block()),
                    where + ".cells", faults_);
    const std::uint64_t shown = requests_shown(drill.cells());
    if (drill.simulated_requests() < shown) {
      faults_.add(
          where + ".simulated_requests",
          fmt::format("{}, the cells show {}", drill.simulated_requests(), shown));
    }
  }

 private:
  void check_tightest(const plan::Drill& drill, const std::string& where) {
    const plan::Cut& cut = drill.tightest();
    faults_.equal(where + ".tightest.block", cut.block(), drill.block());
    const auto worth =
        losses_.measure(drill.element(), cut, served_, losses_.capacities());
    if (!worth) {
      faults_.add(where + ".tightest.populations",
                  "they are not ascending populations of the plan");
      return;
    }
    faults_.equal(where + ".tightest.need", cut.need(), worth->need);
    faults_.equal(where + ".tightest.left", cut.left(), worth->left);
    if (worth->need == 0 || worth->left == 0) {
      faults_.add(where + ".tightest.populations", "they need nothing or have nothing");
      return;
    }
    const auto carried = parallel_map(covered_, [&](std::size_t block) {
      return losses_.carried(drill.element(), block, served_, worth->need, worth->left);
    });
    for (std::size_t block = 0; block < covered_; ++block) {
      if (carried[block]) continue;
      faults_.add(
          where + ".tightest",
          fmt::format("in block {} other users have less left of what they need",
                      block));
      return;
    }
  }

  const Facts& facts_;
  Faults& faults_;
  const Losses& losses_;
  const ServedLoads& served_;
  std::size_t covered_ = kBlocks;
};

}  // namespace

void check_drills(const Facts& facts, Faults& faults) {
  const Losses losses(facts);
  const ServedLoads served = served_loads(facts);
  DrillCheck check(facts, faults, losses, served);
  std::set<std::string> drilled;
  for (int i = 0; i < facts.plan.drills_size(); ++i) {
    check.run(i);
    if (i > 0 && facts.plan.drills(i).element() < facts.plan.drills(i - 1).element()) {
      faults.add(fmt::format("drills[{}].element", i), "they are not sorted");
    }
    if (!drilled.insert(facts.plan.drills(i).element()).second) {
      faults.add(fmt::format("drills[{}].element", i), "it is lost twice");
    }
  }
  const spec::Simulate& simulate = facts.scenario.spec.simulate();
  const bool wanted = !simulate.has_drills() || simulate.drills();
  for (const std::string& element : losses.elements()) {
    if (wanted && !drilled.contains(element)) {
      faults.add("drills", fmt::format("the loss of {} was not drilled", element));
    }
  }
}

}  // namespace isochrone::verify
