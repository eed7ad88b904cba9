// End-to-end speed and memory of the simulator:
//
//   sim_throughput REPLICAS REQUESTS [THREADS]
//
// THREADS independent pools of REPLICAS replicas share the REQUESTS. Prints requests
// per second of wall clock and of CPU, peak memory, and percentiles that say what was
// run.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/parallel.h"
#include "tools/bench/serving_pool.h"

namespace {

double cpu_seconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

}  // namespace

int main(int count, char** words) {
  using namespace isochrone;
  if (count != 3 && count != 4) {
    std::cerr << "usage: sim_throughput REPLICAS REQUESTS [THREADS]\n";
    return 2;
  }
  const std::int64_t replicas = std::stoll(words[1]);
  const std::uint64_t requests = std::stoull(words[2]);
  const std::size_t threads = count == 4 ? std::stoull(words[3]) : 1;
  set_thread_count(threads);

  const auto begin = std::chrono::steady_clock::now();
  const auto pools = parallel_map(threads, [&](std::size_t i) {
    auto pool = std::make_unique<bench::ServingPool>(replicas, i + 1);
    pool->run(requests / threads);
    pool->finish();
    return pool;
  });
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::vector<sim::WeightedHistogram> ttft, tpot, e2e;
  std::uint64_t tokens = 0, ended = 0;
  for (const auto& pool : pools) {
    ttft.push_back({&pool->ttft_us(), 1});
    tpot.push_back({&pool->tpot_us(), 1});
    e2e.push_back({&pool->e2e_us(), 1});
    tokens += pool->tokens();
    ended += pool->e2e_us().count();
  }
  const auto done = static_cast<double>(ended);
  const auto ms = [](const auto& parts, double p) {
    return static_cast<double>(sim::quantile(parts, p)) / 1000;
  };
  fmt::print(
      "{} replicas, {} requests, {} tokens, {} threads\n"
      "{:.0f} requests/s, {:.0f} per CPU second, {:.1f} MB peak\n"
      "p50/p99 ms: TTFT {:.1f}/{:.1f}, TPOT {:.2f}/{:.2f}, E2E {:.0f}/{:.0f}\n",
      replicas, ended, tokens, threads, done / wall.count(), done / cpu_seconds(usage),
      static_cast<double>(usage.ru_maxrss) / 1024, ms(ttft, .5), ms(ttft, .99),
      ms(tpot, .5), ms(tpot, .99), ms(e2e, .5), ms(e2e, .99));
  return 0;
}
