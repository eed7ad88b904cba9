// What the plan would need if the engines were faster or slower than their profiles
// say, within the bands of error that the profiles state. Throughput goes as the
// inverse of step time, so a table at step times (1 + e) t carries A(n) / (1 + e). Each
// pool is then sized anew, alone, for what is asked of it now: its largest load of the
// day, and the part of its degraded capacity that the tightest of all losses uses. If
// every surviving pool keeps the share r of its degraded capacity, and no set of users
// asks for more than r of what it has left, then every loss is still survived.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "place/planner/assemble.h"
#include "place/planner/drafts.h"

namespace isochrone::place {
namespace {

__extension__ using Wide = __int128;
constexpr Wide kMillion = 1'000'000;
constexpr Wide kWhole = 1'000'000'000;

class StepTimes {
 public:
  StepTimes(const Question& question, plan::Plan& plan)
      : question_(question), plan_(plan) {}

  void add() {
    plan_.clear_step_times();
    const bool banded = std::ranges::any_of(
        plan_.pools(), [](const plan::Pool& p) { return p.step_error_pct() > 0; });
    if (!banded) return;
    find_peaks();
    find_tightest();
    add_case("fast", -1);
    add_case("slow", 1);
  }

 private:
  /// Largest load of each pool over the blocks, in micro-rps times 10^9, not rounded.
  void find_peaks() {
    std::map<std::pair<std::string, std::string>, const plan::Population*> users;
    for (const plan::Population& p : plan_.populations()) {
      users[{p.demand(), p.metro()}] = &p;
    }
    std::vector<std::array<Wide, scenarios::kBlocks>> loads(
        static_cast<std::size_t>(plan_.pools_size()));
    for (const plan::Assignment& a : plan_.assignments()) {
      const auto found = users.find({a.demand(), a.metro()});
      if (found == users.end() || a.pool() >= loads.size()) continue;
      for (int b = 0; b < std::min(a.share_ppb_size(), found->second->load_size());
           ++b) {
        loads[a.pool()][static_cast<std::size_t>(b)] +=
            Wide{found->second->load(b)} * a.share_ppb(b);
      }
    }
    for (const auto& load : loads) peaks_.push_back(*std::ranges::max_element(load));
  }

  /// The largest need / left of all drills; the whole where losses are survived but not
  /// drilled.
  void find_tightest() {
    const std::string& survive = question_.scenario.spec.resilience().survive();
    need_ = survive.empty() || survive == "none" ? 0 : 1;
    left_ = 1;
    if (plan_.drills().empty()) return;
    need_ = 0;
    for (const plan::Drill& drill : plan_.drills()) {
      const plan::Cut& cut = drill.tightest();
      if (cut.left() > 0 && Wide{cut.need()} * left_ > Wide{need_} * cut.left()) {
        need_ = cut.need();
        left_ = cut.left();
      }
    }
  }

  std::int64_t replicas(std::size_t p, int sign) const {
    const plan::Pool& pool = plan_.pools(static_cast<int>(p));
    if (pool.step_error_pct() <= 0 ||
        pool.table() >= static_cast<std::uint32_t>(plan_.tables_size())) {
      return pool.replicas();
    }
    const plan::Table& row = plan_.tables(static_cast<int>(pool.table()));
    LevelTable table;
    for (const std::int64_t a : row.capacity())
      table.capacity.push_back(MicroRps::of(a));
    for (const std::int64_t a : row.degraded_capacity()) {
      table.degraded_capacity.push_back(MicroRps::of(a));
    }
    const Wide slower =
        kMillion + sign * std::llround(pool.step_error_pct() / 100 * 1e6);
    const Wide kept = pool.degraded_capacity();
    std::int64_t n = 1;
    while (n < kMost &&
           (Wide{table.carries(n).count()} * kWhole * kMillion < peaks_[p] * slower ||
            Wide{table.degraded_carries(n).count()} * left_ * kMillion <
                kept * need_ * slower)) {
      ++n;
    }
    return n;
  }

  void add_case(const char* name, int sign) {
    plan::StepTimeCase& row = *plan_.add_step_times();
    row.set_name(name);
    const plan::Totals& totals = plan_.totals();
    std::int64_t gpus = totals.gpus();
    std::int64_t bill = totals.bill_usd_micro();
    std::int64_t low = totals.bill_low_usd_micro();
    std::int64_t high = totals.bill_high_usd_micro();
    for (int p = 0; p < plan_.pools_size(); ++p) {
      const plan::Pool& pool = plan_.pools(p);
      const std::int64_t n = replicas(static_cast<std::size_t>(p), sign);
      row.add_replicas(n);
      if (n == pool.replicas()) continue;
      const std::int64_t more =
          rented_gpus(n, pool.tensor_parallel(), pool.shape_gpus()) - pool.gpus();
      const scenarios::Offer& offer = offer_of(question_, plan_, pool);
      gpus += more;
      bill += (offer.bill_gpu_month * more).count();
      low += (offer.bill_low_gpu_month * more).count();
      high += (offer.bill_high_gpu_month * more).count();
    }
    row.set_gpus(gpus);
    row.set_bill_usd_micro(bill);
    row.set_bill_low_usd_micro(low);
    row.set_bill_high_usd_micro(high);
  }

  static constexpr std::int64_t kMost = 1'000'000;  // of a table that carries nothing

  const Question& question_;
  plan::Plan& plan_;
  std::vector<Wide> peaks_;
  std::int64_t need_ = 0;  // of the tightest loss
  std::int64_t left_ = 1;
};

}  // namespace

void add_step_times(const Question& question, plan::Plan& plan) {
  StepTimes(question, plan).add();
}

}  // namespace isochrone::place
