#include "sim/work.h"

#include <algorithm>
#include <stdexcept>

namespace isochrone::sim {

void check(const PoolKind& kind) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(why); };
  if (kind.batching.has_value() == kind.slots.has_value()) {
    refuse("a pool kind has exactly one engine");
  }
  if (kind.max_num_seqs < 1) refuse("a pool kind runs at least one request at once");
  if (!(kind.prefix_hit_share >= 0 && kind.prefix_hit_share <= 1)) {
    refuse("a prefix hit share lies in 0 .. 1");
  }
  if (!kind.batching) return;
  const BatchingEngine& engine = *kind.batching;
  if (engine.chunk_tokens < kind.max_num_seqs) {
    refuse("the chunk budget is below the number of sequences");
  }
  if (engine.kv_block_tokens < 1 || engine.kv_blocks < 1 ||
      engine.kv_blocks * engine.kv_block_tokens < 2) {
    refuse("a replica needs KV for at least two tokens");
  }
  const datasets::StepTimes& step = engine.step;
  if (step.t0 + step.b <= 0 || std::max(step.t0_prefill, step.a + step.f) <= 0 ||
      std::min({step.t0, step.b, step.c, step.t0_prefill, step.a, step.f,
                step.b_prefill, step.c_prefill, step.d}) < 0) {
    refuse("step times are positive");
  }
}

std::int64_t token_limit(const PoolKind& kind) {
  return kind.batching ? kind.batching->kv_blocks * kind.batching->kv_block_tokens
                       : std::int64_t{1} << 40;
}

Work fitted(std::int64_t prompt, std::int64_t answer, std::int64_t token_limit) {
  Work work;
  work.prompt = std::min(prompt, token_limit - 1);
  work.answer = std::min(answer, token_limit - work.prompt);
  return work;
}

WorkSampler::WorkSampler(const PoolKind& kind)
    : kind_(&kind),
      service_(kind.slots && kind.slots->picos_per_token == 0),
      token_limit_(token_limit(kind)) {
  check(kind);
  const IntegerLaw& law = service_ ? kind.service_ns : kind.answer_tokens;
  length_before_.reserve(IntegerLaw::kCells);
  std::int64_t sum = 0;
  for (const std::int64_t cell : law.cells()) length_before_.push_back(sum += cell);
}

Work WorkSampler::draw(Rng& rng) const {
  const double first = rng.uniform();
  return at(first, service_ ? 0.5 : rng.uniform());
}

Work WorkSampler::at(double first, double second) const {
  if (service_) return {.service_ns = kind_->service_ns.at(first)};
  return fitted(kind_->prompt_tokens.at(first), kind_->answer_tokens.at(second),
                token_limit_);
}

Work WorkSampler::draw_residual(Rng& rng) const {
  const auto total = static_cast<std::uint64_t>(length_before_.back());
  const auto at = static_cast<std::int64_t>(rng.below(total));
  const auto cell = std::upper_bound(length_before_.begin(), length_before_.end(), at);
  // `at` falls uniformly into the length of its cell: what lies beyond it is left.
  const std::int64_t left = *cell - at;
  Work work;
  work.answer = std::clamp<std::int64_t>(left, 1, token_limit_ - 1);
  work.service_ns = left;
  return work;
}

}  // namespace isochrone::sim
