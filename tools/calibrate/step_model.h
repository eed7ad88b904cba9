#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/diagnostics.h"

namespace isochrone::calibrate {

/// Architecture of a model, as far as step times depend on it. Parameters in 1e9.
struct Architecture {
  std::string id;
  double layers = 0;
  double hidden = 0;
  double heads = 0;
  double kv_heads = 0;
  double head_dim = 0;
  double params_b = 0;
  double active_b = 0;
  double embedding_b = 0;  ///< input table: held, but not read in a step
  double head_b = 0;       ///< output table: read in full precision in every step
  double experts_b = 0;    ///< routed experts of all layers; 0 = dense model
  double experts = 0;
  double experts_per_token = 0;
  bool latent_kv = false;  ///< one latent for all heads: tensor parallelism copies it
  double kv_bytes_per_token = 0;  ///< bf16
};

/// What is known of a GPU. Shares of the peak refer to the bandwidth and the rates in
/// the same row; they must not be mixed with another table's.
struct Efficiency {
  std::string gpu;
  double bandwidth_gbs = 0;
  double usable_memory_gib = 0;
  double bf16_tflops = 0;
  double fp8_tflops = 0;  ///< 0: the GPU has none
  double e_w_bf16 = 0;
  double e_w_fp8 = 0;
  double mfu_bf16 = 0;
  double mfu_fp8 = 0;
  double e_kv = 0;
  double attention_mfu = 0;
  /// Time of a small all-reduce and the rate of a large one, at TP 2, 4, 8; 0: unknown.
  std::array<double, 3> allreduce_us{};
  std::array<double, 3> allreduce_gbs{};
  double error_pct = 0;
  std::string basis;
  std::string source;
};

/// Coefficients in ms, in the forms of datasets::StepTimes.
struct StepMs {
  double t0 = 0, b = 0, c = 0;
  double t0_prefill = 0, a = 0, f = 0, b_prefill = 0, c_prefill = 0, d = 0;
};

/// Fit of a steady state: TPOT = t0 + b*C + c*C*(in + out/2) + a*C*in/out.
struct SteadyFit {
  double t0 = 0, b = 0, c = 0, a = 0;
  double tpot(double in_flight, double input, double output) const {
    return t0 + b * in_flight + c * in_flight * (input + output / 2) +
           a * in_flight * input / output;
  }
};

inline constexpr double kChunkTokens = 2048;
inline constexpr double kKvBlockTokens = 16;

/// Weights that one replica holds, in bytes. fp8 keeps both vocabulary tables in bf16.
double weight_bytes(const Architecture& model, const std::string& precision);

/// Step times where nothing is measured: bytes and operations over the shares of the
/// peaks that kernels reach, plus launches per layer and all-reduces. nullopt where the
/// GPU lacks the precision or no all-reduce is known at this width.
std::optional<StepMs> roofline(const Architecture& model, const Efficiency& gpu,
                               int tensor_parallel, const std::string& precision);

/// A full set of coefficients whose steady state reproduces `fit` over prompts of
/// 512-8192 tokens; the floor, attention and overheads of prefill steps come from the
/// roofline `shape`.
StepMs with_prefill(const SteadyFit& fit, const StepMs& shape);

/// Mean TPOT with `in_flight` requests always running: decode steps, into which each
/// request mixes its prompt, one chunk per step.
double steady_tpot(const StepMs& step, double in_flight, double input, double output);

/// KV blocks that fit beside the weights in 0.9 of the memory; <= 0: none.
std::int64_t kv_blocks(const Architecture& model, const Efficiency& gpu,
                       int tensor_parallel, const std::string& precision);

}  // namespace isochrone::calibrate
