// Writes datasets/step_profiles.csv: for every model and GPU that make sense together,
// the step-time coefficients of an engine. Measured fits come first; where there is
// none, a roofline with the efficiencies of gpu_efficiency.csv stands in and says so.
//
//   isochrone_step_profiles DATASETS [-o FILE]    default: standard output
//   isochrone_step_profiles DATASETS --evaluate   TPOT against serving_measurements.csv

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "tools/calibrate/program.h"
#include "tools/calibrate/step_model.h"

namespace isochrone::calibrate {
namespace {

constexpr std::int64_t kMinTokens = 8192;  // of KV, else no profile
constexpr double kMinShardBytes = 4e9;     // splitting further only adds all-reduces
constexpr double kFrontEndMs = 25;         // middle of 15-40 ms
constexpr double kMoeErrorPct = 35;

struct Gpu {
  Efficiency efficiency;
  int widest = 1;  ///< tensor parallelism that its fabric carries
};

struct Fit {
  std::string model, gpu, precision, source;
  int tensor_parallel = 1;
  bool full = false;  ///< all coefficients, else a steady state
  StepMs step;
  SteadyFit steady;
  std::int64_t kv_blocks = 0;  ///< as logged; 0: computed
  double error_pct = 0;
};

struct Profile {
  std::string id, model, gpu, precision, basis, source;
  int tensor_parallel = 1;
  StepMs step;
  std::int64_t kv_blocks = 0;
  double error_pct = 0;
};

class Tables {
 public:
  explicit Tables(const std::string& folder) : folder_(folder) {
    read_models();
    read_gpus();
    read_fits();
    faults_.throw_if_errors();
  }

  std::vector<Profile> profiles() const;

 private:
  void read_models();
  void read_gpus();
  void read_fits();
  double value(const CsvTable& table, std::size_t row, const char* column,
               double if_empty = 0) {
    return table.number(row, column, faults_).value_or(if_empty);
  }
  const Fit* fit_of(const Architecture& model, const Gpu& gpu, int tensor_parallel,
                    const std::string& precision) const;
  std::optional<Profile> profile(const Architecture& model, const Gpu& gpu,
                                 int tensor_parallel,
                                 const std::string& precision) const;

  std::string folder_;
  Diagnostics faults_;
  std::vector<Architecture> models_;
  std::vector<Gpu> gpus_;
  std::vector<Fit> fits_;
};

void Tables::read_models() {
  const CsvTable models =
      CsvTable::read(folder_ + "/models.csv",
                     {"model", "family", "layers", "hidden", "kv_heads", "head_dim",
                      "params_total_b", "params_active_b", "kv_bytes_per_token_bf16"});
  const CsvTable shapes =
      CsvTable::read(folder_ + "/model_shapes.csv",
                     {"model", "heads", "vocab", "tied_embeddings", "experts",
                      "experts_per_token", "moe_intermediate", "dense_layers"});
  std::map<std::string, std::size_t> row_of;
  for (std::size_t i = 0; i < models.size(); ++i) row_of[models.text(i, "model")] = i;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto found = row_of.find(shapes.text(i, "model"));
    if (found == row_of.end()) {
      faults_.error(shapes.position(i, "model"), "not a model of models.csv");
      continue;
    }
    const std::size_t row = found->second;
    Architecture model;
    model.id = found->first;
    model.layers = value(models, row, "layers");
    model.hidden = value(models, row, "hidden");
    model.heads = value(shapes, i, "heads");
    model.kv_heads = value(models, row, "kv_heads");
    model.head_dim = value(models, row, "head_dim");
    model.params_b = value(models, row, "params_total_b");
    model.active_b = value(models, row, "params_active_b");
    model.head_b = value(shapes, i, "vocab") * model.hidden / 1e9;
    model.embedding_b = value(shapes, i, "tied_embeddings") != 0 ? 0 : model.head_b;
    model.experts = value(shapes, i, "experts");
    model.experts_per_token = value(shapes, i, "experts_per_token");
    model.experts_b = model.experts * 3 * model.hidden *
                      value(shapes, i, "moe_intermediate") *
                      (model.layers - value(shapes, i, "dense_layers")) / 1e9;
    model.latent_kv = models.text(row, "family").find("mla") != std::string::npos;
    model.kv_bytes_per_token = value(models, row, "kv_bytes_per_token_bf16");
    models_.push_back(model);
  }
}

void Tables::read_gpus() {
  const CsvTable known = CsvTable::read(folder_ + "/gpus.csv",
                                        {"gpu", "intra_fabric", "fabric_domain_gpus"});
  std::map<std::string, int> domain;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool joined = known.text(i, "intra_fabric") != "none";
    domain[known.text(i, "gpu")] =
        joined ? static_cast<int>(value(known, i, "fabric_domain_gpus")) : 2;
  }
  const CsvTable table =
      CsvTable::read(folder_ + "/gpu_efficiency.csv", {"gpu",
                                                       "bandwidth_gbs",
                                                       "usable_memory_gib",
                                                       "bf16_tflops",
                                                       "fp8_tflops",
                                                       "e_w_bf16",
                                                       "e_w_fp8",
                                                       "mfu_bf16",
                                                       "mfu_fp8",
                                                       "e_kv",
                                                       "attention_mfu",
                                                       "allreduce_us_tp2",
                                                       "allreduce_gbs_tp2",
                                                       "allreduce_us_tp4",
                                                       "allreduce_gbs_tp4",
                                                       "allreduce_us_tp8",
                                                       "allreduce_gbs_tp8",
                                                       "error_pct",
                                                       "basis",
                                                       "source"});
  for (std::size_t i = 0; i < table.size(); ++i) {
    Gpu gpu;
    Efficiency& e = gpu.efficiency;
    e.gpu = table.text(i, "gpu");
    if (!domain.contains(e.gpu)) {
      faults_.error(table.position(i, "gpu"), "not a GPU of gpus.csv");
    }
    gpu.widest = domain[e.gpu];
    e.bandwidth_gbs = value(table, i, "bandwidth_gbs");
    e.usable_memory_gib = value(table, i, "usable_memory_gib");
    e.bf16_tflops = value(table, i, "bf16_tflops");
    e.fp8_tflops = value(table, i, "fp8_tflops");
    e.e_w_bf16 = value(table, i, "e_w_bf16");
    e.e_w_fp8 = value(table, i, "e_w_fp8");
    e.mfu_bf16 = value(table, i, "mfu_bf16");
    e.mfu_fp8 = value(table, i, "mfu_fp8");
    e.e_kv = value(table, i, "e_kv");
    e.attention_mfu = value(table, i, "attention_mfu");
    e.allreduce_us = {value(table, i, "allreduce_us_tp2"),
                      value(table, i, "allreduce_us_tp4"),
                      value(table, i, "allreduce_us_tp8")};
    e.allreduce_gbs = {value(table, i, "allreduce_gbs_tp2"),
                       value(table, i, "allreduce_gbs_tp4"),
                       value(table, i, "allreduce_gbs_tp8")};
    e.error_pct = value(table, i, "error_pct");
    e.basis = table.text(i, "basis");
    e.source = table.text(i, "source");
    gpus_.push_back(gpu);
  }
}

void Tables::read_fits() {
  const CsvTable table =
      CsvTable::read(folder_ + "/step_fits.csv",
                     {"model", "gpu", "tensor_parallel", "precision", "form", "t0_ms",
                      "b_ms", "c_ms", "a_ms", "t0_prefill_ms", "f_ms", "b_prefill_ms",
                      "c_prefill_ms", "d_ms", "kv_blocks", "error_pct", "source"});
  for (std::size_t i = 0; i < table.size(); ++i) {
    Fit fit;
    fit.model = table.text(i, "model");
    fit.gpu = table.text(i, "gpu");
    fit.precision = table.text(i, "precision");
    fit.source = table.text(i, "source");
    fit.tensor_parallel = static_cast<int>(value(table, i, "tensor_parallel"));
    fit.full = table.text(i, "form") == "step";
    StepMs& s = fit.step;
    s.t0 = value(table, i, "t0_ms");
    s.b = value(table, i, "b_ms");
    s.c = value(table, i, "c_ms");
    s.a = value(table, i, "a_ms");
    s.t0_prefill = value(table, i, "t0_prefill_ms");
    s.f = value(table, i, "f_ms");
    s.b_prefill = value(table, i, "b_prefill_ms");
    s.c_prefill = value(table, i, "c_prefill_ms");
    s.d = value(table, i, "d_ms");
    fit.steady = {s.t0, s.b, s.c, s.a};
    fit.kv_blocks = static_cast<std::int64_t>(value(table, i, "kv_blocks"));
    fit.error_pct = value(table, i, "error_pct");
    fits_.push_back(fit);
  }
}

const Fit* Tables::fit_of(const Architecture& model, const Gpu& gpu,
                          int tensor_parallel, const std::string& precision) const {
  for (const Fit& fit : fits_) {
    if (fit.model == model.id && fit.gpu == gpu.efficiency.gpu &&
        fit.tensor_parallel == tensor_parallel && fit.precision == precision) {
      return &fit;
    }
  }
  return nullptr;
}

std::optional<Profile> Tables::profile(const Architecture& model, const Gpu& gpu,
                                       int tensor_parallel,
                                       const std::string& precision) const {
  const double shard = weight_bytes(model, precision) / tensor_parallel;
  const Fit* fit = fit_of(model, gpu, tensor_parallel, precision);
  if (tensor_parallel > gpu.widest) return std::nullopt;
  if (tensor_parallel > 1 && shard < kMinShardBytes && fit == nullptr) {
    return std::nullopt;
  }
  const auto shape = roofline(model, gpu.efficiency, tensor_parallel, precision);
  if (!shape) return std::nullopt;

  Profile result;
  result.kv_blocks = kv_blocks(model, gpu.efficiency, tensor_parallel, precision);
  if (result.kv_blocks * static_cast<std::int64_t>(kKvBlockTokens) < kMinTokens) {
    return std::nullopt;
  }
  result.model = model.id;
  result.gpu = gpu.efficiency.gpu;
  result.tensor_parallel = tensor_parallel;
  result.precision = precision;
  result.id =
      fmt::format("{}/{}/tp{}/{}", model.id, result.gpu, tensor_parallel, precision);
  if (fit != nullptr) {
    result.step = fit->full ? fit->step : with_prefill(fit->steady, *shape);
    if (fit->kv_blocks > 0) result.kv_blocks = fit->kv_blocks;
    result.basis = "measured";
    // Fits hold for lengths and batches like those measured; 5 is the least we claim.
    result.error_pct = std::max(5.0, 2 * fit->error_pct);
    result.source = fit->source;
    if (!fit->full) result.source += "; prefill steps derived";
  } else {
    result.step = *shape;
    result.basis = "estimated";
    result.error_pct =
        std::max(gpu.efficiency.error_pct, model.experts > 0 ? kMoeErrorPct : 0.0);
    result.source = "roofline; " + gpu.efficiency.source;
    if (model.experts > 0) {
      result.source += "; experts touched by a batch linearised over 1-256 sequences";
    }
  }
  return result;
}

std::vector<Profile> Tables::profiles() const {
  std::vector<Profile> all;
  for (const Architecture& model : models_) {
    for (const Gpu& gpu : gpus_) {
      for (const int tensor_parallel : {1, 2, 4, 8}) {
        for (const char* precision : {"bf16", "fp8"}) {
          auto one = profile(model, gpu, tensor_parallel, precision);
          if (one) all.push_back(std::move(*one));
        }
      }
    }
  }
  return all;
}

std::int64_t picos(double ms) { return std::llround(ms * 1e9); }

std::string quoted(const std::string& text) {
  return text.find_first_of(",\"") == std::string::npos ? text : '"' + text + '"';
}

std::string to_csv(const std::vector<Profile>& profiles) {
  std::string text =
      "id,model,gpu,tensor_parallel,precision,t0_ps,b_ps,c_ps,t0_prefill_ps,a_ps,f_ps,"
      "b_prefill_ps,c_prefill_ps,d_ps,kv_block_tokens,kv_blocks,chunk_tokens,"
      "front_end_ms,basis,error_pct,source\n";
  for (const Profile& p : profiles) {
    const StepMs& s = p.step;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", p.id,
        p.model, p.gpu, p.tensor_parallel, p.precision, picos(s.t0), picos(s.b),
        picos(s.c), picos(s.t0_prefill), picos(s.a), picos(s.f), picos(s.b_prefill),
        picos(s.c_prefill), picos(s.d), static_cast<int>(kKvBlockTokens), p.kv_blocks,
        static_cast<int>(kChunkTokens), static_cast<int>(kFrontEndMs), p.basis,
        p.error_pct, quoted(p.source));
  }
  return text;
}

/// Mean absolute error of steady TPOT by profile and engine, over rows whose requests
/// fit in the KV cache (others queue, which their TPOT does not show).
std::string evaluation(const std::vector<Profile>& profiles, const std::string& path) {
  const CsvTable table = CsvTable::read(
      path,
      {"profile", "engine", "input_tokens", "output_tokens", "in_flight", "tpot_ms"});
  Diagnostics faults;
  struct Sum {
    int rows = 0;
    double error = 0, bias = 0;
  };
  std::map<std::string, const Profile*> by_id;
  for (const Profile& p : profiles) by_id[p.id] = &p;
  std::map<std::string, Sum> sums;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto found = by_id.find(table.text(i, "profile"));
    if (found == by_id.end()) continue;
    const double input = table.number_in(i, "input_tokens", 1, 1e6, faults);
    const double output = table.number_in(i, "output_tokens", 2, 1e6, faults);
    const double in_flight = table.number_in(i, "in_flight", 1, 1e4, faults);
    const double seen = table.number_in(i, "tpot_ms", 0.1, 1e4, faults);
    const double held = static_cast<double>(found->second->kv_blocks) * kKvBlockTokens;
    if (in_flight * (input + output / 2) > held) continue;
    const double error =
        steady_tpot(found->second->step, in_flight, input, output) / seen - 1;
    Sum& sum = sums[found->first + "  " + table.text(i, "engine")];
    ++sum.rows;
    sum.error += std::abs(error);
    sum.bias += error;
  }
  faults.throw_if_errors();
  std::string text;
  for (const auto& [name, sum] : sums) {
    text += fmt::format("{:58} {:3} rows  error {:5.1f} %  bias {:+6.1f} %  {}\n", name,
                        sum.rows, 100 * sum.error / sum.rows, 100 * sum.bias / sum.rows,
                        by_id.at(name.substr(0, name.find(' ')))->basis);
  }
  return text;
}

int write(const std::string& text, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::cerr << path << ": cannot be written\n";
  return file ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  const bool evaluate = arguments.size() == 2 && arguments[1] == "--evaluate";
  const bool to_file = arguments.size() == 3 && arguments[1] == "-o";
  if (arguments.size() != 1 && !evaluate && !to_file) {
    throw std::invalid_argument(
        "usage: isochrone_step_profiles DATASETS [-o FILE | --evaluate]");
  }
  const std::vector<Profile> profiles = Tables(arguments[0]).profiles();
  if (to_file) return write(to_csv(profiles), arguments[2]);
  std::cout << (evaluate
                    ? evaluation(profiles, arguments[0] + "/serving_measurements.csv")
                    : to_csv(profiles));
  return std::cout.good() ? 0 : 1;
}

}  // namespace
}  // namespace isochrone::calibrate

int main(int count, char** values) {
  return isochrone::calibrate::run_program(count, values, isochrone::calibrate::run);
}
