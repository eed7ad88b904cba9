// How long the network takes: every metro to every site, in both regimes; the same with
// a cut, from nothing and from the matrices before it.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "datasets/catalog.h"
#include "geo/network.h"

namespace isochrone::geo {
namespace {

const datasets::Catalog& catalog() {
  static const datasets::Catalog kCatalog =
      datasets::Catalog::load(datasets::default_folder());
  return kCatalog;
}

std::vector<Endpoint> metros() {
  std::vector<Endpoint> ends;
  for (const datasets::Metro& metro : catalog().metros) {
    ends.push_back({metro.name, metro.country, metro.at});
  }
  return ends;
}

std::vector<Endpoint> sites() {
  std::vector<Endpoint> ends;
  for (const datasets::Site& site : catalog().sites) {
    ends.push_back({site.id, site.country, site.at});
  }
  return ends;
}

constexpr Regime kRegimes[] = {Regime::kPublic, Regime::kBackbone};

std::vector<RttMatrix> both_regimes(const NetworkModel& model) {
  std::vector<RttMatrix> matrices;
  for (const Regime regime : kRegimes) {
    matrices.push_back(model.rtts(regime, metros(), sites()));
  }
  return matrices;
}

void count_pairs(benchmark::State& state) {
  state.counters["pairs"] = static_cast<double>(2 * metros().size() * sites().size());
}

void from_nothing(benchmark::State& state, const std::vector<std::string>& cuts) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(both_regimes(NetworkModel(catalog().network, cuts)));
  }
  count_pairs(state);
}

void from_intact(benchmark::State& state, const std::string& cut) {
  const std::vector<RttMatrix> intact = both_regimes(NetworkModel(catalog().network));
  for (auto _ : state) {
    const NetworkModel model(catalog().network, std::span(&cut, 1));
    for (std::size_t i = 0; i < intact.size(); ++i) {
      benchmark::DoNotOptimize(
          model.rtts_from_intact(kRegimes[i], metros(), sites(), intact[i]));
    }
  }
  count_pairs(state);
}

/// CPU is that of all threads, so that it tells something on a busy machine too.
void timed(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}

void BM_full_matrix(benchmark::State& state) { from_nothing(state, {}); }
BENCHMARK(BM_full_matrix)->Apply(timed);

void BM_full_matrix_after_a_cut(benchmark::State& state) {
  from_nothing(state, {"chokepoint/red_sea"});
}
BENCHMARK(BM_full_matrix_after_a_cut)->Apply(timed);

/// The Red Sea touches half of the world's pairs, one cable across the Atlantic few.
void BM_strait_cut_from_intact(benchmark::State& state) {
  from_intact(state, "chokepoint/red_sea");
}
BENCHMARK(BM_strait_cut_from_intact)->Apply(timed);

void BM_cable_cut_from_intact(benchmark::State& state) {
  from_intact(state, "cable/MAREA");
}
BENCHMARK(BM_cable_cut_from_intact)->Apply(timed);

}  // namespace
}  // namespace isochrone::geo

BENCHMARK_MAIN();
