#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/verify/checks.h"
#include "place/verify/slow_capacity.h"
#include "place/verify/slow_reach.h"
#include "place/verify/traffic.h"

namespace isochrone::verify {
namespace {

using scenarios::Population;
using scenarios::PopulationId;

/// A capacity differs by the order of the epochs, which the verifier shuffles anew.
constexpr double kCapacityTolerance = 0.06;
constexpr std::int64_t kReachToleranceUs = 20;

/// .02 .. .98 by .02, then .985, .99, .9925, .995, .9975, .999, .9995, 1.
std::vector<double> grid() {
  std::vector<double> points;
  for (int i = 1; i <= 49; ++i) points.push_back(i / 50.0);
  for (const double p : {.985, .99, .9925, .995, .9975, .999, .9995, 1.0}) {
    points.push_back(p);
  }
  return points;
}

/// Parts of the largest waiting share that a level may have.
constexpr double kWaitShareParts[] = {1, 0.5, 0.125};

/// Where no objective depends on waiting.
constexpr double kDefaultWaitShare = 0.04;

bool depends_on_wait(const spec::Objective& objective) {
  return objective.metric() == "ttft" || objective.metric() == "e2e";
}

/// Share of requests that may wait beyond the budget.
double strictest_wait_share(const std::vector<spec::Slo>& objectives) {
  double p = 0;
  for (const spec::Slo& slo : objectives) {
    for (const spec::Objective& objective : slo.objectives()) {
      if (depends_on_wait(objective)) p = std::max(p, objective.percentile() / 100);
    }
  }
  return p == 0 ? kDefaultWaitShare : 0.8 * (1 - p);
}

template <class Values>
bool ascends(const Values& values) {
  return std::ranges::is_sorted(values);
}

/// One table against its own words.
class TableCheck {
 public:
  TableCheck(const Facts& facts, const plan::Table& table, int index)
      : facts_(facts), table_(table), where_(fmt::format("tables[{}]", index)) {}

  std::vector<Fault> run() {
    const auto workload = facts_.workload_index(table_.workload());
    if (!workload) {
      faults_.add(at("workload"), "the scenario has no such workload");
      return faults_.take();
    }
    workload_ = *workload;
    for (int e = 0; e < facts_.scenario.spec.demand_size(); ++e) {
      if (facts_.scenario.spec.demand(e).workload() == table_.workload()) {
        entries_.push_back(static_cast<std::size_t>(e));
      }
    }
    if (!check_shapes()) return faults_.take();
    check_front_end();
    check_wait_shares();
    check_capacity();
    check_reach();
    return faults_.take();
  }

 private:
  std::string at(const char* field) const { return where_ + "." + field; }
  const spec::Workload& workload() const {
    return facts_.scenario.spec.workloads(static_cast<int>(workload_));
  }

  bool check_shapes() {
    const std::size_t before = faults_.empty() ? 0 : 1;
    const int points = table_.replicas_size();
    if (points == 0 || table_.capacity_size() != points ||
        table_.degraded_capacity_size() != points ||
        table_.correction_size() != points ||
        table_.degraded_correction_size() != points) {
      faults_.add(at("capacity"),
                  "replicas, capacities and corrections differ in number");
    }
    if (!ascends(table_.replicas()) || (points > 0 && table_.replicas(0) < 1)) {
      faults_.add(at("replicas"), "they do not ascend from 1");
    }
    if (!std::ranges::equal(table_.probability(), grid())) {
      faults_.add(at("probability"), "it is not the grid of service laws");
    }
    check_law("first_token_ns", table_.first_token_ns());
    check_law("last_token_ns", table_.last_token_ns());
    if (table_.tpot_ns_size() > 0) check_law("tpot_ns", table_.tpot_ns());
    for (int i = 0;
         i < std::min(table_.first_token_ns_size(), table_.last_token_ns_size()); ++i) {
      if (table_.first_token_ns(i) > table_.last_token_ns(i)) {
        faults_.add(at("last_token_ns"), "the last token comes before the first");
        break;
      }
    }
    if (table_.occupancy_size() == 0 ||
        table_.occupancy_size() != table_.residence_s_size() ||
        !ascends(table_.occupancy()) || std::ranges::min(table_.residence_s()) <= 0) {
      faults_.add(at("residence_s"), "it is no time at an ascending occupancy");
    }
    return before == 0 && faults_.empty();
  }

  template <class Values>
  void check_law(const char* field, const Values& values) {
    if (values.size() != table_.probability_size() || !ascends(values) ||
        (values.size() > 0 && values[0] < 0)) {
      faults_.add(at(field), "they are no ascending quantiles on the grid");
    }
  }

  void check_front_end() {
    double should = 0;
    for (const datasets::StepProfile& profile : facts_.catalog.profiles) {
      if (profile.id == table_.profile()) should = profile.front_end_ms;
    }
    if (workload().has_front_end_ms()) should = workload().front_end_ms();
    faults_.near(at("front_end_ms"), table_.front_end_ms(), should, 1e-6);
  }

  void check_wait_shares() {
    std::vector<spec::Slo> normal;
    std::vector<spec::Slo> degraded;
    for (const std::size_t entry : entries_) {
      const EntryObjectives objectives = entry_objectives(facts_, entry);
      normal.push_back(objectives.normal);
      degraded.push_back(objectives.degraded);
    }
    wait_share_ = strictest_wait_share(normal);
    degraded_wait_share_ = strictest_wait_share(degraded);
    // All of it, half or an eighth may be spent on waiting.
    const bool offered = std::ranges::any_of(kWaitShareParts, [&](double part) {
      return std::abs(table_.wait_share() - part * wait_share_) <= 1e-9;
    });
    if (!offered) {
      faults_.add(at("wait_share"),
                  fmt::format("{} is not all, half or an eighth of {}",
                              table_.wait_share(), wait_share_));
    } else {
      wait_share_ = table_.wait_share();
    }
    if (table_.wait_budget_ms() < 0 || table_.degraded_wait_budget_ms() < 0) {
      faults_.add(at("wait_budget_ms"), "it is negative");
    }
  }

  scenarios::Modulation burstiest() const {
    scenarios::Modulation worst;
    for (const std::size_t entry : entries_) {
      const scenarios::Modulation& own = facts_.demand.modulation[entry];
      // A smaller shape is a wilder rate; 0 stands for Poisson, the calmest.
      const bool wilder =
          own.shape > 0 && (worst.shape == 0 || own.shape < worst.shape);
      if (wilder) worst = own;
    }
    return worst;
  }

  void check_capacity() {
    SlowPool pool;
    pool.occupancy.assign(table_.occupancy().begin(), table_.occupancy().end());
    pool.residence_s.assign(table_.residence_s().begin(), table_.residence_s().end());
    pool.slots = table_.max_num_seqs();
    const SlowEpochs epochs(burstiest());
    for (int i = 0; i < table_.replicas_size(); ++i) {
      pool.replicas = table_.replicas(i);
      if (pool.replicas * pool.slots > 100'000) continue;
      const SlowQueue queue(pool, epochs);
      const double normal =
          queue.carried_rate(table_.wait_budget_ms() / 1e3, wait_share_);
      const double degraded = queue.carried_rate(table_.degraded_wait_budget_ms() / 1e3,
                                                 degraded_wait_share_);
      compare_capacity("capacity", i, table_.capacity(i), normal, table_.correction(i));
      compare_capacity("degraded_capacity", i, table_.degraded_capacity(i), degraded,
                       table_.degraded_correction(i));
    }
  }

  void compare_capacity(const char* field, int point, std::int64_t claimed, double rate,
                        double correction) {
    const double should = rate * correction * 1e6;
    if (std::abs(static_cast<double>(claimed) - should) <=
        kCapacityTolerance * should + 1) {
      return;
    }
    faults_.add(at(field),
                fmt::format("{} replicas carry {} micro-rps, by the slow way {:.0f} "
                            "(corrected by {})",
                            table_.replicas(point), claimed, should, correction));
  }

  void check_reach() {
    std::map<std::pair<std::string, std::string>, const Population*> asked;
    for (const Population& population : facts_.demand.populations) {
      if (population.workload != workload_) continue;
      asked.try_emplace(
          {facts_.entry_name(population), population.endpoint.country.text()},
          &population);
    }
    std::set<std::pair<std::string, std::string>> seen;
    for (const plan::Reach& reach : table_.reach()) {
      const std::pair key(reach.demand(), reach.country());
      const auto found = asked.find(key);
      if (found == asked.end() || !seen.insert(key).second) {
        faults_.add(at("reach"), fmt::format("\"{}\" in {} is unknown or stands twice",
                                             reach.demand(), reach.country()));
        continue;
      }
      compare_reach(reach, *found->second);
    }
  }

  void compare_reach(const plan::Reach& reach, const Population& population) {
    const EntryObjectives objectives = entry_objectives(facts_, population.entry);
    const geo::AtomicLaw& access = atoms_of(population);
    const std::int64_t normal = slow_reach(objectives.normal, access, population,
                                           table_.wait_budget_ms(), wait_share_, false);
    const std::int64_t degraded = slow_reach(
        objectives.degraded, access, population, table_.degraded_wait_budget_ms(),
        degraded_wait_share_, true, reach.reconnecting());
    const auto differs = [](std::int64_t claimed, std::int64_t should) {
      if (should < 0) return claimed >= 0;
      return std::abs(claimed - should) > kReachToleranceUs;
    };
    if (differs(reach.rtt_us(), normal)) {
      faults_.add(at("reach"),
                  fmt::format("rtt_us of \"{}\" in {} is {}, by the slow way {}",
                              reach.demand(), reach.country(), reach.rtt_us(), normal));
    }
    if (differs(reach.degraded_rtt_us(), degraded)) {
      faults_.add(
          at("reach"),
          fmt::format("degraded_rtt_us of \"{}\" in {} is {}, by the slow way {}",
                      reach.demand(), reach.country(), reach.degraded_rtt_us(),
                      degraded));
    }
  }

  const geo::AtomicLaw& atoms_of(const Population& population) {
    const geo::AccessLaw& law = population.access;
    const auto key =
        std::tuple(law.p50_ms, law.p75_ms, law.p90_ms, law.p95_ms, law.p99_ms);
    auto found = atoms_.find(key);
    if (found == atoms_.end()) {
      found = atoms_.emplace(key, law.atoms_with_jitter()).first;
    }
    return found->second;
  }

  std::int64_t slow_reach(const spec::Slo& slo, const geo::AtomicLaw& access,
                          const Population& population, double budget_ms,
                          double wait_share, bool during_loss,
                          bool reconnecting = false) const {
    std::int64_t longest = kAnywhereUs;
    // What the users of the region that are counted as missed leave to the others.
    const double lost = facts_.lost_share(population, during_loss);
    const double fixed_ns = (transfer_ms(workload(), population.access) +
                             table_.front_end_ms() + budget_ms) *
                            1e6;
    for (const spec::Objective& objective : slo.objectives()) {
      const double p = objective.percentile() / 100;
      if (objective.metric() == "tpot") {
        if (!pace_holds(objective.ms() * 1e6, p)) return -1;
        continue;
      }
      const auto& own = objective.metric() == "ttft" ? table_.first_token_ns()
                                                     : table_.last_token_ns();
      const GridLaw law{{table_.probability().data(), grid_size()},
                        {own.data(), static_cast<std::size_t>(own.size())}};
      const std::int64_t trips =
          reconnecting ? reconnection_trips(workload()) : connection_trips(workload());
      longest = std::min(
          longest, slow_reach_us(access, law, trips, objective.ms() * 1e6 - fixed_ns,
                                 p / (1 - lost) / (1 - wait_share)));
    }
    if (slo.has_rtt_max_ms()) {
      const double left = slo.rtt_max_ms() - population.access.p50_ms;
      longest = std::min(longest, static_cast<std::int64_t>(std::floor(left * 1e3)));
    }
    return longest;
  }

  bool pace_holds(double limit_ns, double p) const {
    if (table_.tpot_ns_size() == 0) return true;
    int within = 0;
    while (within < table_.tpot_ns_size() &&
           static_cast<double>(table_.tpot_ns(within)) <= limit_ns) {
      ++within;
    }
    return within > 0 && table_.probability(within - 1) >= p - 1e-9;
  }

  std::size_t grid_size() const {
    return static_cast<std::size_t>(table_.probability_size());
  }

  using AccessKey = std::tuple<double, double, double, double, double>;
  const Facts& facts_;
  const plan::Table& table_;
  std::string where_;
  Faults faults_;
  std::size_t workload_ = 0;
  std::vector<std::size_t> entries_;
  double wait_share_ = 0;
  double degraded_wait_share_ = 0;
  std::map<AccessKey, geo::AtomicLaw> atoms_;
};

void note_what_rests_on_simulation(const plan::Plan& plan,
                                   std::vector<std::string>& rests_on) {
  int corrected = 0;
  double low = 1;
  double high = 1;
  for (const plan::Table& table : plan.tables()) {
    for (const auto* field : {&table.correction(), &table.degraded_correction()}) {
      for (const double correction : *field) {
        corrected += correction != 1 ? 1 : 0;
        low = std::min(low, correction);
        high = std::max(high, correction);
      }
    }
  }
  if (plan.tables_size() > 0) {
    rests_on.push_back(fmt::format(
        "service laws of {} levels (quantiles of first and last token and of "
        "pace, mean residence): simulated, taken from the plan",
        plan.tables_size()));
  }
  if (corrected > 0) {
    rests_on.push_back(fmt::format(
        "{} capacities corrected by simulation, by factors of {:.3f} to {:.3f}",
        corrected, low, high));
  }
  std::set<std::string> words;
  std::set<std::string> used;
  for (const plan::Pool& pool : plan.pools()) {
    if (pool.table() >= static_cast<std::uint32_t>(plan.tables_size())) continue;
    const plan::Table& table = plan.tables(static_cast<int>(pool.table()));
    if (pool.profile() != table.profile() || table.rests_on().empty()) continue;
    used.insert(table.profile());
    words.insert(table.rests_on());
  }
  rests_on.insert(rests_on.end(), words.begin(), words.end());
  std::set<std::string> others;
  for (const plan::Table& table : plan.tables()) {
    if (!used.contains(table.profile())) others.insert(table.profile());
  }
  if (!others.empty()) {
    rests_on.push_back(fmt::format(
        "{} other profiles, in the bound and in what the search turned down",
        others.size()));
  }
}

}  // namespace

void check_tables(const Facts& facts, Faults& faults,
                  std::vector<std::string>& rests_on) {
  const auto found = parallel_map(
      static_cast<std::size_t>(facts.plan.tables_size()), [&](std::size_t i) {
        const int index = static_cast<int>(i);
        return TableCheck(facts, facts.plan.tables(index), index).run();
      });
  for (const std::vector<Fault>& table : found) {
    for (const Fault& fault : table) faults.add(fault.where, fault.message);
  }
  note_what_rests_on_simulation(facts.plan, rests_on);
}

}  // namespace isochrone::verify
