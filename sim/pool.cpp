#include "sim/pool.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace isochrone::sim {
namespace {

constexpr std::uint32_t kFull = 0xFFFFFFFF;
constexpr std::uint32_t kNobody = 0xFFFFFFFF;

std::int64_t to_ns(double ps) { return std::llround(ps / 1000); }

}  // namespace

void RequestQueue::push(const Request& request) {
  if (size_ == ring_.size()) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(head_),
                ring_.end());
    head_ = 0;
    ring_.resize(2 * ring_.size());
  }
  ring_[(head_ + size_) & (ring_.size() - 1)] = request;
  ++size_;
}

Request RequestQueue::pop() {
  const Request request = ring_[head_];
  head_ = (head_ + 1) & (ring_.size() - 1);
  --size_;
  return request;
}

PoolRun::PoolRun(const PoolKind& kind, std::int64_t replicas) {
  check(kind);
  if (replicas < 1) throw std::invalid_argument("a pool has at least one replica");
  if (kind.slots) {
    slotted_ = true;
    slots_ = *kind.slots;
    computed_share_ = 1 - kind.prefix_hit_share;
    free_at_.assign(static_cast<std::size_t>(replicas * kind.max_num_seqs), 0);
    return;
  }
  const auto count = static_cast<std::size_t>(replicas);
  replicas_.assign(
      count, BatchingReplica(*kind.batching, kind.max_num_seqs, kind.prefix_hit_share));
  load_.assign(count, 0);
  leaves_ = std::bit_ceil(count);
  winners_.assign(2 * leaves_, kNobody);
}

std::size_t PoolRun::in_system() const {
  std::size_t count = queue_.size();
  for (const BatchingReplica& replica : replicas_) count += replica.in_system();
  return count;
}

bool PoolRun::idle() const { return slotted_ || winners_[1] == kNobody; }

std::int64_t PoolRun::next_boundary_ns() const {
  return idle() ? std::numeric_limits<std::int64_t>::max()
                : replicas_[winners_[1]].next_boundary().ns;
}

std::int64_t PoolRun::waiting_since_ns() const {
  return queue_.empty() ? std::numeric_limits<std::int64_t>::max()
                        : queue_.front().arrival_ns;
}

void PoolRun::offer(const Request& request) {
  if (slotted_) return serve_in_slot(request);
  run_until(request.arrival_ns);
  const std::size_t replica = queue_.empty() ? roomiest() : replicas_.size();
  if (replica == replicas_.size()) {
    queue_.push(request);
  } else {
    replicas_[replica].assign(request, request.arrival_ns);
    refresh(replica);
  }
}

void PoolRun::run_until(std::int64_t ns) {
  if (slotted_) return;
  while (next_boundary_ns() < ns) boundary(winners_[1]);
}

bool PoolRun::run_next() {
  if (idle()) return false;
  boundary(winners_[1]);
  return true;
}

void PoolRun::boundary(std::size_t replica) {
  BatchingReplica& here = replicas_[replica];
  here.complete(finished_);
  while (!queue_.empty() && here.has_room()) {
    here.assign(queue_.pop(), here.next_boundary().ns);
  }
  if (!here.idle()) here.plan();
  refresh(replica);
}

std::size_t PoolRun::roomiest() const {
  std::size_t best = replicas_.size();
  std::uint32_t fewest = kFull;
  for (std::size_t i = 0; i < load_.size(); ++i) {
    if (load_[i] < fewest) {
      fewest = load_[i];
      best = i;
    }
  }
  return best;
}

void PoolRun::refresh(std::size_t replica) {
  const BatchingReplica& here = replicas_[replica];
  load_[replica] =
      here.has_room() ? static_cast<std::uint32_t>(here.in_system()) : kFull;
  settle(replica);
}

void PoolRun::settle(std::size_t replica) {
  std::size_t node = leaves_ + replica;
  winners_[node] =
      replicas_[replica].idle() ? kNobody : static_cast<std::uint32_t>(replica);
  for (node /= 2; node >= 1; node /= 2) {
    const std::uint32_t left = winners_[2 * node];
    const std::uint32_t right = winners_[2 * node + 1];
    const bool take_left =
        right == kNobody || (left != kNobody && replicas_[left].next_boundary() <=
                                                    replicas_[right].next_boundary());
    winners_[node] = take_left ? left : right;
  }
}

void PoolRun::serve_in_slot(const Request& request) {
  std::pop_heap(free_at_.begin(), free_at_.end(), std::greater<>{});
  Outcome outcome{request.tag, request.arrival_ns, 0, 0, 0, request.work.answer, false};
  outcome.assigned_ns = std::max(request.arrival_ns, free_at_.back());
  if (slots_.picos_per_token == 0) {
    outcome.answer = 1;
    outcome.last_ns = outcome.first_ns = outcome.assigned_ns + request.work.service_ns;
  } else {
    const double prompt_ps = static_cast<double>(request.work.prompt) *
                             computed_share_ *
                             static_cast<double>(slots_.picos_per_prompt_token);
    const double tokens_ps = static_cast<double>(request.work.answer - 1) *
                             static_cast<double>(slots_.picos_per_token);
    outcome.first_ns = outcome.assigned_ns + to_ns(prompt_ps);
    outcome.last_ns = outcome.first_ns + to_ns(tokens_ps);
  }
  free_at_.back() = outcome.last_ns;
  std::push_heap(free_at_.begin(), free_at_.end(), std::greater<>{});
  finished_.push_back(outcome);
}

}  // namespace isochrone::sim
