#include "sim/replay.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/pool.h"

namespace isochrone::sim {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

double quantile_of(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - std::floor(at));
}

template <class Pool>
void collect(Pool& pool, std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : pool.finished()) outcomes[outcome.tag] = outcome;
  pool.finished().clear();
}

/// Offers every request; some are still under way at the end.
template <class Pool>
std::vector<Outcome> live_through(Pool& pool, const PoolKind& kind,
                                  const std::vector<LoggedRequest>& requests) {
  const std::int64_t limit = token_limit(kind);
  std::vector<Outcome> outcomes(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const LoggedRequest& one = requests[i];
    pool.offer({i, one.arrival_ns, fitted(one.prompt, one.answer, limit)});
    collect(pool, outcomes);
  }
  return outcomes;
}

}  // namespace

PoolKind with_settings(PoolKind kind, const EngineSettings& settings) {
  if (!kind.batching) throw std::invalid_argument("a replay needs a batching engine");
  BatchingEngine& engine = *kind.batching;
  kind.max_num_seqs = settings.max_num_seqs.value_or(kind.max_num_seqs);
  engine.chunk_tokens = settings.chunk_tokens.value_or(engine.chunk_tokens);
  engine.kv_blocks = settings.kv_blocks.value_or(engine.kv_blocks);
  engine.kv_block_tokens = settings.kv_block_tokens.value_or(engine.kv_block_tokens);
  engine.plans_ahead = settings.plans_ahead.value_or(engine.plans_ahead);
  engine.reserves_prompt = settings.reserves_prompt.value_or(engine.reserves_prompt);
  engine.keeps_blocks = settings.keeps_blocks.value_or(engine.keeps_blocks);
  return kind;
}

std::vector<Outcome> replay(const PoolKind& kind, std::int64_t replicas,
                            const std::vector<LoggedRequest>& requests) {
  PoolRun pool(kind, replicas);
  auto outcomes = live_through(pool, kind, requests);
  while (pool.run_next()) {
  }
  collect(pool, outcomes);
  return outcomes;
}

std::vector<Outcome> replay_routed(const PoolKind& kind, std::int64_t replicas,
                                   Routing routing, std::int64_t age_ns,
                                   std::uint64_t seed,
                                   const std::vector<LoggedRequest>& requests) {
  RoutedRun pool(kind, replicas, routing, age_ns, seed);
  auto outcomes = live_through(pool, kind, requests);
  pool.finish();
  collect(pool, outcomes);
  return outcomes;
}

LatencySummary summarise(std::vector<double> values_ms) {
  LatencySummary summary;
  if (values_ms.empty()) return summary;
  for (const double value : values_ms) summary.mean += value;
  summary.mean /= static_cast<double>(values_ms.size());
  std::ranges::sort(values_ms);
  summary.p50 = quantile_of(values_ms, .5);
  summary.p90 = quantile_of(values_ms, .9);
  summary.p99 = quantile_of(values_ms, .99);
  return summary;
}

std::vector<LatencyPair> compare(const RequestLog& log,
                                 const std::vector<Outcome>& outcomes,
                                 double front_end_ms, double from, double to) {
  LatencyPair ttft{"TTFT", {}, {}}, tpot{"TPOT", {}, {}}, e2e{"E2E", {}, {}};
  const auto count = static_cast<double>(log.requests.size());
  const auto first = static_cast<std::size_t>(std::llround(from * count));
  const auto last = static_cast<std::size_t>(std::llround(to * count));
  for (std::size_t i = first; i < last && i < log.requests.size(); ++i) {
    const LoggedRequest& seen = log.requests[i];
    const Outcome& lived = outcomes[i];
    const auto steps = static_cast<double>(lived.answer - 1);
    ttft.simulated_ms.push_back(ms(lived.first_ns - lived.arrival_ns) + front_end_ms);
    e2e.simulated_ms.push_back(ms(lived.last_ns - lived.arrival_ns) + front_end_ms);
    if (steps > 0) {
      tpot.simulated_ms.push_back(ms(lived.last_ns - lived.first_ns) / steps);
    }
    if (!log.measured) continue;
    ttft.measured_ms.push_back(ms(seen.first_ns - seen.arrival_ns));
    e2e.measured_ms.push_back(ms(seen.last_ns - seen.arrival_ns));
    if (steps > 0) tpot.measured_ms.push_back(ms(seen.last_ns - seen.first_ns) / steps);
  }
  return {ttft, tpot, e2e};
}

}  // namespace isochrone::sim
