// Speed of the simulator's inner loops: sim_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include "sim/load_test.h"
#include "tools/bench/serving_pool.h"

namespace isochrone::bench {
namespace {

void BM_pool(benchmark::State& state) {
  ServingPool pool(state.range(0), 1);
  pool.run(20'000);  // past the warm-up and all allocations
  constexpr std::uint64_t kRequests = 50'000;
  for (auto _ : state) pool.run(kRequests);
  state.counters["requests/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kRequests, benchmark::Counter::kIsRate);
}
BENCHMARK(BM_pool)->Arg(1)->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

void BM_load_test(benchmark::State& state) {
  const sim::PoolKind kind = sim::serving_kind();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        sim::run_load_test(kind, {1024, 1024, state.range(0)}, 25));
  }
}
BENCHMARK(BM_load_test)->Arg(8)->Arg(64)->Unit(benchmark::kMicrosecond);

void BM_histogram_add(benchmark::State& state) {
  sim::Histogram histogram;
  Rng rng(1);
  for (auto _ : state) {
    histogram.add(static_cast<std::int64_t>(rng.below(1'000'000)));
  }
}
BENCHMARK(BM_histogram_add);

}  // namespace
}  // namespace isochrone::bench

BENCHMARK_MAIN();
