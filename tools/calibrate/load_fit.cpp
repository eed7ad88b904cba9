// Fits the step-time coefficients of profiles to closed-loop load tests:
//
//   isochrone_load_fit DATASETS CHUNK_TOKENS [--leave-one-out] PROFILE...
//
// For each profile, the rows of serving_measurements.csv measured with vLLM are run in
// the simulator, starting from the coefficients of step_profiles.csv, and a compass
// search makes mean TPOT (first) and mean TTFT (less) agree. What the rows do not tell
// stays near its start. The result is one row of step_fits.csv a profile, on stdout;
// the errors go to stderr. Takes a minute or so a profile. With --leave-one-out each
// row is also forecast by a fit of the others; the mean of these errors, which is no
// error of fit, is then the one that the row of step_fits.csv claims.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "datasets/catalog.h"
#include "sim/descent.h"
#include "sim/step_parameters.h"
#include "tools/calibrate/program.h"
#include "tools/isochrone/load_test_table.h"

namespace isochrone::calibrate {
namespace {

constexpr double kFrontEndMs = 25;
constexpr std::int64_t kSequences = 256;

using tools::MeasuredLoadTest;

// The coefficients of a step, in ms here, then KV blocks.
using enum sim::StepParameter;
constexpr std::size_t kBlocks = kStepParameters;

/// Load tests say little of small prefill steps: the floor of a step stays between t0
/// and 1.4 t0, and its cache reads cost one to two and a half times those of a decode
/// step.
std::vector<double> bounded(std::vector<double> at) {
  at[kT0Prefill] = std::clamp(at[kT0Prefill], at[kT0], 1.4 * at[kT0]);
  at[kCPrefill] = std::clamp(at[kCPrefill], at[kC], 2.5 * at[kC]);
  at[kF] = std::min(at[kF], at[kT0Prefill]);
  return at;
}

sim::PoolKind kind_of(std::vector<double> at, std::int64_t chunk_tokens) {
  for (std::size_t p = 0; p < kStepParameters; ++p) at[p] *= 1e9;
  sim::PoolKind kind;
  kind.batching = sim::BatchingEngine{};
  kind.batching->step = sim::step_at(at);
  kind.batching->kv_blocks = std::llround(at[kBlocks]);
  kind.batching->chunk_tokens = chunk_tokens;
  kind.max_num_seqs = kSequences;
  return kind;
}

struct Errors {
  double ttft = 0, tpot = 0;                // mean of absolute shares
  double ttft_square = 0, tpot_square = 0;  // mean of squared logarithms
};

Errors errors_of(const std::vector<MeasuredLoadTest>& rows, const sim::PoolKind& kind) {
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

std::vector<double> start_of(const datasets::Catalog& catalog, const std::string& id) {
  const auto found =
      std::ranges::find(catalog.profiles, id, &datasets::StepProfile::id);
  if (found == catalog.profiles.end()) {
    throw std::invalid_argument(id + " is no step profile");
  }
  std::vector<double> start = sim::parameters_of(found->step);
  // Searches multiply: nothing starts at zero.
  for (double& parameter : start) parameter = std::max(parameter, 10.0) / 1e9;
  start[kF] = std::max(start[kF], 0.5);
  start[kB] = std::max(start[kB], 0.002);
  start.push_back(static_cast<double>(found->kv_blocks));
  return start;
}

std::vector<MeasuredLoadTest> rows_of(const std::vector<MeasuredLoadTest>& all,
                                      const std::string& profile) {
  std::vector<MeasuredLoadTest> rows;
  for (const MeasuredLoadTest& row : all) {
    if (row.profile == profile && row.engine == "vLLM") rows.push_back(row);
  }
  if (rows.empty()) throw std::invalid_argument(profile + " has no row of vLLM");
  return rows;
}

std::vector<double> fitted(std::int64_t chunk_tokens, const std::vector<double>& start,
                           const std::vector<MeasuredLoadTest>& rows) {
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
  return bounded(sim::minimise(descent, start, cost).at);
}

/// Mean errors of rows that the fit has not seen.
Errors forecast_errors(std::int64_t chunk_tokens, const std::vector<double>& start,
                       const std::vector<MeasuredLoadTest>& rows) {
  Errors sum;
  const auto count = static_cast<double>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<MeasuredLoadTest> others = rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const std::vector<double> x = fitted(chunk_tokens, start, others);
    const Errors one = errors_of({rows[i]}, kind_of(x, chunk_tokens));
    sum.ttft += one.ttft / count;
    sum.tpot += one.tpot / count;
  }
  return sum;
}

void fit(const std::string& profile, std::int64_t chunk_tokens, bool leave_one_out,
         const std::vector<double>& start, const std::vector<MeasuredLoadTest>& rows) {
  const std::vector<double> x = fitted(chunk_tokens, start, rows);
  const Errors before = errors_of(rows, kind_of(start, chunk_tokens));
  const Errors after = errors_of(rows, kind_of(x, chunk_tokens));
  std::cerr << fmt::format(
      "{:38} {:2} rows  TPOT {:5.1f} -> {:4.1f} %  TTFT {:6.1f} -> {:4.1f} %\n",
      profile, rows.size(), 100 * before.tpot, 100 * after.tpot, 100 * before.ttft,
      100 * after.ttft);
  double claimed = after.tpot;
  if (leave_one_out) {
    const Errors forecast = forecast_errors(chunk_tokens, start, rows);
    std::cerr << fmt::format("{:38} each left out once: TPOT {:.1f} %  TTFT {:.1f} %\n",
                             "", 100 * forecast.tpot, 100 * forecast.ttft);
    claimed = forecast.tpot;
  }
  std::string key = profile;  // model/gpu/tpN/precision
  key.erase(key.find("/tp") + 1, 2);
  std::ranges::replace(key, '/', ',');
  std::cout << fmt::format(
      "{},step,{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{},{:.1f}"
      "\n",
      key, x[kT0], x[kB], x[kC], x[kA], x[kT0Prefill], x[kF], x[kBPrefill],
      x[kCPrefill], x[kD], std::llround(x[kBlocks]), 100 * claimed);
  std::cout.flush();
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 3) {
    throw std::invalid_argument(
        "usage: isochrone_load_fit DATASETS CHUNK_TOKENS [--leave-one-out] PROFILE...");
  }
  const datasets::Catalog catalog = datasets::Catalog::load(words[0]);
  const auto rows = tools::read_load_tests(
      CsvTable::read(words[0] + "/serving_measurements.csv", {}), catalog);
  const std::int64_t chunk_tokens = std::stoll(words[1]);
  const bool leave_one_out = words[2] == "--leave-one-out";
  for (std::size_t i = leave_one_out ? 3 : 2; i < words.size(); ++i) {
    fit(words[i], chunk_tokens, leave_one_out, start_of(catalog, words[i]),
        rows_of(rows, words[i]));
  }
  return 0;
}

}  // namespace
}  // namespace isochrone::calibrate

int main(int count, char** values) {
  return isochrone::calibrate::run_program(count, values, isochrone::calibrate::run);
}
