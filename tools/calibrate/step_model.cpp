#include "tools/calibrate/step_model.h"

#include <algorithm>
#include <cmath>

// How a step time is composed. A decode step reads every weight once, whatever the
// batch: that is its floor. Each sequence adds its own cache to read and a little work.
// A step that also holds prompt tokens multiplies matrices in earnest: below some
// number of tokens they ride free under the weight-reading floor, above it time grows
// with the tokens. Hence max(floor, a * tokens + f).
//
// Three rules below are not in any kernel table; they were read off the fits in
// step_fits.csv and hold them within their bands:
//   - 35 us per layer for norms, rotary, cache writes and launches;
//   - b, the price of one more sequence in a decode step, is half of a plus 4.5 us per
//     GPU (sampling and the gathering of logits);
//   - prefill steps run outside the captured graphs: their floor is 1.15 of t0 and
//   their
//     cache reads cost 1.6 times as much (full profiles show 1.15-1.17 and 1.6-2.0).
// Mixtures of experts read only the experts that a batch touches, on average
// E * (1 - (1 - k/E)^S) of E. That is concave in S; we take its least-squares line over
// 1 .. 256 sequences, which overstates small batches and is within a tenth of the truth
// from about 3 E/k sequences on.
namespace isochrone::calibrate {
namespace {

constexpr double kLayerMs = 0.035;
constexpr double kSequencePerGpuMs = 0.0045;
constexpr double kPrefillFloor = 1.15;
constexpr double kPrefillCache = 1.6;
constexpr double kMoeSequences = 256;

struct Line {
  double constant = 1;
  double slope = 0;
};

/// Least-squares line through the expected share of experts that S sequences touch.
Line touched_experts(const Architecture& model) {
  const double idle = 1 - model.experts_per_token / model.experts;
  double sum_s = 0, sum_ss = 0, sum_y = 0, sum_sy = 0;
  for (double s = 1; s <= kMoeSequences; ++s) {
    const double share = 1 - std::pow(idle, s);
    sum_s += s;
    sum_ss += s * s;
    sum_y += share;
    sum_sy += s * share;
  }
  const double n = kMoeSequences;
  const double slope = (n * sum_sy - sum_s * sum_y) / (n * sum_ss - sum_s * sum_s);
  return {(sum_y - slope * sum_s) / n, slope};
}

/// Index of a width in the all-reduce columns.
std::size_t width_index(int tensor_parallel) {
  return tensor_parallel == 2 ? 0 : tensor_parallel == 4 ? 1 : 2;
}

double bytes_per_parameter(const std::string& precision) {
  return precision == "fp8" ? 1 : 2;
}

double chunks(double input) { return std::ceil(input / kChunkTokens); }

}  // namespace

double weight_bytes(const Architecture& model, const std::string& precision) {
  const double tables = model.embedding_b + model.head_b;
  return 1e9 *
         ((model.params_b - tables) * bytes_per_parameter(precision) + tables * 2);
}

std::optional<StepMs> roofline(const Architecture& model, const Efficiency& gpu,
                               int tensor_parallel, const std::string& precision) {
  const bool fp8 = precision == "fp8";
  const double tflops = fp8 ? gpu.fp8_tflops : gpu.bf16_tflops;
  const double e_w = fp8 ? gpu.e_w_fp8 : gpu.e_w_bf16;
  const double mfu = fp8 ? gpu.mfu_fp8 : gpu.mfu_bf16;
  if (tflops == 0) return std::nullopt;
  const double tp = tensor_parallel;

  double start_ms = 0;     // all-reduces of a step: start
  double transfer_ms = 0;  // and transfer per token
  if (tensor_parallel > 1) {
    const std::size_t width = width_index(tensor_parallel);
    if (gpu.allreduce_gbs[width] == 0) return std::nullopt;
    start_ms = 2 * model.layers * gpu.allreduce_us[width] * 1e-3;
    transfer_ms =
        2 * model.layers * model.hidden * 2 / (gpu.allreduce_gbs[width] * 1e9) * 1e3;
  }
  const double ms_per_byte = 1e3 / (tp * gpu.bandwidth_gbs * 1e9 * e_w);
  const double expert_ms =
      model.experts_b * 1e9 * bytes_per_parameter(precision) * ms_per_byte;
  const double dense_ms =
      (weight_bytes(model, precision) - model.embedding_b * 2e9) * ms_per_byte -
      expert_ms;
  const Line touched = model.experts > 0 ? touched_experts(model) : Line{};
  const double launches_ms = model.layers * kLayerMs + start_ms;
  // Tensor parallelism splits the cache by heads, and copies what it cannot split.
  const double kv_split =
      model.latent_kv ? 1 : std::min(tp, std::max(1.0, model.kv_heads));

  StepMs step;
  step.a = 2 * (model.active_b - model.embedding_b) * 1e9 / (tp * tflops * 1e12 * mfu) *
               1e3 +
           transfer_ms;
  step.t0 = dense_ms + expert_ms * touched.constant + launches_ms;
  step.b = 0.5 * step.a + kSequencePerGpuMs * tp + expert_ms * touched.slope;
  step.c =
      model.kv_bytes_per_token / (kv_split * gpu.bandwidth_gbs * 1e9 * gpu.e_kv) * 1e3;
  const double prefill_overhead =
      launches_ms + (kPrefillFloor - 1) * (dense_ms + expert_ms + launches_ms);
  step.t0_prefill = dense_ms + expert_ms + prefill_overhead;
  step.f = prefill_overhead;
  step.b_prefill = kSequencePerGpuMs * tp;
  step.c_prefill = kPrefillCache * step.c;
  step.d = 4 * model.layers * model.heads * model.head_dim /
           (tp * gpu.bf16_tflops * 1e12 * gpu.attention_mfu) * 1e3;
  return step;
}

StepMs with_prefill(const SteadyFit& fit, const StepMs& shape) {
  StepMs step;
  step.t0 = fit.t0;
  step.b = fit.b;
  step.c = fit.c;
  step.t0_prefill = kPrefillFloor * fit.t0;
  // What a prefill step costs beside reading the weights; the roofline says how long
  // that reading takes.
  const double weights_ms = shape.t0_prefill - shape.f;
  step.f = std::max(0.0, step.t0_prefill - weights_ms);
  step.b_prefill = fit.b;
  step.c_prefill = kPrefillCache * fit.c;
  step.d = shape.d;
  // `a` by least squares, so that the extra time of a request's prefill steps is
  // fit.a * input; each point weighs as its part of TPOT does.
  double numerator = 0, denominator = 0;
  for (const double input : {512.0, 1024.0, 2048.0, 4096.0, 8192.0}) {
    for (const double output : {256.0, 1024.0}) {
      for (const double in_flight : {4.0, 8.0, 16.0, 32.0, 64.0}) {
        const double steps = chunks(input);
        const double cache = in_flight * (input + output / 2);
        const double tokens = input + steps * in_flight;
        const double rest = steps * (step.f - step.t0) +
                            steps * (step.c_prefill - step.c) * cache +
                            step.d * input * input / 2;
        const double weight = in_flight / output / fit.tpot(in_flight, input, output);
        numerator += weight * weight * tokens * (fit.a * input - rest);
        denominator += weight * weight * tokens * tokens;
      }
    }
  }
  step.a = std::max(0.0, numerator / denominator);
  return step;
}

double steady_tpot(const StepMs& step, double in_flight, double input, double output) {
  const double cache = in_flight * (input + output / 2);
  const double decode = step.t0 + step.b * in_flight + step.c * cache;
  double extra = 0;
  for (double done = 0; done < input; done += kChunkTokens) {
    const double chunk = std::min(kChunkTokens, input - done);
    const double mixed =
        std::max(step.t0_prefill, step.a * (chunk + in_flight) + step.f) +
        step.b_prefill * in_flight + step.c_prefill * cache +
        step.d * chunk * (done + chunk / 2);
    extra += mixed - decode;
  }
  return decode + in_flight / output * extra;
}

std::int64_t kv_blocks(const Architecture& model, const Efficiency& gpu,
                       int tensor_parallel, const std::string& precision) {
  const double tp = tensor_parallel;
  // 0.8 GB of context and graphs, activations of one chunk (26 copies, as the logged
  // 2,588 blocks of the RTX 4090 imply), and 0.4 GB of communication buffers.
  const double reserve =
      0.8e9 + 26 * kChunkTokens * model.hidden * 2 + (tensor_parallel > 1 ? 0.4e9 : 0);
  const double memory = 0.9 * gpu.usable_memory_gib * 1024 * 1024 * 1024;
  const double left = memory - weight_bytes(model, precision) / tp - reserve;
  const double kv_split =
      model.latent_kv ? 1 : std::min(tp, std::max(1.0, model.kv_heads));
  return static_cast<std::int64_t>(
      std::floor(left * kv_split / (model.kv_bytes_per_token * kKvBlockTokens)));
}

}  // namespace isochrone::calibrate
