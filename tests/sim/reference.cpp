#include "tests/sim/reference.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace isochrone::sim {
namespace {

struct Sequence {
  Request request;
  std::int64_t assigned_ns = 0;
  std::int64_t first_ns = 0;
  std::int64_t emitted = 0;
  std::int64_t in_kv = 0;   // tokens
  std::int64_t blocks = 0;  // held
  bool decoding = false;
  bool preempted = false;
  bool seen = false;  // when the step that runs was planned

  std::int64_t needed() const { return request.work.prompt + emitted; }
};

/// What a free block still holds: block `index` of the context of request `tag`.
struct Content {
  std::uint64_t tag = 0;
  std::int64_t index = -1;  // -1: nothing of use
};

class SteppedReplica {
 public:
  explicit SteppedReplica(const PoolKind& kind)
      : kind_(kind), free_(static_cast<std::size_t>(kind.batching->kv_blocks)) {}

  bool idle() const { return running_.empty() && waiting_.empty(); }
  std::size_t in_system() const { return running_.size() + waiting_.size(); }
  bool has_room() const {
    return in_system() < static_cast<std::size_t>(kind_.max_num_seqs) && !blocked_;
  }
  std::int64_t boundary_ns() const { return ns_; }
  std::int64_t boundary_ps() const { return ps_; }

  void assign(const Request& request, std::int64_t now_ns) {
    if (idle() && !at_boundary_) ns_ = now_ns, ps_ = 0;
    Sequence sequence;
    sequence.request = request;
    sequence.assigned_ns = now_ns;
    waiting_.push_back(sequence);
  }

  void end_step(std::vector<Outcome>& finished) {
    at_boundary_ = true;
    std::vector<Sequence> staying;
    for (Sequence& sequence : running_) {
      if (stepped_ && sequence.in_kv == sequence.needed()) {
        if (++sequence.emitted == 1) sequence.first_ns = ns_;
        sequence.decoding = true;
      }
      if (sequence.emitted == sequence.request.work.answer) {
        free_.resize(free_.size() + static_cast<std::size_t>(sequence.blocks));
        finished.push_back({sequence.request.tag, sequence.request.arrival_ns,
                            sequence.assigned_ns, sequence.first_ns, ns_,
                            sequence.request.work.answer, sequence.preempted});
      } else {
        staying.push_back(sequence);
      }
    }
    running_ = staying;
    stepped_ = false;
  }

  void begin_step() {
    at_boundary_ = false;
    if (idle()) return;
    blocked_ = false;
    preempted_ = false;
    tokens_ = decodes_ = cached_ = area2_ = 0;
    for (Sequence& sequence : waiting_) {
      if (running_.empty() || !kind_.batching->plans_ahead) sequence.seen = true;
    }
    schedule_decodes();
    if (!preempted_) schedule_running_prefill();
    if (!preempted_) schedule_waiting();
    for (Sequence& sequence : waiting_) sequence.seen = true;
    advance_time();
    stepped_ = true;
  }

 private:
  std::int64_t blocks_for(std::int64_t tokens) const {
    const std::int64_t block = kind_.batching->kv_block_tokens;
    std::int64_t wanted = 0;
    while (wanted * block < tokens) ++wanted;
    return wanted;
  }

  bool take_blocks(Sequence& sequence, std::int64_t tokens) {
    const std::int64_t wanted = blocks_for(tokens);
    const auto free = static_cast<std::int64_t>(free_.size());
    if (wanted - sequence.blocks > free) return false;
    for (; sequence.blocks < wanted; ++sequence.blocks) free_.pop_front();
    return true;
  }

  /// Tokens that free blocks still hold of a preempted request, from its beginning on.
  std::int64_t found_tokens(const Sequence& sequence) const {
    std::int64_t blocks = 0;
    const auto holds = [&](const Content& content) {
      return content.tag == sequence.request.tag && content.index == blocks;
    };
    while (std::any_of(free_.begin(), free_.end(), holds)) ++blocks;
    return blocks * kind_.batching->kv_block_tokens;
  }

  void take_found(Sequence& sequence, std::int64_t tokens) {
    std::erase_if(free_, [&](const Content& content) {
      return content.tag == sequence.request.tag && content.index >= 0;
    });
    sequence.blocks = tokens / kind_.batching->kv_block_tokens;
  }

  void preempt_last() {
    Sequence victim = running_.back();
    running_.pop_back();
    const std::int64_t full = victim.in_kv / kind_.batching->kv_block_tokens;
    for (std::int64_t i = victim.blocks - 1; i >= 0; --i) {
      const bool kept = kind_.batching->keeps_blocks && i < full;
      free_.push_back({victim.request.tag, kept ? i : -1});
    }
    victim.blocks = victim.in_kv = 0;
    victim.decoding = false;
    victim.preempted = true;
    waiting_.push_front(victim);
    blocked_ = preempted_ = true;
  }

  // In order of admission, as the engine does; who fails takes from the last.
  void schedule_decodes() {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (!running_[i].decoding) continue;
      while (i < running_.size() && !take_blocks(running_[i], running_[i].needed())) {
        preempt_last();
      }
    }
    for (Sequence& sequence : running_) {
      if (!sequence.decoding) continue;
      cached_ += sequence.in_kv;
      ++sequence.in_kv;
      ++decodes_;
    }
  }

  std::int64_t budget() const {
    return kind_.batching->chunk_tokens - decodes_ - tokens_;
  }

  bool prefill(Sequence& sequence) {
    const bool enters = sequence.in_kv == 0;
    const std::int64_t found = enters ? found_tokens(sequence) : 0;
    if (enters) {
      const Work& work = sequence.request.work;
      auto hit = static_cast<std::int64_t>(kind_.prefix_hit_share *
                                           static_cast<double>(work.prompt));
      if (work.cached >= 0) hit = work.cached;
      if (work.handed_over && sequence.preempted) hit = 0;
      sequence.in_kv = std::max(found, std::min(hit, work.prompt - 1));
    }
    const std::int64_t chunk = std::min(budget(), sequence.needed() - sequence.in_kv);
    const bool whole = enters && kind_.batching->reserves_prompt;
    const std::int64_t wanted =
        blocks_for(whole ? sequence.needed() : sequence.in_kv + chunk);
    if (wanted - sequence.blocks > static_cast<std::int64_t>(free_.size())) {
      return false;
    }
    if (enters) take_found(sequence, found);
    take_blocks(sequence, sequence.in_kv + chunk);
    area2_ += chunk * (2 * sequence.in_kv + chunk);
    sequence.in_kv += chunk;
    tokens_ += chunk;
    return true;
  }

  void schedule_running_prefill() {
    if (running_.empty() || budget() == 0) return;
    Sequence& last = running_.back();
    // A decode has all its tokens in KV by now; so only a prefill under way is short.
    if (last.in_kv == last.needed()) return;
    if (!prefill(last)) preempt_last();
  }

  void schedule_waiting() {
    while (!waiting_.empty() && waiting_.front().seen && budget() > 0) {
      Sequence head = waiting_.front();
      if (!prefill(head)) {
        blocked_ = true;
        return;
      }
      waiting_.pop_front();
      running_.push_back(head);
    }
  }

  void advance_time() {
    const datasets::StepTimes& t = kind_.batching->step;
    std::int64_t step = t.t0 + t.b * decodes_ + t.c * cached_;
    if (tokens_ > 0) {
      step = std::max(t.t0_prefill, t.a * (tokens_ + decodes_) + t.f) +
             t.b_prefill * decodes_ + t.c_prefill * cached_ + t.d * area2_ / 2;
    }
    ps_ += step;
    ns_ += ps_ / 1000;
    ps_ %= 1000;
  }

  const PoolKind& kind_;
  std::vector<Sequence> running_;  // in order of admission
  std::deque<Sequence> waiting_;
  std::deque<Content> free_;
  std::int64_t ns_ = 0;
  std::int64_t ps_ = 0;
  bool stepped_ = false;
  bool at_boundary_ = false;
  bool blocked_ = false;
  bool preempted_ = false;
  std::int64_t tokens_ = 0;
  std::int64_t decodes_ = 0;
  std::int64_t cached_ = 0;
  std::int64_t area2_ = 0;
};

std::optional<std::size_t> next_to_step(const std::vector<SteppedReplica>& replicas) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i].idle()) continue;
    if (!best || replicas[i].boundary_ns() < replicas[*best].boundary_ns() ||
        (replicas[i].boundary_ns() == replicas[*best].boundary_ns() &&
         replicas[i].boundary_ps() < replicas[*best].boundary_ps())) {
      best = i;
    }
  }
  return best;
}

}  // namespace

std::vector<Outcome> reference_outcomes(const PoolKind& kind, std::int64_t count,
                                        const std::vector<Request>& requests) {
  std::vector<SteppedReplica> replicas(static_cast<std::size_t>(count),
                                       SteppedReplica(kind));
  std::deque<Request> queue;
  std::vector<Outcome> finished;
  std::size_t coming = 0;
  while (true) {
    const auto next = next_to_step(replicas);
    if (coming < requests.size() &&
        (!next || requests[coming].arrival_ns <= replicas[*next].boundary_ns())) {
      const Request& request = requests[coming++];
      SteppedReplica* chosen = nullptr;
      for (SteppedReplica& replica : replicas) {
        if (!replica.has_room() || !queue.empty()) continue;
        if (!chosen || replica.in_system() < chosen->in_system()) chosen = &replica;
      }
      if (chosen) {
        chosen->assign(request, request.arrival_ns);
      } else {
        queue.push_back(request);
      }
      continue;
    }
    if (!next) break;
    SteppedReplica& replica = replicas[*next];
    replica.end_step(finished);
    while (!queue.empty() && replica.has_room()) {
      replica.assign(queue.front(), replica.boundary_ns());
      queue.pop_front();
    }
    replica.begin_step();
  }
  std::sort(finished.begin(), finished.end(),
            [](const Outcome& a, const Outcome& b) { return a.tag < b.tag; });
  return finished;
}

}  // namespace isochrone::sim
