// A pool that is sized for its peak stands idle at night, and is paid for all the same.
// In each block the load needs so many replicas; what is left of the pool, in whole
// groups of GPUs that are rented together, holds so many gangs. The first gang may run
// in every block in which at least one fits, the second where two fit, and so on. A
// gang that has to stop goes on from where it was when its next valley opens, and loses
// ten minutes.
#include "place/planner/valleys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "place/planner/drafts.h"

namespace isochrone::place {
namespace {

using scenarios::kBlocks;
__extension__ using Wide = __int128;

constexpr std::int64_t kHour = 60;
constexpr std::int64_t kDay = kBlocks * kHour;
constexpr std::int64_t kResume = 10;  // minutes that a gang loses when a valley opens

/// Minutes of the day, UTC, in which a gang works that may run in some blocks.
std::vector<bool> working_minutes(const std::array<bool, kBlocks>& open) {
  std::vector<bool> minutes;
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const bool opens = open[b] && !open[(b + kBlocks - 1) % kBlocks];
    for (std::int64_t m = 0; m < kHour; ++m) {
      minutes.push_back(open[b] && !(opens && m < kResume));
    }
  }
  return minutes;
}

/// Minutes from the start to the end of `work` minutes, from the worst start.
std::int64_t longest(const std::vector<bool>& minutes, std::int64_t work) {
  const std::int64_t a_day = std::ranges::count(minutes, true);
  const std::int64_t days = (work - 1) / a_day;
  const std::int64_t rest = work - days * a_day;
  std::int64_t worst = 0;
  for (std::int64_t start = 0; start < kDay; ++start) {
    if (!minutes[static_cast<std::size_t>(start)]) continue;
    std::int64_t left = rest;
    std::int64_t passed = 0;
    for (; left > 0; ++passed) {
      left -= minutes[static_cast<std::size_t>((start + passed) % kDay)] ? 1 : 0;
    }
    worst = std::max(worst, passed);
  }
  return days * kDay + worst;
}

class Filling {
 public:
  explicit Filling(const Assembly& a) : a_(a) {}

  Filled fill() {
    const auto& share = a_.built.instance.group_share;
    // Fewer GPUs at one provider are a larger share of the others.
    const bool bound = share && share->of != Instance::GroupShare::Of::kTraffic;
    std::vector<std::pair<int, Filled::Valley>> filled;  // choice that goes
    for (int c = 0; !bound && c < choices(); ++c) {
      if (!a_.option_of(choice(c)).whole || !may_go(choice(c))) continue;
      if (auto valley = find_host(c)) filled.emplace_back(c, std::move(*valley));
    }
    return without(filled);
  }

 private:
  int choices() const { return static_cast<int>(a_.solution.choices.size()); }
  const Choice& choice(int index) const {
    return a_.solution.choices[static_cast<std::size_t>(index)];
  }

  bool may_go(const Choice& jobs) const {
    return a_.option_of(jobs).cost.front() > 0 &&
           !a_.built.instance.sites[static_cast<std::size_t>(jobs.site)].pinned;
  }

  std::optional<Filled::Valley> find_host(int jobs) {
    std::vector<int> hosts;
    for (int h = 0; h < choices(); ++h) {
      if (!a_.option_of(choice(h)).whole && !taken_.contains(h)) hosts.push_back(h);
    }
    std::ranges::sort(hosts, {}, [&](int h) {
      const OptionMeaning& meaning = a_.meaning_of(choice(h));
      return std::pair(meaning.site, meaning.workload);
    });
    for (const int h : hosts) {
      if (auto row = fit(choice(jobs), h)) {
        taken_.insert(h);
        return Filled::Valley{std::move(*row), h};
      }
    }
    return std::nullopt;
  }

  /// Law and `requires` admit the host's offer if the jobs could rent it themselves.
  bool admitted(const Choice& jobs, const Choice& host) const {
    const int commodity = a_.option_of(jobs).commodity;
    const auto& options =
        a_.built.instance.sites[static_cast<std::size_t>(host.site)].options;
    return std::ranges::any_of(options, [&](const Option& option) {
      return option.whole && option.commodity == commodity &&
             a_.built.meaning[option.label].offer == a_.meaning_of(host).offer;
    });
  }

  std::array<std::int64_t, kBlocks> load_on(int host) const {
    std::array<std::int64_t, kBlocks> load{};
    for (const Flow& flow : a_.solution.flows) {
      if (flow.choice != host) continue;
      const auto& p = a_.question.population(static_cast<std::size_t>(flow.demand));
      for (std::size_t b = 0; b < kBlocks; ++b) {
        load[b] += static_cast<std::int64_t>(
            (Wide{p.load[b].count()} * flow.ppb[b] + 999'999'999) / 1'000'000'000);
      }
    }
    return load;
  }

  std::optional<plan::Valley> fit(const Choice& jobs, int h) const {
    const Choice& host = choice(h);
    if (!admitted(jobs, host)) return std::nullopt;
    const OptionMeaning& meaning = a_.meaning_of(host);
    const Option& option = a_.option_of(host);
    const auto& offer = a_.question.site(meaning.site).offers[meaning.offer];
    const std::size_t workload = a_.meaning_of(jobs).workload;
    const spec::Batch& batch = a_.question.workload(workload).batch();
    const BatchFit need = fit_batch(a_.question, workload, offer);
    plan::Valley row;
    row.set_workload(a_.question.workload(workload).name());
    row.set_gang_gpus(rented_gpus(1, batch.gang_gpus(), offer.shape_gpus));
    row.set_hours_per_job(need.hours_per_job);
    const auto load = load_on(h);
    const std::int64_t rented =
        option.gpus[static_cast<std::size_t>(host.replicas - 1)];
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const auto busy =
          std::ranges::lower_bound(option.capacity, load[b]) - option.capacity.begin();
      const std::int64_t replicas = load[b] == 0 ? 0 : busy + 1;
      const std::int64_t idle =
          rented - rented_gpus(replicas, meaning.gpus_per_replica, offer.shape_gpus);
      row.add_gangs(static_cast<std::uint32_t>(std::max<std::int64_t>(0, idle) /
                                               row.gang_gpus()));
    }
    row.set_rented_usd_micro(cheapest(a_.option_of(jobs).commodity));
    return do_jobs(batch, row) ? std::optional(row) : std::nullopt;
  }

  /// Gangs one after the other, until they do all the jobs in time.
  static bool do_jobs(const spec::Batch& batch, plan::Valley& row) {
    const auto work = static_cast<std::int64_t>(
        std::ceil(row.hours_per_job() * static_cast<double>(kHour)));
    for (std::uint32_t gang = 0;; ++gang) {
      std::array<bool, kBlocks> open{};
      for (std::size_t b = 0; b < kBlocks; ++b) {
        open[b] = row.gangs(static_cast<int>(b)) > gang;
      }
      const std::vector<bool> minutes = working_minutes(open);
      const std::int64_t a_day = std::ranges::count(minutes, true);
      if (a_day == 0) return false;
      const double hours =
          static_cast<double>(longest(minutes, work)) / static_cast<double>(kHour);
      if (hours > batch.deadline_hours()) return false;
      row.set_gangs_used(gang + 1);
      row.set_longest_hours(hours);
      row.set_hours_month(row.hours_month() + static_cast<double>(a_day) *
                                                  kHoursPerMonth /
                                                  static_cast<double>(kDay));
      if (row.hours_month() >= row.hours_per_job() * batch.jobs_month()) return true;
    }
  }

  std::int64_t cheapest(int commodity) const {
    std::int64_t least = 0;
    for (const Site& site : a_.built.instance.sites) {
      for (const Option& option : site.options) {
        if (!option.whole || option.commodity != commodity) continue;
        if (least == 0 || option.cost.front() < least) least = option.cost.front();
      }
    }
    return least;
  }

  Filled without(const std::vector<std::pair<int, Filled::Valley>>& filled) const {
    Filled result{a_.solution, {}};
    if (filled.empty()) return result;
    std::vector<int> now(static_cast<std::size_t>(choices()), 0);
    result.solution.choices.clear();
    for (int c = 0; c < choices(); ++c) {
      const bool goes =
          std::ranges::count(filled, c, [](const auto& one) { return one.first; }) > 0;
      now[static_cast<std::size_t>(c)] =
          goes ? -1 : static_cast<int>(result.solution.choices.size());
      if (!goes) result.solution.choices.push_back(choice(c));
    }
    for (Flow& flow : result.solution.flows) {
      flow.choice = now[static_cast<std::size_t>(flow.choice)];
    }
    std::erase_if(result.solution.flows,
                  [](const Flow& flow) { return flow.choice < 0; });
    for (const auto& [c, valley] : filled) {
      result.valleys.push_back(
          {valley.row, now[static_cast<std::size_t>(valley.host)]});
    }
    return result;
  }

  const Assembly& a_;
  std::set<int> taken_;
};

}  // namespace

Filled fill_valleys(const Assembly& a) { return Filling(a).fill(); }

std::optional<std::int64_t> least_host(const Question& question,
                                       const BuiltInstance& built) {
  if (question.demand.populations.empty()) return std::nullopt;
  std::optional<std::int64_t> least;
  for (const Site& site : built.instance.sites) {
    for (const Option& option : site.options) {
      if (!option.whole) continue;
      const OptionMeaning& meaning = built.meaning[option.label];
      const auto& offer = question.site(meaning.site).offers[meaning.offer];
      const std::int64_t cost =
          ((offer.bill_gpu_month + offer.extra_gpu_month) * option.gpus.front())
              .count() +
          site.fixed_cost;
      if (!least || cost < *least) least = cost;
    }
  }
  if (!least) return least;
  for (const auto& [provider, premium] : question.candidates.preference) {
    *least += std::min<std::int64_t>(0, premium.count());
  }
  return least;
}

}  // namespace isochrone::place
