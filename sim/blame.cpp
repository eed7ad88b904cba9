#include "sim/blame.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "geo/jitter.h"
#include "sim/instant.h"

namespace isochrone::sim {
namespace {

using Times = std::array<std::int64_t, kCulprits>;

Nanos nanos(Wide ps) { return Nanos{static_cast<std::int64_t>(ps / 1000)}; }

/// Chunk after chunk through the prompt, but for what the prefix cache spares.
Wide prefill_alone_ps(const BatchingEngine& engine, const Work& work,
                      double prefix_hit_share) {
  const std::int64_t prompt = work.prompt;
  const datasets::StepTimes& step = engine.step;
  Wide sum = 0;
  auto done = static_cast<std::int64_t>(prefix_hit_share * static_cast<double>(prompt));
  if (work.cached >= 0) done = work.cached;
  done = std::min(done, prompt - 1);
  while (done < prompt) {
    const std::int64_t chunk = std::min(prompt - done, engine.chunk_tokens);
    sum += std::max(step.t0_prefill, step.a * chunk + step.f);
    sum += Wide{step.d} * (chunk * (2 * done + chunk)) / 2;
    done += chunk;
  }
  return sum;
}

Wide decode_alone_ps(const datasets::StepTimes& step, const Work& work) {
  const std::int64_t steps = work.answer - 1;
  return Wide{steps} * (step.t0 + step.b + step.c * work.prompt) +
         Wide{step.c} * steps * (steps - 1) / 2;
}

Culprit longest(const Times& times) {
  return static_cast<Culprit>(std::max_element(times.begin(), times.end()) -
                              times.begin());
}

/// Zero for the parts that the metric does not contain.
Times within(Objective::Metric metric, Times times) {
  const auto drop = [&](Culprit part) { times[static_cast<std::size_t>(part)] = 0; };
  if (metric == Objective::Metric::kTtft) drop(Culprit::kDecode);
  return times;
}

Times minus(const Times& a, const Times& b) {
  Times difference{};
  for (std::size_t i = 0; i < kCulprits; ++i) difference[i] = a[i] - b[i];
  return difference;
}

}  // namespace

AloneTimes alone(const PoolKind& kind, const Work& work) {
  if (kind.batching) {
    return {nanos(prefill_alone_ps(*kind.batching, work, kind.prefix_hit_share)),
            nanos(decode_alone_ps(kind.batching->step, work))};
  }
  const SlotEngine& slots = *kind.slots;
  if (slots.picos_per_token == 0) return {Nanos{work.service_ns}, Nanos{0}};
  const double prompt_ps = static_cast<double>(work.prompt) *
                           (1 - kind.prefix_hit_share) *
                           static_cast<double>(slots.picos_per_prompt_token);
  return {Nanos{std::llround(prompt_ps / 1000)},
          nanos(Wide{work.answer - 1} * slots.picos_per_token)};
}

Culprit culprit_of(const Objective& objective, const Stream& stream, const Pool& pool,
                   const Work& work, const LatencySplit& latency) {
  if (objective.metric == Objective::Metric::kTpot) return Culprit::kDecode;
  const AloneTimes engine = alone(pool.kind, work);
  const double jitter_ms = stream.access.none() ? geo::backbone_jitter_quantile_ms(0.5)
                                                : geo::jitter_quantile_ms(0.5);
  const double last_mile_ms = stream.access.p50_ms + jitter_ms;
  const Nanos trip = stream.rtt + Nanos{std::llround(last_mile_ms * 1e6)};
  const Nanos outside =
      stream.connection_trips * trip + stream.transfer + pool.front_end;
  const Times usual =
      within(objective.metric,
             {outside.count(), 0, engine.prefill.count(), engine.decode.count()});
  std::int64_t usual_sum = 0;
  for (const std::int64_t part : usual) usual_sum += part;
  if (usual_sum > objective.limit.count()) return longest(usual);
  const Nanos network = latency.ttft() - latency.queue - latency.prefill;
  const Times lived =
      within(objective.metric, {network.count(), latency.queue.count(),
                                latency.prefill.count(), latency.decode.count()});
  return longest(minus(lived, usual));
}

Culprit culprit_of_unfinished(const PoolKind& kind, const Work& work,
                              const Outcome& outcome) {
  const AloneTimes engine = alone(kind, work);
  const Times lived = {0, outcome.assigned_ns - outcome.arrival_ns,
                       outcome.first_ns - outcome.assigned_ns,
                       outcome.last_ns - outcome.first_ns};
  return longest(minus(lived, {0, 0, engine.prefill.count(), engine.decode.count()}));
}

}  // namespace isochrone::sim
