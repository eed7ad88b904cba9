#include "sim/load_test.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/pool.h"

namespace isochrone::sim {
namespace {

constexpr std::int64_t kRounds = 10;
constexpr double kSpread = 0.1;

struct Coming {
  std::int64_t ns = 0;
  std::uint64_t tag = 0;
};

bool later(const Coming& a, const Coming& b) {
  return a.ns != b.ns ? a.ns > b.ns : a.tag > b.tag;
}

/// Golden-section sequence: as even as a sequence of any length can be.
std::int64_t spread_length(std::int64_t mean, std::uint64_t tag) {
  const double turns = static_cast<double>(tag) * 0.6180339887498949;
  const double u = turns - std::floor(turns);
  const double length = static_cast<double>(mean) * (1 + kSpread * (2 * u - 1));
  return std::max<std::int64_t>(2, std::llround(length));
}

}  // namespace

LoadTestResult run_load_test(const PoolKind& kind, const LoadTest& test,
                             double front_end_ms) {
  PoolRun pool(kind, 1);
  const std::int64_t limit = token_limit(kind);
  const std::int64_t prompt = std::min(test.input, limit - 2);
  const auto requests = static_cast<std::uint64_t>(kRounds * test.in_flight);
  const auto front_end_ns = std::llround(front_end_ms * 1e6);
  std::vector<Coming> coming;
  std::uint64_t next = 0;
  const auto send_at = [&](std::int64_t ns) {
    if (next == requests) return;
    coming.push_back({ns + front_end_ns, next++});
    std::push_heap(coming.begin(), coming.end(), later);
  };
  for (std::int64_t i = 0; i < test.in_flight; ++i) send_at(0);

  LoadTestResult sum;
  for (std::uint64_t ended = 0; ended < requests;) {
    if (!coming.empty() && coming.front().ns <= pool.next_boundary_ns()) {
      std::pop_heap(coming.begin(), coming.end(), later);
      const Coming arrival = coming.back();
      coming.pop_back();
      const std::int64_t answer = spread_length(test.output, arrival.tag);
      pool.offer({arrival.tag, arrival.ns, fitted(prompt, answer, limit)});
    } else {
      pool.run_next();
    }
    for (const Outcome& outcome : pool.finished()) {
      ++ended;
      sum.ttft_ms += static_cast<double>(outcome.first_ns - outcome.arrival_ns) / 1e6;
      sum.tpot_ms += static_cast<double>(outcome.last_ns - outcome.first_ns) / 1e6 /
                     static_cast<double>(outcome.answer - 1);
      send_at(outcome.last_ns);
    }
    pool.finished().clear();
  }
  const auto count = static_cast<double>(requests);
  return {sum.ttft_ms / count + front_end_ms, sum.tpot_ms / count};
}

}  // namespace isochrone::sim
