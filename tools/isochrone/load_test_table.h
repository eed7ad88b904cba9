#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "datasets/catalog.h"
#include "sim/load_test.h"

namespace isochrone::tools {

/// One measured closed-loop load test.
struct MeasuredLoadTest {
  std::string profile;  ///< id of a step profile, which need not exist
  std::string engine;   ///< vLLM, ...; may be empty
  sim::LoadTest test;
  double ttft_ms = 0;
  double tpot_ms = 0;
};

/// The table of a file of load tests: CSV with a column in_flight or concurrency;
/// nullopt for any other file. Throws InputError for a CSV that cannot be read.
std::optional<CsvTable> load_test_table(const std::string& path);

/// Columns: input_tokens | isl, output_tokens | osl, in_flight | concurrency, ttft_ms |
/// silicon_ttft_ms, tpot_ms | silicon_tpot_ms, engine | backend; and the profile, as
/// `profile`, or as model_path, system (h100_sxm), tp_size and precision (empty: bf16)
/// of AIConfigurator's tables, of which only rows of mode agg are read. Throws
/// InputError.
std::vector<MeasuredLoadTest> read_load_tests(const CsvTable& table,
                                              const datasets::Catalog& catalog);

}  // namespace isochrone::tools
