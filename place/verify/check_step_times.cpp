// The plan at both ends of the bands of its step times: a size is right if it carries
// what is asked of the pool and one replica less does not.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "place/verify/checks.h"
#include "place/verify/pool_load.h"

namespace isochrone::verify {
namespace {

constexpr Wide kParts = 1'000'000;

struct Ratio {
  std::int64_t need = 0;
  std::int64_t left = 1;
};

/// What the tightest of the drilled losses asks of what it leaves: all of it where
/// losses must be survived but are not drilled.
Ratio tightest(const Facts& facts) {
  Ratio worst;
  for (const plan::Drill& drill : facts.plan.drills()) {
    const Ratio own{drill.tightest().need(), drill.tightest().left()};
    if (own.left > 0 && Wide{own.need} * worst.left > Wide{worst.need} * own.left) {
      worst = own;
    }
  }
  const std::string& survive = facts.scenario.spec.resilience().survive();
  const bool any = !survive.empty() && survive != "none";
  return facts.plan.drills().empty() && any ? Ratio{1, 1} : worst;
}

class CaseCheck {
 public:
  CaseCheck(const Facts& facts, Faults& faults, int index)
      : facts_(facts),
        faults_(faults),
        claimed_(facts.plan.step_times(index)),
        where_(fmt::format("step_times[{}]", index)),
        slow_(index == 1) {}

  void run(const std::vector<PoolLoad>& loads, const Ratio& loss) {
    faults_.equal(where_ + ".name", claimed_.name(), slow_ ? "slow" : "fast");
    const plan::Plan& plan = facts_.plan;
    if (claimed_.replicas_size() != plan.pools_size()) {
      faults_.add(where_ + ".replicas",
                  fmt::format("of {} pools, there are {}", claimed_.replicas_size(),
                              plan.pools_size()));
      return;
    }
    gpus_ = plan.totals().gpus();
    bill_ = plan.totals().bill_usd_micro();
    low_ = plan.totals().bill_low_usd_micro();
    high_ = plan.totals().bill_high_usd_micro();
    for (int p = 0; p < plan.pools_size(); ++p) {
      const PoolLoad& load = loads[static_cast<std::size_t>(p)];
      check_size(p, *std::ranges::max_element(load.scaled), loss);
      add_change(plan.pools(p), claimed_.replicas(p));
    }
    faults_.equal(where_ + ".gpus", claimed_.gpus(), gpus_);
    faults_.equal(where_ + ".bill_usd_micro", claimed_.bill_usd_micro(), bill_);
    faults_.equal(where_ + ".bill_low_usd_micro", claimed_.bill_low_usd_micro(), low_);
    faults_.equal(where_ + ".bill_high_usd_micro", claimed_.bill_high_usd_micro(),
                  high_);
  }

 private:
  double error_pct(const plan::Pool& pool) const {
    const auto profile = std::ranges::find(facts_.catalog.profiles, pool.profile(),
                                           &datasets::StepProfile::id);
    return profile == facts_.catalog.profiles.end() ? 0 : profile->error_pct;
  }

  void check_size(int index, Wide peak, const Ratio& loss) {
    const plan::Pool& pool = facts_.plan.pools(index);
    const std::int64_t n = claimed_.replicas(index);
    const std::string where = fmt::format("{}.replicas[{}]", where_, index);
    const double error = error_pct(pool);
    const plan::Table* table = facts_.table(pool);
    if (error <= 0 || table == nullptr) {
      faults_.equal(where, n, pool.replicas());
      return;
    }
    const Wide off = std::llround(error * 1e4);
    const Wide time = slow_ ? kParts + off : kParts - off;
    const Wide kept = carried(*table, pool.replicas(), true);
    const auto holds = [&](std::int64_t size) {
      return carried(*table, size, false) * kParts * kWholeShare >= peak * time &&
             carried(*table, size, true) * kParts * loss.left >=
                 kept * loss.need * time;
    };
    if (n < 1 || !holds(n)) faults_.add(where, fmt::format("{} do not carry it", n));
    if (n > 1 && holds(n - 1)) faults_.add(where, fmt::format("{} would do", n - 1));
  }

  void add_change(const plan::Pool& pool, std::int64_t replicas) {
    if (replicas == pool.replicas() || pool.shape_gpus() <= 0) return;
    const scenarios::CandidateSite* site = facts_.site_of(pool);
    if (site == nullptr) return;
    const auto offer =
        std::ranges::find_if(site->offers, [&](const scenarios::Offer& o) {
          return facts_.catalog.gpus[o.gpu].id == pool.gpu() &&
                 o.shape_gpus == pool.shape_gpus() && o.term == pool.term();
        });
    if (offer == site->offers.end()) return;
    const std::int64_t more =
        whole_groups(replicas * pool.tensor_parallel(), pool.shape_gpus()) -
        pool.gpus();
    gpus_ += more;
    bill_ += more * offer->bill_gpu_month.count();
    low_ += more * offer->bill_low_gpu_month.count();
    high_ += more * offer->bill_high_gpu_month.count();
  }

  const Facts& facts_;
  Faults& faults_;
  const plan::StepTimeCase& claimed_;
  std::string where_;
  bool slow_ = false;
  std::int64_t gpus_ = 0;
  std::int64_t bill_ = 0;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
};

}  // namespace

void check_step_times(const Facts& facts, Faults& faults) {
  const bool banded = std::ranges::any_of(
      facts.plan.pools(), [](const plan::Pool& p) { return p.step_error_pct() > 0; });
  const int wanted = banded ? 2 : 0;
  if (facts.plan.step_times_size() != wanted) {
    faults.add("step_times", fmt::format("{} cases, there should be {}",
                                         facts.plan.step_times_size(), wanted));
    return;
  }
  const std::vector<PoolLoad> loads = pool_loads(facts);
  const Ratio loss = tightest(facts);
  for (int i = 0; i < wanted; ++i) CaseCheck(facts, faults, i).run(loads, loss);
}

}  // namespace isochrone::verify
