// Batch jobs in valleys, worked out anew: what each block leaves idle, which gangs that
// makes, how long they work and how long a job takes with its pauses. By another road
// than the planner's: the minutes at work of a day are listed, and a job that starts at
// the i-th of them ends `work` entries later, around the clock.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "place/verify/batch_need.h"
#include "place/verify/checks.h"
#include "place/verify/pool_load.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::kBlocks;
using scenarios::Offer;

constexpr std::int64_t kMinutes = 1440;
constexpr std::int64_t kPause = 10;  // lost whenever a valley opens

/// Minutes of the day at which at least `gangs` gangs work.
std::vector<std::int64_t> minutes_at_work(const std::vector<std::uint32_t>& by_block,
                                          std::uint32_t gangs) {
  std::vector<std::int64_t> minutes;
  for (std::size_t b = 0; b < by_block.size(); ++b) {
    if (by_block[b] < gangs) continue;
    const bool before = by_block[(b + by_block.size() - 1) % by_block.size()] >= gangs;
    for (std::int64_t m = before ? 0 : kPause; m < 60; ++m) {
      minutes.push_back(static_cast<std::int64_t>(b) * 60 + m);
    }
  }
  return minutes;
}

std::int64_t slowest_job(const std::vector<std::int64_t>& minutes, std::int64_t work) {
  const auto a_day = static_cast<std::int64_t>(minutes.size());
  std::int64_t worst = 0;
  for (std::int64_t i = 0; i < a_day; ++i) {
    const std::int64_t last = i + work - 1;
    const std::int64_t end =
        last / a_day * kMinutes + minutes[static_cast<std::size_t>(last % a_day)] + 1;
    worst = std::max(worst, end - minutes[static_cast<std::size_t>(i)]);
  }
  return worst;
}

class ValleyCheck {
 public:
  ValleyCheck(const Facts& facts, Faults& faults, const std::vector<PoolLoad>& loads,
              int index)
      : facts_(facts),
        faults_(faults),
        loads_(loads),
        row_(facts.plan.valleys(index)),
        where_(fmt::format("valleys[{}]", index)) {}

  void run() {
    const spec::Workload* work = facts_.workload(row_.workload());
    if (work == nullptr || work->kind() != "batch") {
      faults_.add(where_ + ".workload", "it is no batch workload");
      return;
    }
    const plan::Pool* host = facts_.pool(row_.pool());
    const CandidateSite* site = host == nullptr ? nullptr : facts_.site_of(*host);
    const plan::Table* table = host == nullptr ? nullptr : facts_.table(*host);
    const Offer* offer = site == nullptr ? nullptr : offer_of(*site, *host);
    if (offer == nullptr || table == nullptr || host->profile() == "batch" ||
        host->tensor_parallel() <= 0) {
      faults_.add(where_ + ".pool", "there is no such pool with users");
      return;
    }
    check_admitted(*work, *site, *offer);
    const BatchNeed need =
        batch_need(facts_.catalog, *work, offer->gpu, offer->shape_gpus);
    gang_ = whole_groups(work->batch().gang_gpus(), offer->shape_gpus);
    faults_.equal(where_ + ".gang_gpus", row_.gang_gpus(), gang_);
    faults_.near(where_ + ".hours_per_job", row_.hours_per_job(), need.hours_per_job,
                 1e-9 * std::max(1.0, need.hours_per_job));
    check_gangs(*host, *table);
    check_jobs(work->batch(), need);
    faults_.equal(where_ + ".rented_usd_micro", row_.rented_usd_micro(),
                  cheapest_rent(*work));
  }

 private:
  const Offer* offer_of(const CandidateSite& site, const plan::Pool& pool) const {
    const auto found = std::ranges::find_if(site.offers, [&](const Offer& offer) {
      return facts_.catalog.gpus[offer.gpu].id == pool.gpu() &&
             offer.shape_gpus == pool.shape_gpus() && offer.term == pool.term();
    });
    return found == site.offers.end() ? nullptr : &*found;
  }

  void check_admitted(const spec::Workload& work, const CandidateSite& site,
                      const Offer& offer) {
    const std::string lack =
        lacking(work.requirements(), facts_.catalog.gpus[offer.gpu], offer);
    if (!lack.empty()) faults_.add(where_ + ".pool", "its GPUs have " + lack);
    if (!facts_.batch_lawful(*facts_.workload_index(work.name()), site)) {
      faults_.add(where_ + ".pool", fmt::format("its data may not be processed in {}",
                                                site.endpoint.country.text()));
    }
  }

  void check_gangs(const plan::Pool& host, const plan::Table& table) {
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const std::int64_t load = loads_[row_.pool()].rounded[b];
      std::int64_t busy = 0;
      while (busy < host.replicas() && carried(table, busy, false) < load) ++busy;
      const std::int64_t idle =
          host.gpus() - whole_groups(busy * host.tensor_parallel(), host.shape_gpus());
      gangs_.push_back(
          static_cast<std::uint32_t>(std::max<std::int64_t>(0, idle) / gang_));
    }
    if (!std::ranges::equal(row_.gangs(), gangs_)) {
      faults_.add(where_ + ".gangs", "its pool leaves room for others");
    }
  }

  void check_jobs(const spec::Batch& batch, const BatchNeed& need) {
    const auto work = static_cast<std::int64_t>(std::ceil(need.hours_per_job * 60));
    double hours = 0;
    double slowest = 0;
    for (std::uint32_t gang = 1; gang <= row_.gangs_used(); ++gang) {
      const std::vector<std::int64_t> minutes = minutes_at_work(gangs_, gang);
      if (minutes.empty()) {
        faults_.add(where_ + ".gangs_used", "there is never room for so many");
        return;
      }
      hours += static_cast<double>(minutes.size()) * kHoursPerMonth / kMinutes;
      slowest = static_cast<double>(slowest_job(minutes, work)) / 60;
    }
    faults_.near(where_ + ".hours_month", row_.hours_month(), hours, 1e-6);
    faults_.near(where_ + ".longest_hours", row_.longest_hours(), slowest, 1e-9);
    if (hours < need.hours_per_job * batch.jobs_month()) {
      faults_.add(where_ + ".hours_month",
                  fmt::format("{:.1f} h, the jobs need {:.1f} h", hours,
                              need.hours_per_job * batch.jobs_month()));
    }
    if (slowest > batch.deadline_hours()) {
      faults_.add(where_ + ".longest_hours",
                  fmt::format("{:.1f} h, the deadline is {:g} h", slowest,
                              batch.deadline_hours()));
    }
  }

  std::int64_t cheapest_rent(const spec::Workload& work) const {
    std::int64_t least = 0;
    for (const CandidateSite& site : facts_.candidates.sites) {
      if (!facts_.batch_lawful(*facts_.workload_index(work.name()), site)) continue;
      for (const Offer& offer : site.offers) {
        const auto rent = batch_rent(facts_, work, offer);
        if (rent && (least == 0 || rent->objective < least)) least = rent->objective;
      }
    }
    return least;
  }

  const Facts& facts_;
  Faults& faults_;
  const std::vector<PoolLoad>& loads_;
  const plan::Valley& row_;
  std::string where_;
  std::int64_t gang_ = 1;
  std::vector<std::uint32_t> gangs_;
};

}  // namespace

void check_valleys(const Facts& facts, Faults& faults) {
  if (facts.plan.valleys().empty()) return;
  const std::vector<PoolLoad> loads = pool_loads(facts);
  std::set<std::uint32_t> hosts;
  for (int i = 0; i < facts.plan.valleys_size(); ++i) {
    ValleyCheck(facts, faults, loads, i).run();
    if (!hosts.insert(facts.plan.valleys(i).pool()).second) {
      faults.add(fmt::format("valleys[{}].pool", i), "its valleys are filled already");
    }
  }
}

std::optional<std::int64_t> least_host(const Facts& facts) {
  if (facts.demand.populations.empty()) return std::nullopt;
  std::optional<std::int64_t> least;
  for (const spec::Workload& work : facts.scenario.spec.workloads()) {
    if (work.kind() != "batch") continue;
    for (const CandidateSite& site : facts.candidates.sites) {
      if (!facts.batch_lawful(*facts.workload_index(work.name()), site)) continue;
      for (const Offer& offer : site.offers) {
        const auto rent = batch_rent(facts, work, offer);
        if (!rent) continue;
        const std::int64_t cost = rent->all_hours + site.fixed_month.count();
        least = std::min(least.value_or(cost), cost);
      }
    }
  }
  if (!least) return least;
  for (const auto& [provider, premium] : facts.candidates.preference) {
    *least += std::min<std::int64_t>(0, premium.count());
  }
  return least;
}

}  // namespace isochrone::verify
