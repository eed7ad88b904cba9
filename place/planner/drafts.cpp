#include "place/planner/drafts.h"

#include <algorithm>

#include "base/parallel.h"

namespace isochrone::place {
namespace {

using scenarios::CandidateId;
using scenarios::Offer;
using scenarios::Population;

/// Largest total load of a workload in any block: no pool needs to carry more.
std::int64_t largest_load(const Question& question, std::size_t workload) {
  std::int64_t largest = 0;
  for (std::size_t block = 0; block < scenarios::kBlocks; ++block) {
    std::int64_t sum = 0;
    for (const Population& p : question.demand.populations) {
      if (p.workload == workload) sum += p.load[block].count();
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Whether reach `a` is at least reach `b` for all users.
bool covers(const Serving::Reached& a, const Serving::Reached& b) {
  return std::ranges::all_of(b, [&](const auto& entry) {
    const auto it = a.find(entry.first);
    return it != a.end() && it->second >= entry.second;
  });
}

Option numbers_of(const Serving& serving, std::size_t level, const Offer& offer,
                  std::int64_t load) {
  const LevelTable& table = serving.levels[level];
  const int per_replica = serving.options[table.option].gpus_per_replica;
  Option option;
  option.commodity = static_cast<int>(serving.workload);
  for (std::int64_t n = 1;; ++n) {
    const std::int64_t gpus = rented_gpus(n, per_replica, offer.shape_gpus);
    if (offer.stock_gpus && gpus > *offer.stock_gpus) break;
    option.gpus.push_back(gpus);
    option.bill.push_back((offer.bill_gpu_month * gpus).count());
    option.cost.push_back(
        ((offer.bill_gpu_month + offer.extra_gpu_month) * gpus).count());
    option.capacity.push_back(table.carries(n).count());
    option.degraded_capacity.push_back(table.degraded_carries(n).count());
    // What carries everything may still carry too little of it after a loss.
    const bool grows = n == 1 || option.degraded_capacity.back() >
                                     option.degraded_capacity[option.cost.size() - 2];
    const bool survives = option.degraded_capacity.back() >= load || !grows;
    if (option.capacity.back() >= load && survives) break;
  }
  return option;
}

/// Whether every size of `b` has a size of `a` that is no dearer, no larger in GPUs and
/// carries no less. Both are non-decreasing in n, so one walk decides.
bool beats_in_numbers(const Option& a, const Option& b) {
  std::size_t i = 0;
  for (std::size_t j = 0; j < b.cost.size(); ++j) {
    while (i < a.cost.size() && (a.capacity[i] < b.capacity[j] ||
                                 a.degraded_capacity[i] < b.degraded_capacity[j])) {
      ++i;
    }
    if (i == a.cost.size() || a.cost[i] > b.cost[j] || a.bill[i] > b.bill[j] ||
        a.gpus[i] > b.gpus[j]) {
      return false;
    }
  }
  return true;
}

/// Drops what another draft beats in reach and in numbers; of equals the first stays.
std::vector<Draft> undominated(const Serving& serving, std::vector<Draft> drafts) {
  std::vector<bool> dropped(drafts.size(), false);
  for (std::size_t b = 0; b < drafts.size(); ++b) {
    for (std::size_t a = 0; a < drafts.size() && !dropped[b]; ++a) {
      if (a == b || dropped[a]) continue;
      const std::size_t la = drafts[a].level;
      const std::size_t lb = drafts[b].level;
      dropped[b] = beats_in_numbers(drafts[a].option, drafts[b].option) &&
                   (la == lb ||
                    (covers(serving.reach[la], serving.reach[lb]) &&
                     covers(serving.degraded_reach[la], serving.degraded_reach[lb])));
    }
  }
  std::vector<Draft> kept;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(drafts[i]));
  }
  return kept;
}

std::vector<Draft> drafts_for(const Question& question, const Serving& serving,
                              const std::vector<Offer>& offers, std::int64_t load) {
  const auto& needs = question.workload(serving.workload).requirements();
  std::vector<Draft> drafts;
  for (std::size_t o = 0; o < offers.size(); ++o) {
    if (!meets(needs, question.catalog.gpus[offers[o].gpu], offers[o])) continue;
    for (std::size_t l = 0; l < serving.levels.size(); ++l) {
      const ServingOption& option = serving.options[serving.levels[l].option];
      if (option.gpu != offers[o].gpu) continue;
      // The GPUs of a replica must talk: they are rented together, in one shape.
      if (option.gpus_per_replica > offers[o].shape_gpus) continue;
      Draft draft{numbers_of(serving, l, offers[o], load), o, l,
                  option.gpus_per_replica};
      if (!draft.option.cost.empty()) drafts.push_back(std::move(draft));
    }
  }
  return undominated(serving, std::move(drafts));
}

/// What decides the drafts of a list of offers: sites with equal lists share them.
std::vector<std::int64_t> key_of(const std::vector<Offer>& offers) {
  std::vector<std::int64_t> key;
  for (const Offer& o : offers) {
    key.insert(key.end(), {static_cast<std::int64_t>(o.gpu.value), o.shape_gpus,
                           o.bill_gpu_month.count(), o.extra_gpu_month.count(),
                           o.stock_gpus.value_or(-1), o.infiniband ? 1 : 0});
  }
  return key;
}

}  // namespace

Drafts::Drafts(const Question& question, const std::vector<Serving>& servings) {
  const auto offers_of = [&](std::size_t site) -> const std::vector<Offer>& {
    return question.candidates.sites[CandidateId{static_cast<std::uint32_t>(site)}]
        .offers;
  };
  std::map<std::pair<std::size_t, std::vector<std::int64_t>>, std::size_t> known;
  std::vector<std::pair<std::size_t, std::size_t>> work;  // serving, site
  for (std::size_t w = 0; w < servings.size(); ++w) {
    for (std::size_t s = 0; s < question.candidates.sites.size(); ++s) {
      const auto [it, fresh] =
          known.try_emplace({w, key_of(offers_of(s))}, work.size());
      if (fresh) work.emplace_back(w, s);
      index_[{w, s}] = it->second;
    }
  }
  std::vector<std::int64_t> load;
  for (const Serving& serving : servings) {
    load.push_back(largest_load(question, serving.workload));
  }
  drafts_ = parallel_map(work.size(), [&](std::size_t i) {
    const auto [w, s] = work[i];
    return drafts_for(question, servings[w], offers_of(s), load[w]);
  });
}

std::int64_t rented_gpus(std::int64_t replicas, int gpus_per_replica, int shape_gpus) {
  const std::int64_t needed = replicas * gpus_per_replica;
  return (needed + shape_gpus - 1) / shape_gpus * shape_gpus;
}

}  // namespace isochrone::place
