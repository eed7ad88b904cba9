// Fits the step-time coefficients of profiles to closed-loop load tests:
//
//   isochrone_load_fit DATASETS CHUNK_TOKENS PROFILE...
//
// For each profile, the rows of serving_measurements.csv measured with vLLM are run in
// the simulator, starting from the coefficients of step_profiles.csv, and a compass
// search makes mean TPOT (first) and mean TTFT (less) agree. What the rows do not tell
// stays near its start. The result is one row of step_fits.csv a profile, on stdout;
// the errors go to stderr. Takes a minute or so a profile.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/parallel.h"
#include "sim/descent.h"
#include "sim/load_test.h"

namespace isochrone::calibrate {
namespace {

constexpr double kFrontEndMs = 25;
constexpr std::int64_t kSequences = 256;

struct Row {
  sim::LoadTest test;
  double ttft_ms = 0;
  double tpot_ms = 0;
};

// t0, b, c, t0', a, f, b', c', d in ms, and KV blocks.
enum Parameter {
  kT0,
  kB,
  kC,
  kT0Prefill,
  kA,
  kF,
  kBPrefill,
  kCPrefill,
  kD,
  kBlocks,
  kCount
};

/// Load tests say little of small prefill steps: the floor of a step stays between t0
/// and 1.4 t0, and its cache reads cost one to two and a half times those of a decode
/// step.
std::vector<double> bounded(std::vector<double> at) {
  at[kT0Prefill] = std::clamp(at[kT0Prefill], at[kT0], 1.4 * at[kT0]);
  at[kCPrefill] = std::clamp(at[kCPrefill], at[kC], 2.5 * at[kC]);
  at[kF] = std::min(at[kF], at[kT0Prefill]);
  return at;
}

sim::PoolKind kind_of(const std::vector<double>& at, std::int64_t chunk_tokens) {
  const auto ps = [&](Parameter p) { return std::llround(at[p] * 1e9); };
  sim::PoolKind kind;
  kind.batching = sim::BatchingEngine{};
  sim::BatchingEngine& engine = *kind.batching;
  engine.step = {ps(kT0), ps(kB),        ps(kC),        ps(kT0Prefill), ps(kA),
                 ps(kF),  ps(kBPrefill), ps(kCPrefill), ps(kD)};
  engine.kv_blocks = std::llround(at[kBlocks]);
  engine.chunk_tokens = chunk_tokens;
  kind.max_num_seqs = kSequences;
  return kind;
}

struct Errors {
  double ttft = 0, tpot = 0;                // mean of absolute shares
  double ttft_square = 0, tpot_square = 0;  // mean of squared logarithms
};

Errors errors_of(const std::vector<Row>& rows, const sim::PoolKind& kind) {
  const auto results = parallel_map(rows.size(), [&](std::size_t i) {
    return sim::run_load_test(kind, rows[i].test, kFrontEndMs);
  });
  Errors sum;
  const auto count = static_cast<double>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double ttft = results[i].ttft_ms / rows[i].ttft_ms;
    const double tpot = results[i].tpot_ms / rows[i].tpot_ms;
    sum.ttft += std::abs(ttft - 1) / count;
    sum.tpot += std::abs(tpot - 1) / count;
    // A queue that the other has not is one fault, however long it is.
    const double ttft_log = std::clamp(std::log(ttft), -1.5, 1.5);
    sum.ttft_square += ttft_log * ttft_log / count;
    sum.tpot_square += std::log(tpot) * std::log(tpot) / count;
  }
  return sum;
}

std::vector<double> read_start(const std::string& folder, const std::string& profile) {
  const CsvTable table = CsvTable::read(folder + "/step_profiles.csv", {"id"});
  Diagnostics faults;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.text(i, "id") != profile) continue;
    std::vector<double> start;
    for (const char* column : {"t0_ps", "b_ps", "c_ps", "t0_prefill_ps", "a_ps", "f_ps",
                               "b_prefill_ps", "c_prefill_ps", "d_ps"}) {
      // Searches multiply: nothing starts at zero.
      start.push_back(std::max(table.number_in(i, column, 0, 1e15, faults), 10.0) /
                      1e9);
    }
    start[kF] = std::max(start[kF], 0.5);
    start[kB] = std::max(start[kB], 0.002);
    start.push_back(table.number_in(i, "kv_blocks", 1, 1e9, faults));
    faults.throw_if_errors();
    return start;
  }
  throw std::runtime_error(profile + " is no step profile");
}

std::vector<Row> read_rows(const std::string& folder, const std::string& profile) {
  const CsvTable table =
      CsvTable::read(folder + "/serving_measurements.csv",
                     {"profile", "engine", "input_tokens", "output_tokens", "in_flight",
                      "ttft_ms", "tpot_ms"});
  Diagnostics faults;
  const auto whole = [&](std::size_t row, const char* column, double low) {
    return std::llround(table.number_in(row, column, low, 1e6, faults));
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.text(i, "profile") != profile || table.text(i, "engine") != "vLLM") {
      continue;
    }
    rows.push_back({{whole(i, "input_tokens", 1), whole(i, "output_tokens", 2),
                     whole(i, "in_flight", 1)},
                    table.number_in(i, "ttft_ms", 0.1, 1e9, faults),
                    table.number_in(i, "tpot_ms", 0.01, 1e9, faults)});
  }
  faults.throw_if_errors();
  if (rows.empty()) throw std::runtime_error(profile + " has no row of vLLM");
  return rows;
}

void fit(const std::string& folder, std::int64_t chunk_tokens,
         const std::string& profile) {
  const std::vector<Row> rows = read_rows(folder, profile);
  const std::vector<double> start = read_start(folder, profile);
  const auto cost = [&](const std::vector<double>& at) {
    const Errors errors = errors_of(rows, kind_of(bounded(at), chunk_tokens));
    double far = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double log = std::log(at[i] / start[i]);
      far += log * log;
    }
    return errors.tpot_square + errors.ttft_square / 40 + far * 1e-5;
  };
  sim::Descent descent;
  const std::vector<std::vector<std::size_t>> together = {{kT0, kT0Prefill},
                                                          {kA, kF},
                                                          {kC, kCPrefill},
                                                          {kB, kBPrefill},
                                                          {kBlocks},
                                                          {kA},
                                                          {kT0},
                                                          {kC},
                                                          {kB},
                                                          {kF},
                                                          {kT0Prefill},
                                                          {kCPrefill},
                                                          {kBPrefill},
                                                          {kD}};
  for (const auto& parameters : together)
    descent.directions.push_back({parameters, {}});
  descent.last_step = 0.005;
  descent.evaluations = 4000;
  const std::vector<double> x = bounded(sim::minimise(descent, start, cost).at);
  const Errors before = errors_of(rows, kind_of(start, chunk_tokens));
  const Errors after = errors_of(rows, kind_of(x, chunk_tokens));
  std::cerr << fmt::format(
      "{:38} {:2} rows  TPOT {:5.1f} -> {:4.1f} %  TTFT {:6.1f} -> {:4.1f} %\n",
      profile, rows.size(), 100 * before.tpot, 100 * after.tpot, 100 * before.ttft,
      100 * after.ttft);
  std::string key = profile;  // model/gpu/tpN/precision
  key.erase(key.find("/tp") + 1, 2);
  std::ranges::replace(key, '/', ',');
  std::cout << fmt::format(
      "{},step,{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{},{:.1f}"
      "\n",
      key, x[kT0], x[kB], x[kC], x[kA], x[kT0Prefill], x[kF], x[kBPrefill],
      x[kCPrefill], x[kD], std::llround(x[kBlocks]), 100 * after.tpot);
  std::cout.flush();
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 3) {
    std::cerr << "usage: isochrone_load_fit DATASETS CHUNK_TOKENS PROFILE...\n";
    return 2;
  }
  for (std::size_t i = 2; i < words.size(); ++i) {
    fit(words[0], std::stoll(words[1]), words[i]);
  }
  return 0;
}

}  // namespace
}  // namespace isochrone::calibrate

int main(int count, char** values) {
  try {
    return isochrone::calibrate::run({values + 1, values + count});
  } catch (const isochrone::InputError& error) {
    std::cerr << error.what();
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
