#include "sim/calibrate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/parallel.h"
#include "sim/descent.h"
#include "sim/replay.h"
#include "sim/step_parameters.h"

namespace isochrone::sim {
namespace {

constexpr std::size_t kTried = 3;  // of the starts
constexpr double kWork = 2e7;      // simulated requests
constexpr double kTie = 3e-6;      // price of a squared logarithm from the start
// Time to a first token is a step or two where nobody waits, and says little of it.
constexpr double kFirstTokenFloorMs = 50;

// The coefficients of a step, then KV blocks and front end.
constexpr std::size_t kBlocks = kStepParameters;
constexpr std::size_t kFrontEnd = kBlocks + 1;

double squared_log(double simulated, double measured) {
  const double log = std::log(simulated / measured);
  return log * log;
}

double distance_of(const LatencyPair& pair) {
  const double floor = pair.name == "TTFT" ? kFirstTokenFloorMs : 0.001;
  const LatencySummary lived = summarise(pair.simulated_ms);
  const LatencySummary seen = summarise(pair.measured_ms);
  const auto term = [&](double LatencySummary::*value) {
    return squared_log(lived.*value + floor, seen.*value + floor);
  };
  return 3 * term(&LatencySummary::mean) + term(&LatencySummary::p50) / 2 +
         term(&LatencySummary::p90) / 2 + term(&LatencySummary::p99);
}

std::vector<double> origin_of(const ReplayedEngine& engine) {
  std::vector<double> at = parameters_of(engine.kind.batching->step);
  // The search multiplies, so nothing may start at zero.
  for (const auto& [parameter, least] : {std::pair{kB, 1e6},
                                         {kF, 5e8},
                                         {kBPrefill, 1e6},
                                         {kC, 100.},
                                         {kCPrefill, 100.},
                                         {kD, 10.}}) {
    at[parameter] = std::max(at[parameter], least);
  }
  at.push_back(static_cast<double>(engine.kind.batching->kv_blocks));
  at.push_back(std::max(engine.front_end_ms, 0.1));
  return at;
}

ReplayedEngine engine_at(ReplayedEngine engine, const std::vector<double>& at,
                         bool front_end) {
  BatchingEngine& batching = *engine.kind.batching;
  batching.step = step_at(at);
  batching.step.t0_prefill = std::max(batching.step.t0, batching.step.t0_prefill);
  batching.step.c_prefill = std::max(batching.step.c, batching.step.c_prefill);
  batching.kv_blocks = std::llround(at[kBlocks]);
  if (front_end) engine.front_end_ms = at[kFrontEnd];
  return engine;
}

std::vector<Descent::Direction> directions(const Freedom& freedom) {
  std::vector<Descent::Direction> all = {
      {{kT0, kB, kC, kT0Prefill, kA, kF, kBPrefill, kCPrefill, kD}, {}},
      {{kT0, kB, kC}, {}},
      {{kT0Prefill, kA, kF, kBPrefill, kCPrefill, kD}, {}},
      {{kT0, kT0Prefill}, {}},
      {{kC, kCPrefill}, {}},
      {{kB, kBPrefill}, {}},
      {{kA, kF}, {}}};
  for (std::size_t i = 0; i < kStepParameters; ++i) all.push_back({{i}, {}});
  if (freedom.kv_blocks) all.push_back({{kBlocks}, {}});
  if (freedom.front_end) all.push_back({{kFrontEnd}, {}});
  // Valleys run where one coefficient makes up for another.
  for (std::size_t i = 0; i < kStepParameters; ++i) {
    for (std::size_t j = i + 1; j < kStepParameters; ++j) all.push_back({{i}, {j}});
  }
  return all;
}

/// Starts with every budget that is possible, if the log does not say which.
std::vector<ReplayedEngine> with_chunks(std::vector<ReplayedEngine> starts) {
  std::vector<ReplayedEngine> all;
  for (ReplayedEngine& start : starts) {
    for (std::int64_t chunk = 512; chunk <= 16'384; chunk *= 2) {
      if (chunk < start.kind.max_num_seqs) continue;
      start.kind.batching->chunk_tokens = chunk;
      all.push_back(start);
    }
  }
  return all;
}

}  // namespace

double distance(const RequestLog& log, const ReplayedEngine& engine, double from,
                double to) {
  const auto outcomes = replay(engine.kind, 1, log.requests);
  const auto pairs = compare(log, outcomes, engine.front_end_ms, from, to);
  double sum = 0;
  for (const LatencyPair& pair : pairs) {
    if (pair.simulated_ms.empty()) continue;
    sum += distance_of(pair);
  }
  const LatencyPair& e2e = pairs.back();
  double single = 0;
  for (std::size_t i = 0; i < e2e.simulated_ms.size(); ++i) {
    single += squared_log(e2e.simulated_ms[i], e2e.measured_ms[i]);
  }
  return (sum + single / static_cast<double>(e2e.simulated_ms.size())) / 16;
}

ReplayedEngine calibrate(const RequestLog& log, std::vector<ReplayedEngine> starts,
                         Freedom freedom, double from, double to) {
  if (!log.measured) throw std::invalid_argument("a trace has no latency to fit");
  if (starts.empty()) throw std::invalid_argument("a search starts somewhere");
  if (freedom.chunk_tokens) starts = with_chunks(std::move(starts));
  const auto far = parallel_map(
      starts.size(), [&](std::size_t i) { return distance(log, starts[i], from, to); });
  std::vector<std::size_t> order(starts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return far[i]; });
  order.resize(std::min(order.size(), kTried));

  Descent descent;
  descent.directions = directions(freedom);
  const double share = kWork / static_cast<double>(log.requests.size() * order.size());
  descent.evaluations = static_cast<std::size_t>(std::clamp(share, 100., 6000.));
  const auto minima = parallel_map(order.size(), [&](std::size_t i) {
    const ReplayedEngine& start = starts[order[i]];
    const std::vector<double> origin = origin_of(start);
    return minimise(descent, origin, [&](const std::vector<double>& at) {
      double moved = 0;
      for (std::size_t p = 0; p < at.size(); ++p) {
        moved += std::pow(std::log(at[p] / origin[p]), 2);
      }
      return distance(log, engine_at(start, at, freedom.front_end), from, to) +
             kTie * moved;
    });
  });
  std::size_t best = 0;
  for (std::size_t i = 1; i < minima.size(); ++i) {
    if (minima[i].value < minima[best].value) best = i;
  }
  return engine_at(starts[order[best]], minima[best].at, freedom.front_end);
}

}  // namespace isochrone::sim
