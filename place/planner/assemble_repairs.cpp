// Which losses made the plan larger? The search meets cuts: users who, after a loss,
// ask for more than the pools that they can still reach carry. Of those it met, the
// plan tells the ones that still matter: with no more replicas than the day alone
// needs, the sites of the plan would be short for them.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "place/planner/assembly.h"
#include "place/planner/seal.h"

namespace isochrone::place {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kWhole = 1'000'000'000;

class Repairs {
 public:
  explicit Repairs(const Assembly& a) : a_(a), by_day_(replicas_by_day(a)) {}

  void add(plan::Plan& plan) const {
    std::map<std::pair<std::string, std::vector<int>>, plan::Repair> worst;
    for (const SurvivalRow& row : a_.solution.repaired) {
      if (row.element < 0 || !used(row.element)) continue;
      std::vector<int> users = row.demands;
      std::ranges::sort(users);
      const auto repeated = std::ranges::unique(users);
      users.erase(repeated.begin(), repeated.end());
      const plan::Repair repair = repair_of(row, users);
      if (repair.had() >= repair.cut().need()) continue;
      auto [it, fresh] =
          worst.try_emplace({repair.element(), std::move(users)}, repair);
      if (!fresh && repair.cut().need() > it->second.cut().need()) it->second = repair;
    }
    plan::Repairs& repairs = *plan.mutable_repairs();
    for (const auto& [key, repair] : worst) *repairs.add_cuts() = repair;
    seal(repairs);
  }

 private:
  /// Least replicas of each choice that carry what the plan sends to it.
  static std::vector<std::size_t> replicas_by_day(const Assembly& a) {
    std::vector<std::array<Wide, scenarios::kBlocks>> loads(a.solution.choices.size());
    for (const Flow& flow : a.solution.flows) {
      const auto d = static_cast<std::size_t>(flow.demand);
      if (d >= a.question.demand.populations.size()) continue;
      auto& load = loads[static_cast<std::size_t>(flow.choice)];
      for (std::size_t b = 0; b < scenarios::kBlocks; ++b) {
        load[b] += Wide{a.question.population(d).load[b].count()} * flow.ppb[b];
      }
    }
    std::vector<std::size_t> least;
    for (std::size_t c = 0; c < a.solution.choices.size(); ++c) {
      const Option& option = a.option_of(a.solution.choices[c]);
      const Wide peak = *std::ranges::max_element(loads[c]);
      std::size_t n = 1;
      while (n < option.capacity.size() &&
             Wide{option.capacity[n - 1]} * kWhole < peak) {
        ++n;
      }
      least.push_back(n);
    }
    return least;
  }

  bool lost(const Choice& choice, int element) const {
    const auto& elements =
        a_.built.instance.sites[static_cast<std::size_t>(choice.site)].elements;
    return std::ranges::find(elements, element) != elements.end();
  }

  bool used(int element) const {
    return std::ranges::any_of(a_.solution.choices, [&](const Choice& choice) {
      return !a_.option_of(choice).whole && lost(choice, element);
    });
  }

  plan::Repair repair_of(const SurvivalRow& row, const std::vector<int>& users) const {
    plan::Repair repair;
    repair.set_element(a_.built.elements[static_cast<std::size_t>(row.element)]);
    plan::Cut& cut = *repair.mutable_cut();
    cut.set_block(static_cast<std::uint32_t>(row.block));
    for (const int user : users) {
      const auto d = static_cast<std::size_t>(user);
      cut.add_populations(static_cast<std::uint32_t>(user));
      const std::int64_t unserved =
          a_.solution.unserved_ppb.empty() ? 0 : a_.solution.unserved_ppb[d];
      const Wide load =
          a_.question.population(d).load[static_cast<std::size_t>(row.block)].count();
      cut.set_need(cut.need() +
                   static_cast<std::int64_t>(load * (kWhole - unserved) / kWhole));
    }
    for (std::size_t c = 0; c < a_.solution.choices.size(); ++c) {
      const Choice& choice = a_.solution.choices[c];
      const Option& option = a_.option_of(choice);
      if (option.whole || lost(choice, row.element)) continue;
      const bool helps = std::ranges::any_of(users, [&](int user) {
        return option.commodity ==
                   a_.built.instance.demands[static_cast<std::size_t>(user)]
                       .commodity &&
               a_.reaches(choice, static_cast<std::size_t>(user), true);
      });
      if (!helps) continue;
      const auto size = static_cast<std::size_t>(choice.replicas);
      cut.set_left(cut.left() + option.degraded_capacity[size - 1]);
      repair.set_had(repair.had() + option.degraded_capacity[by_day_[c] - 1]);
    }
    return repair;
  }

  const Assembly& a_;
  std::vector<std::size_t> by_day_;
};

}  // namespace

void add_repairs(const Assembly& a, plan::Plan& plan) { Repairs(a).add(plan); }

}  // namespace isochrone::place
