#pragma once

#include "sim/engine.h"

namespace isochrone::sim {

/// llama-3.1-70b in fp8 on four H100, 64 sequences a replica; 500 tokens in and 250 out
/// in the mean. Written out, so that tests and benchmarks do not move with the tables.
inline PoolKind serving_kind() {
  PoolKind kind;
  kind.batching = BatchingEngine{.step = {.t0 = 11'140'000'000,
                                          .b = 64'790'000,
                                          .c = 27'140,
                                          .t0_prefill = 15'550'000'000,
                                          .a = 39'470'000,
                                          .f = 2'301'000'000,
                                          .b_prefill = 47'150'000,
                                          .c_prefill = 67'860,
                                          .d = 1460},
                                 .kv_blocks = 43'249,
                                 .chunk_tokens = 2048};
  kind.max_num_seqs = 64;
  kind.prompt_tokens = IntegerLaw::lognormal(500, 3000, 30'000);
  kind.answer_tokens = IntegerLaw::lognormal(250, 1200, 8'000);
  return kind;
}

}  // namespace isochrone::sim
