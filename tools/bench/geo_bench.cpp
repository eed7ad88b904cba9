// How long the network takes: every metro to every site, in both regimes, and the same
// again after a cut.

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

void both_regimes(benchmark::State& state, const std::vector<std::string>& cuts) {
  const std::vector<Endpoint> from = metros();
  const std::vector<Endpoint> to = sites();
  for (auto _ : state) {
    const NetworkModel model(catalog().network, cuts);
    for (const Regime regime : {Regime::kPublic, Regime::kBackbone}) {
      benchmark::DoNotOptimize(model.rtts(regime, from, to).at(0, 0));
    }
  }
  state.counters["pairs"] = static_cast<double>(2 * from.size() * to.size());
}

void BM_full_matrix(benchmark::State& state) { both_regimes(state, {}); }
BENCHMARK(BM_full_matrix)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_full_matrix_after_a_cut(benchmark::State& state) {
  both_regimes(state, {"chokepoint/red_sea"});
}
BENCHMARK(BM_full_matrix_after_a_cut)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace isochrone::geo

BENCHMARK_MAIN();
