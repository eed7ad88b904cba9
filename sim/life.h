#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/autoscaler.h"
#include "sim/blame.h"
#include "sim/deployment.h"
#include "sim/elastic_pool.h"
#include "sim/histogram.h"

namespace isochrone::sim {

/// What a pool goes through in whole days: the question of a what-if.
struct LifeSettings {
  int days = 1;     ///< lived one after the other, after an hour that warms up
  double load = 1;  ///< times the loads of the deployment
  /// Conversations: mean number of requests (geometric) and mean pause (exponential)
  /// between an answer and the next. Turns come to the pool of their conversation.
  double turns = 1;
  double think_s = 0;
  /// Share of its prompt that each turn after the first finds in the prefix cache;
  /// the first finds the hit share of the pool.
  double later_hit_share = 0;
  int retries = 0;  ///< after being turned away or losing patience
  Nanos retry_pause = std::chrono::seconds{1};
  double interruptions_per_replica_day = 0;
  ElasticSettings elastic;
  Autoscaler
      scaler;  ///< begins with `replicas` of the pool, or `least` if nothing scales
  std::uint64_t seed = 42;
};

/// Where all requests and tokens went. Holds at the end of a life:
/// asked = served + lost, offered = asked + retried + resent,
/// offered = served + turned_away + left + interrupted.
struct LifeCounts {
  std::uint64_t asked = 0;        ///< that clients wanted, all turns
  std::uint64_t served = 0;       ///< to the last token
  std::uint64_t lost = 0;         ///< given up for good
  std::uint64_t offered = 0;      ///< to the pool
  std::uint64_t turned_away = 0;  ///< by the admission limit
  std::uint64_t left = 0;         ///< patience ended in the queue
  std::uint64_t interrupted = 0;  ///< lost with a replica
  std::uint64_t retried = 0;
  std::uint64_t resent = 0;  ///< each interrupted one once
  std::uint64_t replicas_lost = 0;
  std::uint64_t preempted = 0;  ///< of the served, at least once
  std::int64_t answer_tokens_asked = 0;
  std::int64_t answer_tokens_served = 0;
  std::int64_t answer_tokens_lost = 0;  ///< of requests that were given up
  std::int64_t kv_blocks_missing = 0;   ///< when all is over: 0, or blocks were leaked
};

/// One objective of the pool, over the requests asked for in the measured days.
struct ObjectiveLife {
  Objective objective;
  std::uint64_t requests = 0;
  std::uint64_t kept = 0;
  std::array<std::uint64_t, kCulprits> charged{};
  std::vector<double> share_by_day;
  std::vector<double> percentile_by_day;  ///< ns
  std::array<std::uint64_t, scenarios::kBlocks> requests_by_block{};
  std::array<std::uint64_t, scenarios::kBlocks> kept_by_block{};
  Histogram values;  ///< ns, of the served

  double attained() const;
  /// The metric at the objective's percentile, in ns: the mean of the days.
  double at_percentile() const;
  /// Half widths of the two-sided 95 % intervals of both, from the days, each day a
  /// batch (Student's t); infinite if there is only one.
  double half_width() const;
  double percentile_half_width() const;
};

/// Turns 1, 2, 3 and all later ones of the conversations.
struct TurnLife {
  std::uint64_t requests = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;
  Histogram ttft;  ///< queue and prefill, ns
};

struct Life {
  LifeCounts counts;  ///< with the warm-up
  std::vector<ObjectiveLife> objectives;
  std::array<TurnLife, 4> turns;
  /// Paid replicas over the measured days, from 0 on, and their exact integral.
  std::vector<ElasticPool::Paid> paid;
  std::int64_t measured_ns = 0;
  std::int64_t replica_ns = 0;
};

/// Lives through the pool alone. Deterministic; the arrivals of first turns depend on
/// seed and loads only, so two settings are compared on the same traffic. Throws
/// std::invalid_argument for a pool without a batching engine and for impossible
/// settings.
Life live_through_days(const Deployment& deployment, PoolId pool,
                       const LifeSettings& settings);

/// Integral of `of(replicas)` over time, in the unit of `of` times ns: exact.
template <class Of>
std::int64_t integral(const std::vector<ElasticPool::Paid>& paid, std::int64_t end_ns,
                      Of&& of) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < paid.size(); ++i) {
    const std::int64_t until = i + 1 < paid.size() ? paid[i + 1].from_ns : end_ns;
    sum += (until - paid[i].from_ns) * of(paid[i].replicas);
  }
  return sum;
}

}  // namespace isochrone::sim
