#include "place/plan_file/levels.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace isochrone::place {
namespace {

/// Of a table at the last of its sizes that is not above n, by the first one below.
std::int64_t carries(const plan::Table& table, std::int64_t n) {
  std::int64_t capacity = 0;
  for (int i = 0; i < std::min(table.replicas_size(), table.capacity_size()); ++i) {
    if (i == 0 || table.replicas(i) <= n) capacity = table.capacity(i);
  }
  return capacity;
}

class OneLevel {
 public:
  OneLevel(const plan::Plan& plan, const std::string& workload) : plan_(plan) {
    for (int p = 0; p < plan.pools_size(); ++p) {
      const plan::Pool& pool = plan.pools(p);
      const bool known =
          pool.table() < static_cast<std::uint32_t>(plan.tables_size()) &&
          pool.profile() != "batch";
      if (pool.workload() == workload && known) pools_.push_back(p);
    }
    for (const int p : pools_) {
      batches_.insert(plan.pools(p).max_num_seqs());
      waits_.insert(plan.pools(p).wait_budget_ms());
      profiles_.insert(plan.pools(p).profile());
    }
  }

  std::string text(const std::string& workload) const {
    if (pools_.size() < 2 || (batches_.size() > 1 && waits_.size() > 1)) return "";
    std::string level;
    if (batches_.size() == 1) level = fmt::format("batch {}", *batches_.begin());
    if (waits_.size() == 1) {
      level += fmt::format("{}a wait of {:g} ms", level.empty() ? "" : " and ",
                           *waits_.begin());
    }
    return fmt::format("\nall {} pools of {} stand at {}: {}\n", pools_.size(),
                       workload, level, reasons(count()));
  }

 private:
  struct Others {
    int less = 0;
    int nearer = 0;
    int equal = 0;
  };

  std::string reasons(const Others& others) const {
    const int all = others.less + others.nearer + others.equal;
    if (all == 0) return "the tables of their profiles hold no other level";
    std::vector<std::string> parts;
    if (others.less > 0) {
      parts.push_back(fmt::format("{} carry less in each of them", others.less));
    }
    if (others.nearer > 0) {
      parts.push_back(fmt::format(
          "{} carry more but do not reach all whom these pools serve, up to "
          "{:.0f} ms away",
          others.nearer, static_cast<double>(furthest_us()) / 1e3));
    }
    if (others.equal > 0) {
      parts.push_back(fmt::format(
          "{} carry as much and reach them, but saved nothing in the search",
          others.equal));
    }
    return fmt::format("of {} other levels of their profiles {}", all,
                       fmt::join(parts, "; "));
  }

  Others count() const {
    Others others;
    const plan::Table& own = table_of(pools_.front());
    for (const plan::Table& table : plan_.tables()) {
      const bool same =
          (batches_.size() > 1 || table.max_num_seqs() == own.max_num_seqs()) &&
          (waits_.size() > 1 || table.wait_budget_ms() == own.wait_budget_ms());
      if (table.workload() != own.workload() || !profiles_.contains(table.profile()) ||
          same) {
        continue;
      }
      bool more = false;
      bool reaches = false;
      for (const int p : pools_) {
        if (plan_.pools(p).profile() != table.profile() || !carries_more(table, p)) {
          continue;
        }
        more = true;
        reaches = reaches || reaches_all(table, p);
      }
      ++(!more ? others.less : reaches ? others.equal : others.nearer);
    }
    return others;
  }

  const plan::Table& table_of(int pool) const {
    return plan_.tables(static_cast<int>(plan_.pools(pool).table()));
  }

  bool carries_more(const plan::Table& table, int pool) const {
    const std::int64_t n = plan_.pools(pool).replicas();
    return carries(table, n) >= carries(table_of(pool), n);
  }

  bool reaches_all(const plan::Table& table, int pool) const {
    std::map<std::pair<std::string, std::string>, std::int64_t> reach;
    for (const plan::Reach& row : table.reach()) {
      reach[{row.demand(), row.country()}] = row.rtt_us();
    }
    return std::ranges::all_of(plan_.assignments(), [&](const plan::Assignment& a) {
      if (static_cast<int>(a.pool()) != pool) return true;
      const auto found = reach.find({a.demand(), a.country()});
      return found != reach.end() && a.rtt_us() <= found->second;
    });
  }

  std::int64_t furthest_us() const {
    std::int64_t furthest = 0;
    for (const plan::Assignment& a : plan_.assignments()) {
      if (std::ranges::count(pools_, static_cast<int>(a.pool())) > 0) {
        furthest = std::max(furthest, a.rtt_us());
      }
    }
    return furthest;
  }

  const plan::Plan& plan_;
  std::vector<int> pools_;
  std::set<std::int64_t> batches_;
  std::set<double> waits_;
  std::set<std::string> profiles_;
};

}  // namespace

std::string one_level(const plan::Plan& plan) {
  std::set<std::string> workloads;
  for (const plan::Pool& pool : plan.pools()) workloads.insert(pool.workload());
  std::string out;
  for (const std::string& workload : workloads) {
    out += OneLevel(plan, workload).text(workload);
  }
  return out;
}

}  // namespace isochrone::place
