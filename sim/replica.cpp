#include "sim/replica.h"

#include <algorithm>
#include <string>

#include "base/diagnostics.h"

// How a batching replica is simulated without walking its steps.
//
// The state changes shape only when somebody joins or leaves the batch. Between two
// such changes every decoding request gains one token per step, so that
//   - the KV tokens grow by S per step, and n steps take the arithmetic series
//     n * (t0 + b*S + c*KV) + c*S * n*(n-1)/2, exact in integers;
//   - a request finishes at a fixed value of the "decode clock", a count of the steps
//   in
//     which decodes moved: a heap of such values gives the first finisher;
//   - a request needs a new KV block whenever its tokens are a multiple of the block,
//   so
//     counting the decodes by (tokens - clock) mod block gives the blocks that n steps
//     take, monotone in n: the step at which KV runs out is found by bisection.
// A span of steps ends at the first finisher, at the last step that KV allows, or at
// the first boundary that an arriving request can use. A step with prefill stands
// alone. Time is kept to the picosecond, hence cutting a span anywhere changes nothing.

namespace isochrone::sim {
namespace {

std::size_t residue(std::int64_t value, std::int64_t modulus) {
  const std::int64_t rest = value % modulus;
  return static_cast<std::size_t>(rest < 0 ? rest + modulus : rest);
}

struct Later {
  template <class F>
  bool operator()(const F& a, const F& b) const {
    return a.at != b.at ? a.at > b.at : a.admission > b.admission;
  }
};

}  // namespace

BatchingReplica::BatchingReplica(const BatchingEngine& engine,
                                 std::int64_t max_num_seqs, double prefix_hit_share)
    : step_(engine.step),
      block_(engine.kv_block_tokens),
      chunk_tokens_(engine.chunk_tokens),
      prefix_hit_share_(prefix_hit_share),
      plans_ahead_(engine.plans_ahead),
      reserves_prompt_(engine.reserves_prompt),
      keeps_blocks_(engine.keeps_blocks),
      slots_(static_cast<std::size_t>(max_num_seqs)),
      waiting_(slots_.size()),
      phase_(static_cast<std::size_t>(engine.kv_block_tokens)),
      free_blocks_(engine.kv_blocks) {
  free_slots_.reserve(slots_.size());
  for (std::size_t i = slots_.size(); i-- > 0;) {
    free_slots_.push_back(static_cast<SlotIndex>(i));
  }
  finishes_.reserve(slots_.size());
  prefilled_.reserve(slots_.size());
}

// --- waiting ring -------------------------------------------------------------------

void BatchingReplica::push_waiting_back(SlotIndex index) {
  waiting_[(waiting_head_ + waiting_size_) % waiting_.size()] = index;
  ++waiting_size_;
}

void BatchingReplica::push_waiting_front(SlotIndex index) {
  waiting_head_ = (waiting_head_ + waiting_.size() - 1) % waiting_.size();
  waiting_[waiting_head_] = index;
  ++waiting_size_;
  ++seen_;
}

BatchingReplica::SlotIndex BatchingReplica::pop_waiting() {
  const SlotIndex index = waiting_[waiting_head_];
  waiting_head_ = (waiting_head_ + 1) % waiting_.size();
  --waiting_size_;
  --seen_;
  return index;
}

// --- free blocks --------------------------------------------------------------------

// Free blocks stand in a line: who needs one takes it off the front, who gives his back
// puts them at the end, the last of his context first. What a preempted request gave
// back is one stretch of that line, eaten from its far end of the context: what is left
// is always a prefix of the context, and one position is enough to know how much.

std::int64_t BatchingReplica::kept_blocks(const Slot& slot) const {
  if (slot.kept == 0) return 0;
  // The decodes of the step that is being planned take theirs first.
  return std::clamp<std::int64_t>(slot.kept_until - taken_blocks_ - blocks_gained(1), 0,
                                  slot.kept);
}

void BatchingReplica::take_back(Slot& slot) {
  const std::int64_t back = kept_blocks(slot);
  slot.kept = 0;
  if (back == 0) return;
  taken_blocks_ -= back;  // they do not come off the front
  for (std::size_t i = 0; i < waiting_size_; ++i) {
    Slot& other = slots_[waiting_[(waiting_head_ + i) % waiting_.size()]];
    if (other.kept_until > slot.kept_until) other.kept_until -= back;
  }
}

// --- arithmetic ---------------------------------------------------------------------

std::int64_t BatchingReplica::cached_prefix(const Slot& slot) const {
  const Work& work = slot.request.work;
  if (work.handed_over && slot.preempted) return 0;
  const std::int64_t found =
      work.cached >= 0 ? work.cached
                       : static_cast<std::int64_t>(prefix_hit_share_ *
                                                   static_cast<double>(work.prompt));
  // The last prompt token is always computed: its output is the first token.
  return std::min(found, work.prompt - 1);
}

std::int64_t BatchingReplica::decode_tokens(const Slot& slot) const {
  return context(slot) - 1 + (clock_ - slot.joined_at);
}

std::int64_t BatchingReplica::blocks_gained(std::int64_t steps) const {
  const auto decodes = static_cast<std::int64_t>(finishes_.size());
  std::int64_t gained = steps / block_ * decodes;
  std::size_t phase = residue(-clock_, block_);
  for (std::int64_t i = steps % block_; i > 0; --i) {
    gained += phase_[phase];
    phase = phase == 0 ? phase_.size() - 1 : phase - 1;
  }
  return gained;
}

std::int64_t BatchingReplica::steps_until_kv_is_full(std::int64_t at_most) const {
  const auto decodes = static_cast<std::int64_t>(finishes_.size());
  // Cheap bound first: most spans end long before KV does.
  if ((at_most / block_ + 1) * decodes <= free_blocks_) return at_most;
  std::int64_t fits = 1;
  std::int64_t beyond = at_most + 1;
  while (beyond - fits > 1) {
    const std::int64_t middle = fits + (beyond - fits) / 2;
    (blocks_gained(middle) <= free_blocks_ ? fits : beyond) = middle;
  }
  return fits;
}

Wide BatchingReplica::span(std::int64_t steps) const {
  return Wide{steps} * first_step_ps_ +
         Wide{growth_ps_} * (Wide{steps} * (steps - 1) / 2);
}

// --- what the caller drives ---------------------------------------------------------

void BatchingReplica::assign(const Request& request, std::int64_t now_ns) {
  if (idle()) {
    boundary_ = {now_ns, 0};
    steps_ = 0;
  } else if (steps_ > 1) {
    const Wide wanted = Wide{now_ns - start_.ns} * 1000 - start_.ps;
    std::int64_t early = 0;
    std::int64_t enough = steps_;
    while (enough - early > 1) {
      const std::int64_t middle = early + (enough - early) / 2;
      (span(middle) >= wanted ? enough : early) = middle;
    }
    steps_ = enough;
    boundary_ = start_.after(span(steps_));
  }
  const SlotIndex index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  slot = Slot{};
  slot.request = request;
  slot.assigned_ns = now_ns;
  push_waiting_back(index);
  ++in_system_;
}

void BatchingReplica::complete(std::vector<Outcome>& finished) {
  start_ = boundary_;
  if (steps_ == 0) return;
  advance_decodes();
  while (!finishes_.empty() && finishes_.front().at == clock_) {
    const SlotIndex index = finishes_.front().slot;
    std::pop_heap(finishes_.begin(), finishes_.end(), Later{});
    finishes_.pop_back();
    leave_decoding(slots_[index]);
    retire(index, finished);
  }
  emit_first_tokens(finished);
  steps_ = 0;
}

void BatchingReplica::plan() {
  prefill_tokens_ = 0;
  prefill_area2_ = 0;
  kv_blocked_ = false;
  // Nothing was planned ahead for a replica that has nobody to run.
  if (!plans_ahead_ || (finishes_.empty() && !partial_)) seen_ = waiting_size_;
  const bool preempted =
      make_room_for_decodes() ||
      prefill_chunks(chunk_tokens_ - static_cast<std::int64_t>(finishes_.size()));
  // After a preemption the next boundary tries to admit again; who was not seen now is
  // seen then.
  const bool one_only = preempted || seen_ < waiting_size_;
  seen_ = waiting_size_;
  if (prefill_tokens_ > 0) {
    plan_prefill_step();
  } else {
    plan_decode_steps(one_only);
  }
}

// --- a boundary, step by step -------------------------------------------------------

void BatchingReplica::advance_decodes() {
  const auto decodes = static_cast<std::int64_t>(finishes_.size());
  if (decodes == 0) return;
  const std::int64_t gained = blocks_gained(steps_);
  free_blocks_ -= gained;
  taken_blocks_ += gained;
  kv_tokens_ += decodes * steps_;
  clock_ += steps_;
}

void BatchingReplica::emit_first_tokens(std::vector<Outcome>& finished) {
  for (const SlotIndex index : prefilled_) {
    Slot& slot = slots_[index];
    if (++slot.emitted == 1) slot.first_ns = start_.ns;
    if (slot.emitted == slot.request.work.answer) {
      retire(index, finished);
    } else {
      start_decoding(index);
    }
  }
  prefilled_.clear();
}

void BatchingReplica::start_decoding(SlotIndex index) {
  Slot& slot = slots_[index];
  slot.joined_at = clock_;
  const std::int64_t tokens = decode_tokens(slot);
  kv_tokens_ += tokens;
  ++phase_[residue(tokens - clock_, block_)];
  finishes_.push_back(
      {clock_ + slot.request.work.answer - slot.emitted, slot.admission, index});
  std::push_heap(finishes_.begin(), finishes_.end(), Later{});
}

void BatchingReplica::leave_decoding(const Slot& slot) {
  const std::int64_t tokens = decode_tokens(slot);
  kv_tokens_ -= tokens;
  --phase_[residue(tokens - clock_, block_)];
}

void BatchingReplica::retire(SlotIndex index, std::vector<Outcome>& finished) {
  const Slot& slot = slots_[index];
  const Request& request = slot.request;
  free_blocks_ += blocks_for(request.work.prompt + request.work.answer - 1);
  finished.push_back({request.tag, request.arrival_ns, slot.assigned_ns, slot.first_ns,
                      start_.ns, request.work.answer, slot.preempted});
  free_slots_.push_back(index);
  --in_system_;
}

// --- preemption ---------------------------------------------------------------------

bool BatchingReplica::make_room_for_decodes() {
  bool preempted = false;
  while (blocks_gained(1) > free_blocks_) {
    INVARIANT(finishes_.size() + (partial_ ? 1 : 0) > 1,
              "one request outgrew the KV of a replica");
    preempt(last_admitted());
    preempted = true;
  }
  return preempted;
}

BatchingReplica::SlotIndex BatchingReplica::last_admitted() const {
  // A prefill under way is always the last: it used up the budget of its step.
  if (partial_) return *partial_;
  return std::max_element(
             finishes_.begin(), finishes_.end(),
             [](const Finish& a, const Finish& b) { return a.admission < b.admission; })
      ->slot;
}

void BatchingReplica::preempt(SlotIndex index) {
  Slot& slot = slots_[index];
  const std::int64_t tokens = partial_ == index ? slot.computed : decode_tokens(slot);
  free_blocks_ += blocks_for(tokens);
  if (keeps_blocks_) {
    slot.kept = tokens / block_;  // a block that is not full is not found again
    slot.kept_until = taken_blocks_ + free_blocks_;
  }
  if (partial_ == index) {
    partial_.reset();
  } else {
    leave_decoding(slot);
    slot.emitted += clock_ - slot.joined_at;
    std::erase_if(finishes_,
                  [&](const Finish& finish) { return finish.slot == index; });
    std::make_heap(finishes_.begin(), finishes_.end(), Later{});
  }
  slot.computed = 0;
  slot.running = false;
  slot.preempted = true;
  push_waiting_front(index);
  kv_blocked_ = true;
}

// --- prefill ------------------------------------------------------------------------

bool BatchingReplica::prefill_chunks(std::int64_t budget) {
  if (partial_) {
    const SlotIndex index = *partial_;
    const std::int64_t taken = prefill(index, budget);
    if (taken == 0 && budget > 0) {
      preempt(index);
      return true;
    }
    budget -= taken;
  }
  while (!partial_ && seen_ > 0 && budget > 0) {
    const SlotIndex index = waiting_[waiting_head_];
    const std::int64_t taken = prefill(index, budget);
    if (taken == 0) {
      kv_blocked_ = true;
      return false;
    }
    pop_waiting();
    budget -= taken;
  }
  return false;
}

std::int64_t BatchingReplica::prefill(SlotIndex index, std::int64_t budget) {
  Slot& slot = slots_[index];
  const std::int64_t history =
      slot.running ? slot.computed
                   : std::max(cached_prefix(slot), kept_blocks(slot) * block_);
  const std::int64_t chunk = std::min(context(slot) - history, budget);
  const std::int64_t held = slot.running ? blocks_for(slot.computed) : 0;
  const std::int64_t blocks = blocks_for(history + chunk) - held;
  const std::int64_t wanted =
      reserves_prompt_ && !slot.running ? blocks_for(context(slot)) : blocks;
  if (wanted > free_blocks_ - blocks_gained(1)) return 0;

  if (!slot.running) take_back(slot);
  free_blocks_ -= blocks;
  taken_blocks_ += blocks;
  slot.computed = history + chunk;
  if (!slot.running) slot.admission = ++admissions_;
  slot.running = true;
  prefill_tokens_ += chunk;
  prefill_area2_ += chunk * (2 * history + chunk);
  if (slot.computed == context(slot)) {
    partial_.reset();
    prefilled_.push_back(index);
  } else {
    partial_ = index;
  }
  return chunk;
}

void BatchingReplica::plan_prefill_step() {
  const auto decodes = static_cast<std::int64_t>(finishes_.size());
  const std::int64_t dense = step_.a * (prefill_tokens_ + decodes) + step_.f;
  const Wide area = Wide{step_.d} * prefill_area2_ / 2;
  first_step_ps_ = std::max(step_.t0_prefill, dense) + step_.b_prefill * decodes +
                   step_.c_prefill * kv_tokens_ + static_cast<std::int64_t>(area);
  growth_ps_ = 0;
  steps_ = 1;
  boundary_ = start_.after(first_step_ps_);
}

void BatchingReplica::plan_decode_steps(bool one_only) {
  INVARIANT(!finishes_.empty(), "a replica with requests runs none of them");
  const auto decodes = static_cast<std::int64_t>(finishes_.size());
  first_step_ps_ = step_.t0 + step_.b * decodes + step_.c * kv_tokens_;
  growth_ps_ = step_.c * decodes;
  steps_ = one_only ? 1 : steps_until_kv_is_full(finishes_.front().at - clock_);
  boundary_ = start_.after(span(steps_));
}

}  // namespace isochrone::sim
