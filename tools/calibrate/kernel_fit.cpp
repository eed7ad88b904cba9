// Fits the step-time coefficients of an engine to a profile of its kernels:
//
//   isochrone_kernel_fit FOLDER LAYERS [DECODE_MS PREFILL_MS [ALLREDUCE_US TOKEN_US]]
//
// FOLDER holds dense.csv (layer,tokens,time_us), per_sequence.csv (layer,sequences,
// time_us) and attention.csv (prefill_chunk,kv_prefill,n_decode,kv_decode,time_us), as
// LLMServingSim writes them. A step is the sum of its kernels over LAYERS layers; the
// forms of datasets::StepTimes are fitted to such sums by least squares of relative
// errors, over batches that occur: decodes of 256 .. 2,600 tokens each and 300,000 in
// all. DECODE_MS and PREFILL_MS are what an engine adds to the kernels of a step
// without and with prompt tokens, ALLREDUCE_US and TOKEN_US the start of an all-reduce
// (two a layer) and the transfer of a token in all of them. The result is the part of a
// row of step_fits.csv from t0_ms to d_ms, and the mean error of each form.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "base/csv.h"
#include "tools/calibrate/program.h"

namespace isochrone::calibrate {
namespace {

constexpr double kMostCached = 300'000;
constexpr double kShortest = 256;
constexpr double kLongest = 2600;

/// Kernel time over a size, linear between the measured points and beyond the last two.
class Curve {
 public:
  void add(double size, double ms) { points_.emplace_back(size, ms); }

  double at(double size) const {
    if (points_.size() == 1) return points_[0].second;
    std::size_t i = 1;
    while (i + 1 < points_.size() && points_[i].first < size) ++i;
    const auto& [x0, y0] = points_[i - 1];
    const auto& [x1, y1] = points_[i];
    return y0 + (y1 - y0) * (std::max(size, points_[0].first) - x0) / (x1 - x0);
  }

 private:
  std::vector<std::pair<double, double>> points_;  // by size, as the tables are
};

struct Attention {
  double chunk = 0, history = 0, decodes = 0, cached = 0;  // cached: of each decode
  double ms = 0;                                           // of all layers
};

struct Kernels {
  std::vector<Curve> dense;     // by tokens
  std::vector<Curve> sequence;  // by sequences
  std::vector<Attention> attention;

  double dense_ms(double tokens) const { return sum(dense, tokens); }
  double sequence_ms(double sequences) const { return sum(sequence, sequences); }

 private:
  static double sum(const std::vector<Curve>& curves, double size) {
    double total = 0;
    for (const Curve& curve : curves) total += curve.at(size);
    return total;
  }
};

/// How often a layer of the table runs in one step.
double times_in_step(const std::string& layer, double layers) {
  if (layer == "embedding" || layer == "final_layernorm" || layer == "lm_head" ||
      layer == "sampler") {
    return 1;
  }
  return layer == "layernorm" ? 2 * layers : layers;
}

std::vector<Curve> read_curves(const std::string& path, const char* size,
                               double layers) {
  const CsvTable table = CsvTable::read(path, {"layer", size, "time_us"});
  Diagnostics faults;
  std::map<std::string, Curve> by_layer;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string& layer = table.text(i, "layer");
    by_layer[layer].add(table.number_in(i, size, 1, 1e6, faults),
                        table.number_in(i, "time_us", 0, 1e9, faults) / 1e3 *
                            times_in_step(layer, layers));
  }
  faults.throw_if_errors();
  std::vector<Curve> curves;
  for (auto& [layer, curve] : by_layer) curves.push_back(std::move(curve));
  return curves;
}

Kernels read_kernels(const std::string& folder, double layers) {
  Kernels kernels;
  kernels.dense = read_curves(folder + "/dense.csv", "tokens", layers);
  kernels.sequence = read_curves(folder + "/per_sequence.csv", "sequences", layers);
  const CsvTable table = CsvTable::read(
      folder + "/attention.csv",
      {"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"});
  Diagnostics faults;
  const auto number = [&](std::size_t row, const char* column) {
    return table.number_in(row, column, 0, 1e9, faults);
  };
  for (std::size_t i = 0; i < table.size(); ++i) {
    kernels.attention.push_back({number(i, "prefill_chunk"), number(i, "kv_prefill"),
                                 number(i, "n_decode"), number(i, "kv_decode"),
                                 number(i, "time_us") / 1e3 * layers});
  }
  faults.throw_if_errors();
  return kernels;
}

/// Weighted rows of a linear system; relative errors weigh alike.
class Rows {
 public:
  void add(std::vector<double> terms, double value, double scale) {
    for (double& term : terms) term /= scale;
    terms_.push_back(std::move(terms));
    values_.push_back(value / scale);
  }

  std::vector<double> solve() const {
    const auto rows = static_cast<Eigen::Index>(terms_.size());
    const auto columns = static_cast<Eigen::Index>(terms_.at(0).size());
    Eigen::MatrixXd matrix(rows, columns);
    Eigen::VectorXd right(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
      for (Eigen::Index j = 0; j < columns; ++j) {
        matrix(i, j) = terms_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      }
      right(i) = values_[static_cast<std::size_t>(i)];
    }
    const Eigen::VectorXd solution = matrix.colPivHouseholderQr().solve(right);
    return {solution.data(), solution.data() + columns};
  }

  double mean_error(const std::vector<double>& solution) const {
    double sum = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      double value = -values_[i];
      for (std::size_t j = 0; j < solution.size(); ++j) {
        value += terms_[i][j] * solution[j];
      }
      sum += std::abs(value);
    }
    return sum / static_cast<double>(terms_.size());
  }

 private:
  std::vector<std::vector<double>> terms_;
  std::vector<double> values_;
};

bool occurs(const Attention& a) {
  return a.decodes > 0 && a.cached >= kShortest && a.cached <= kLongest &&
         a.decodes * a.cached <= kMostCached && a.history <= kLongest;
}

/// t0, b, c over decode-only steps.
Rows decode_rows(const Kernels& kernels) {
  Rows rows;
  for (const Attention& a : kernels.attention) {
    if (a.chunk > 0 || !occurs(a)) continue;
    const double ms =
        a.ms + kernels.dense_ms(a.decodes) + kernels.sequence_ms(a.decodes);
    rows.add({1, a.decodes, a.decodes * a.cached}, ms, ms);
  }
  return rows;
}

struct DensePart {
  double floor = 0, a = 0, f = 0, error = 0;
};

/// max(floor, a * tokens + f): the line over tokens above the knee, the floor as the
/// mean below it, and the knee where both together err least.
DensePart dense_part(const Kernels& kernels) {
  std::vector<double> sizes;
  for (double tokens = 16; tokens <= 2048; tokens *= std::pow(2.0, 0.125)) {
    sizes.push_back(tokens);
  }
  DensePart best;
  best.error = 1e9;
  for (std::size_t knee = 1; knee + 8 < sizes.size(); ++knee) {
    Rows above;
    double below = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double ms = kernels.dense_ms(sizes[i]);
      if (i < knee) below += ms / static_cast<double>(knee);
      if (i >= knee) above.add({sizes[i], 1}, ms, ms);
    }
    const std::vector<double> line = above.solve();
    DensePart part{below, line[0], line[1], 0};
    for (const double size : sizes) {
      const double ms = kernels.dense_ms(size);
      const double fitted = std::max(part.floor, part.a * size + part.f);
      part.error += std::abs(fitted / ms - 1) / static_cast<double>(sizes.size());
    }
    if (part.error < best.error) best = part;
  }
  return best;
}

/// b', c', d over steps with prefill, whose dense part is taken as it is.
Rows mixed_rows(const Kernels& kernels) {
  Rows rows;
  for (const Attention& a : kernels.attention) {
    const bool alone = a.decodes == 0 && a.history <= kLongest;
    if (a.chunk < 64 || !(alone || occurs(a))) continue;
    const double sequences = kernels.sequence_ms(a.decodes + 1);
    const double step = a.ms + kernels.dense_ms(a.chunk + a.decodes) + sequences;
    rows.add({1, a.decodes, a.decodes * a.cached, a.chunk * (a.history + a.chunk / 2)},
             a.ms + sequences, step);
  }
  return rows;
}

int run(const std::vector<std::string>& words) {
  if (words.size() != 2 && words.size() != 4 && words.size() != 6) {
    throw std::invalid_argument(
        "usage: isochrone_kernel_fit FOLDER LAYERS [DECODE_MS PREFILL_MS "
        "[ALLREDUCE_US TOKEN_US]]");
  }
  std::vector<double> numbers{0, 0, 0, 0, 0};
  for (std::size_t i = 1; i < words.size(); ++i) numbers[i - 1] = std::stod(words[i]);
  const double layers = numbers[0];
  const double start_ms = 2 * layers * numbers[3] / 1e3;
  const double in_decode = numbers[1] + start_ms;
  const double per_token = numbers[4] / 1e3;

  const Kernels kernels = read_kernels(words[0], layers);
  const Rows decode = decode_rows(kernels);
  const Rows mixed = mixed_rows(kernels);
  const std::vector<double> d = decode.solve();
  const std::vector<double> m = mixed.solve();
  const DensePart dense = dense_part(kernels);
  const double in_prefill = numbers[2] + start_ms + m[0];
  std::cout << fmt::format(
      "t0_ms,b_ms,c_ms,a_ms,t0_prefill_ms,f_ms,b_prefill_ms,c_prefill_ms,d_ms\n"
      "{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g}\n",
      d[0] + in_decode, d[1] + per_token, d[2], dense.a + per_token,
      dense.floor + in_prefill, dense.f + in_prefill, m[1], m[2], m[3]);
  std::cerr << fmt::format(
      "mean error: decode {:.1f} %, attention of mixed steps {:.1f} % of the step, "
      "matrices {:.1f} %\n",
      100 * decode.mean_error(d), 100 * mixed.mean_error(m), 100 * dense.error);
  return 0;
}

}  // namespace
}  // namespace isochrone::calibrate

int main(int count, char** values) {
  return isochrone::calibrate::run_program(count, values, isochrone::calibrate::run);
}
