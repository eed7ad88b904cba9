#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine.h"
#include "sim/instant.h"
#include "sim/work.h"

namespace isochrone::sim {

/// One continuous-batching replica that jumps from batch change to batch change.
///
/// The caller drives it: at `next_boundary()` call complete(), hand over new requests
/// by assign() while has_room(), then plan(). Between boundaries assign() cuts the jump
/// at the first step boundary that is not before the request. The result equals that of
/// a machine which runs every step by itself, to the picosecond. Does not allocate
/// after construction.
class BatchingReplica {
 public:
  BatchingReplica(const BatchingEngine& engine, std::int64_t max_num_seqs,
                  double prefix_hit_share);

  bool idle() const { return in_system_ == 0; }
  std::size_t in_system() const { return in_system_; }
  /// A sequence slot is free, and nobody here waits for KV blocks.
  bool has_room() const { return in_system_ < slots_.size() && !kv_blocked_; }
  std::int64_t free_blocks() const { return free_blocks_; }
  /// Where the running span of steps ends. Of an idle replica: meaningless.
  Instant next_boundary() const { return boundary_; }

  /// Gives the request a slot at `now_ns`, which is not after next_boundary(). An idle
  /// replica gets a boundary there.
  void assign(const Request& request, std::int64_t now_ns);
  /// Ends the span: tokens are out, finished requests are appended to `finished`.
  void complete(std::vector<Outcome>& finished);
  /// Decides the steps up to the next boundary. The replica must not be idle.
  void plan();

 private:
  using SlotIndex = std::uint32_t;

  struct Slot {
    Request request;
    std::int64_t assigned_ns = 0;
    std::int64_t first_ns = 0;
    std::int64_t emitted = 0;     // tokens that are out
    std::int64_t computed = 0;    // tokens in KV while prefilling
    std::int64_t joined_at = 0;   // decode clock when decoding began
    std::uint64_t admission = 0;  // order of admission: the last is preempted first
    std::int64_t kept = 0;        // blocks given back that may still hold its tokens
    std::int64_t kept_until = 0;  // where they end in the line of free blocks
    bool running = false;
    bool preempted = false;
  };
  struct Finish {
    std::int64_t at = 0;  // decode clock
    std::uint64_t admission = 0;
    SlotIndex slot = 0;
  };

  std::int64_t blocks_for(std::int64_t tokens) const {
    return (tokens + block_ - 1) / block_;
  }
  std::int64_t cached_prefix(const Slot& slot) const;
  /// Blocks that the slot kept and nobody has taken since.
  std::int64_t kept_blocks(const Slot& slot) const;
  void take_back(Slot& slot);
  /// Tokens that must be in KV before the next one can leave.
  static std::int64_t context(const Slot& slot) {
    return slot.request.work.prompt + slot.emitted;
  }
  std::int64_t decode_tokens(const Slot& slot) const;
  std::int64_t blocks_gained(std::int64_t steps) const;
  std::int64_t steps_until_kv_is_full(std::int64_t at_most) const;
  Wide span(std::int64_t steps) const;

  bool make_room_for_decodes();
  void preempt(SlotIndex index);
  void leave_decoding(const Slot& slot);
  /// Whether the prefill under way had to give its blocks back.
  bool prefill_chunks(std::int64_t budget);
  std::int64_t prefill(SlotIndex index, std::int64_t budget);
  void plan_prefill_step();
  void plan_decode_steps(bool one_only);
  void advance_decodes();
  void emit_first_tokens(std::vector<Outcome>& finished);
  void start_decoding(SlotIndex index);
  void retire(SlotIndex index, std::vector<Outcome>& finished);
  SlotIndex last_admitted() const;
  void push_waiting_front(SlotIndex index);
  void push_waiting_back(SlotIndex index);
  SlotIndex pop_waiting();

  datasets::StepTimes step_;
  std::int64_t block_;
  std::int64_t chunk_tokens_;
  double prefix_hit_share_;
  bool plans_ahead_;
  bool reserves_prompt_;
  bool keeps_blocks_;

  std::vector<Slot> slots_;
  std::vector<SlotIndex> free_slots_;
  std::vector<SlotIndex> waiting_;  // ring: has a slot, not admitted (yet, or again)
  std::size_t waiting_head_ = 0;
  std::size_t waiting_size_ = 0;
  std::size_t seen_ = 0;  // of the waiting, from the head: known when this was planned
  std::size_t in_system_ = 0;
  std::uint64_t admissions_ = 0;
  bool kv_blocked_ = false;

  std::vector<Finish> finishes_;     // heap, the soonest first: the decoding requests
  std::vector<std::int64_t> phase_;  // decoding requests by (tokens - clock) mod block
  std::int64_t clock_ = 0;           // steps in which the decodes moved
  std::int64_t kv_tokens_ = 0;       // of the decoding requests
  std::int64_t free_blocks_ = 0;
  std::int64_t taken_blocks_ = 0;     // ever, off the front of the line of free blocks
  std::optional<SlotIndex> partial_;  // prefill that did not fit into one step
  std::vector<SlotIndex> prefilled_;  // prefills that the planned step ends
  std::int64_t prefill_tokens_ = 0;
  std::int64_t prefill_area2_ = 0;  // twice the attention area

  Instant start_;
  Instant boundary_;
  std::int64_t steps_ = 0;
  std::int64_t first_step_ps_ = 0;
  std::int64_t growth_ps_ = 0;  // each further step takes so much longer
};

}  // namespace isochrone::sim
