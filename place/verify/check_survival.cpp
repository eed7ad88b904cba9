#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/verify/checks.h"
#include "place/verify/max_flow.h"

namespace isochrone::verify {
namespace {

using scenarios::CandidateSite;
using scenarios::kBlocks;
using scenarios::Population;
using scenarios::PopulationId;

/// A population with what of it is served, and the pools that may take it in a loss.
struct Served {
  PopulationId id;
  std::array<std::int64_t, kBlocks> load{};
  std::vector<std::size_t> pools;
};

struct Loss {
  std::string element;
  std::size_t block = 0;
};

class SurvivalCheck {
 public:
  SurvivalCheck(const Facts& facts, Faults& faults)
      : facts_(facts),
        faults_(faults),
        survive_(facts.scenario.spec.resilience().survive()) {}

  void run() {
    if (survive_.empty() || survive_ == "none") return;
    collect_pools();
    collect_served();
    std::vector<Loss> losses;
    for (const std::string& element : elements_) {
      for (std::size_t b = 0; b < kBlocks; ++b) losses.push_back({element, b});
    }
    const auto messages = parallel_map(
        losses.size(), [&](std::size_t i) { return shortfall(losses[i]); });
    // One block per element says enough.
    std::set<std::string> told;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (messages[i].empty() || !told.insert(losses[i].element).second) continue;
      faults_.add("survival", messages[i]);
    }
  }

 private:
  void collect_pools() {
    for (const plan::Pool& pool : facts_.plan.pools()) {
      const CandidateSite* site = facts_.site_of(pool);
      element_of_pool_.push_back(
          site == nullptr ? "" : loss_element(facts_.scenario, *site));
      if (site != nullptr && pool.profile() != "batch") {
        elements_.insert(element_of_pool_.back());
      }
    }
  }

  void collect_served() {
    std::map<PopulationId, std::int64_t> unserved;
    for (const plan::Unserved& left : facts_.plan.unserved()) {
      const auto id = facts_.population(left.demand(), left.metro());
      if (id) unserved[*id] += left.share_ppb();
    }
    for (std::uint32_t i = 0; i < facts_.demand.populations.size(); ++i) {
      const Population& population = facts_.demand.populations[PopulationId{i}];
      Served served{PopulationId{i}, {}, pools_within_reach(PopulationId{i})};
      const std::int64_t share = kWholeShare - unserved[PopulationId{i}];
      for (std::size_t b = 0; b < kBlocks; ++b) {
        served.load[b] = static_cast<std::int64_t>(Wide{population.load[b].count()} *
                                                   share / kWholeShare);
      }
      served_.push_back(std::move(served));
    }
  }

  std::vector<std::size_t> pools_within_reach(PopulationId id) const {
    const Population& population = facts_.demand.populations[id];
    std::vector<std::size_t> within;
    for (int p = 0; p < facts_.plan.pools_size(); ++p) {
      const plan::Pool& pool = facts_.plan.pools(p);
      const CandidateSite* site = facts_.site_of(pool);
      const plan::Table* table = facts_.table(pool);
      if (site == nullptr || table == nullptr ||
          pool.workload() != facts_.workload(population).name() ||
          !facts_.lawful(population, *site)) {
        continue;
      }
      const std::int64_t rtt = facts_.rtt(id, *site).rtt.count();
      const bool near = facts_.best_effort_us(id) >= 0 ||
                        std::ranges::any_of(table->reach(), [&](const plan::Reach& r) {
                          return r.demand() == facts_.entry_name(population) &&
                                 r.country() == population.endpoint.country.text() &&
                                 rtt <= r.degraded_rtt_us();
                        });
      if (near) within.push_back(static_cast<std::size_t>(p));
    }
    return within;
  }

  /// "" if all that is served finds a place among the pools that are left.
  std::string shortfall(const Loss& loss) const {
    const std::size_t pools = element_of_pool_.size();
    const std::size_t source = pools + served_.size();
    const std::size_t sink = source + 1;
    MaxFlow flow(sink + 1);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < served_.size(); ++i) {
      const std::int64_t load = served_[i].load[loss.block];
      total += load;
      flow.add_arc(source, pools + i, load);
      for (const std::size_t p : served_[i].pools) {
        if (element_of_pool_[p] != loss.element) flow.add_arc(pools + i, p, load);
      }
    }
    for (std::size_t p = 0; p < pools; ++p) {
      if (element_of_pool_[p] == loss.element) continue;
      flow.add_arc(p, sink, facts_.plan.pools(static_cast<int>(p)).degraded_capacity());
    }
    const std::int64_t routed = flow.run(source, sink);
    if (routed == total) return "";
    std::string cut;
    int named = 0;
    for (std::size_t i = 0; i < served_.size(); ++i) {
      if (served_[i].load[loss.block] == 0 || !flow.on_source_side(pools + i)) continue;
      if (++named <= 3) {
        cut += (named > 1 ? ", " : "") + facts_.demand.populations[served_[i].id].metro;
      }
    }
    return fmt::format(
        "without {} {} {} of {} micro-rps find no place in block {} ({}{})", survive_,
        loss.element, total - routed, total, loss.block, cut,
        named > 3 ? fmt::format(" and {} more", named - 3) : "");
  }

  const Facts& facts_;
  Faults& faults_;
  std::string survive_;
  std::vector<std::string> element_of_pool_;
  std::set<std::string> elements_;
  std::vector<Served> served_;
};

}  // namespace

void check_survival(const Facts& facts, Faults& faults) {
  SurvivalCheck(facts, faults).run();
}

void check_unserved(const Facts& facts, Faults& faults) {
  std::vector<double> left_out(
      static_cast<std::size_t>(facts.scenario.spec.demand_size()), 0);
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < facts.plan.unserved_size(); ++i) {
    const plan::Unserved& claimed = facts.plan.unserved(i);
    const std::string where = fmt::format("unserved[{}]", i);
    const auto id = facts.population(claimed.demand(), claimed.metro());
    if (!id) {
      faults.add(where + ".metro",
                 fmt::format("the scenario has no users of \"{}\" in {}",
                             claimed.demand(), claimed.metro()));
      continue;
    }
    if (!seen.insert({claimed.demand(), claimed.metro()}).second) {
      faults.add(where, "the same users twice");
    }
    const Population& population = facts.demand.populations[*id];
    if (claimed.share_ppb() == 0 || claimed.share_ppb() > kWholeShare) {
      faults.add(where + ".share_ppb", "it is no share");
    }
    const double users = population.users * claimed.share_ppb() / 1e9;
    faults.near(where + ".users", claimed.users(), users, 1e-6 * std::max(1.0, users));
    faults.equal(where + ".usd_micro", claimed.usd_micro(),
                 unserved_price(facts, *id, claimed.share_ppb()));
    if (claimed.because().empty()) faults.add(where + ".because", "no reason is given");
    left_out[population.entry] += users;
  }
  for (std::size_t e = 0; e < left_out.size(); ++e) {
    const spec::Demand& entry = facts.scenario.spec.demand(static_cast<int>(e));
    double users = 0;
    for (const Population& population : facts.demand.populations) {
      if (population.entry == e) users += population.users;
    }
    const double coverage = entry.has_coverage() ? entry.coverage() : 1;
    const double allowed = users * (1 - coverage);
    if (left_out[e] > allowed + 1e-6 * users) {
      faults.add("unserved",
                 fmt::format("{:.1f} users of \"{}\" are left out, {:.1f} may be",
                             left_out[e], entry.name(), allowed));
    }
  }
}

}  // namespace isochrone::verify
