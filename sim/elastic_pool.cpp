#include "sim/elastic_pool.h"

#include <algorithm>
#include <stdexcept>

// Who is lost with a replica is known from a list beside its engine, which is thrown
// away whole: the engine itself stays the one that is proven equal to stepping. The
// queue is first come, first served and patience is the same for all, so who leaves
// next is always its head.

namespace isochrone::sim {

ElasticPool::ElasticPool(const PoolKind& kind, const ElasticSettings& settings)
    : kind_(kind), settings_(settings) {
  check(kind);
  if (!kind.batching) throw std::invalid_argument("only batching replicas come and go");
}

void ElasticPool::begin(std::int64_t replicas, std::int64_t now_ns) {
  const BatchingReplica engine(*kind_.batching, kind_.max_num_seqs,
                               kind_.prefix_hit_share);
  for (std::int64_t i = 0; i < replicas; ++i) {
    members_.push_back({engine, Phase::kServing, kNever, now_ns, {}});
  }
  note_paid(now_ns, replicas);
}

// --- coming and going -------------------------------------------------------------

void ElasticPool::want(std::int64_t replicas, std::int64_t now_ns) {
  while (wanted() > replicas && let_one_go(now_ns)) {
  }
  for (Member& member : members_) {
    if (wanted() >= replicas) break;
    if (member.phase != Phase::kDraining) continue;
    member.phase = Phase::kServing;
    take_waiting(member, now_ns);
  }
  while (wanted() < replicas) {
    Member member{
        BatchingReplica(*kind_.batching, kind_.max_num_seqs, kind_.prefix_hit_share),
        Phase::kOrdered,
        now_ns + settings_.provision.count(),
        0,
        {}};
    members_.push_back(std::move(member));
  }
}

bool ElasticPool::let_one_go(std::int64_t now_ns) {
  const auto rank = [&](const Member& member) -> std::int64_t {
    if (member.phase == Phase::kDraining) return -1;
    if (member.phase == Phase::kOrdered) return 1 << 30;
    if (now_ns - member.paid_from_ns < settings_.min_stay.count()) return -1;
    if (member.phase == Phase::kStarting) return 1 << 29;
    return (1 << 28) - static_cast<std::int64_t>(member.inside.size());
  };
  std::size_t best = members_.size();
  for (std::size_t i = members_.size(); i-- > 0;) {
    if (rank(members_[i]) < 0) continue;
    if (best == members_.size() || rank(members_[i]) > rank(members_[best])) best = i;
  }
  if (best == members_.size()) return false;
  if (serves(members_[best]) && !members_[best].inside.empty()) {
    members_[best].phase = Phase::kDraining;
  } else {
    remove(best, now_ns);
  }
  return true;
}

void ElasticPool::remove(std::size_t index, std::int64_t now_ns) {
  if (members_[index].phase != Phase::kOrdered) note_paid(now_ns, -1);
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
}

std::vector<Request> ElasticPool::lose(std::size_t index, std::int64_t now_ns) {
  std::size_t at = 0;
  for (;; ++at) {
    const bool up = serves(members_.at(at)) || members_[at].phase == Phase::kDraining;
    if (up && index-- == 0) break;
  }
  std::vector<Request> lost = std::move(members_[at].inside);
  std::ranges::stable_sort(lost, {}, &Request::arrival_ns);
  remove(at, now_ns);
  return lost;
}

void ElasticPool::note_paid(std::int64_t now_ns, std::int64_t change) {
  const std::int64_t before = paid_.empty() ? 0 : paid_.back().replicas;
  if (!paid_.empty() && paid_.back().from_ns == now_ns) {
    paid_.back().replicas += change;
  } else {
    paid_.push_back({now_ns, before + change});
  }
}

// --- requests ---------------------------------------------------------------------

bool ElasticPool::offer(const Request& request, std::int64_t now_ns) {
  const std::size_t room = queue_.empty() ? roomiest() : members_.size();
  if (room < members_.size()) {
    assign(members_[room], request, now_ns);
    return true;
  }
  if (settings_.admission && queue_.size() >= *settings_.admission) return false;
  const std::int64_t leaves =
      settings_.patience ? now_ns + settings_.patience->count() : kNever;
  queue_.push_back({request, leaves});
  return true;
}

std::size_t ElasticPool::roomiest() const {
  std::size_t best = members_.size();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (!serves(member) || !member.engine.has_room()) continue;
    if (best == members_.size() ||
        member.engine.in_system() < members_[best].engine.in_system()) {
      best = i;
    }
  }
  return best;
}

void ElasticPool::assign(Member& member, const Request& request, std::int64_t now_ns) {
  member.engine.assign(request, now_ns);
  member.inside.push_back(request);
}

void ElasticPool::take_waiting(Member& member, std::int64_t now_ns) {
  while (!queue_.empty() && member.engine.has_room()) {
    assign(member, queue_.front().request, now_ns);
    queue_.pop_front();
  }
}

// --- time -------------------------------------------------------------------------

std::int64_t ElasticPool::event_ns(const Member& member) const {
  const std::int64_t boundary =
      member.engine.idle() ? kNever : member.engine.next_boundary().ns;
  return std::min(boundary, member.due_ns);
}

std::size_t ElasticPool::soonest() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const std::int64_t here = event_ns(members_[i]);
    const std::int64_t there = event_ns(members_[best]);
    // Within a nanosecond the picoseconds decide, as they do in PoolRun.
    const bool both_run = members_[i].due_ns == kNever && here != kNever &&
                          members_[best].due_ns == kNever;
    if (here < there ||
        (here == there && both_run &&
         members_[i].engine.next_boundary() < members_[best].engine.next_boundary())) {
      best = i;
    }
  }
  return best;
}

std::int64_t ElasticPool::next_event_ns() const {
  const std::int64_t leaves = queue_.empty() ? kNever : queue_.front().leaves_ns;
  return members_.empty() ? leaves : std::min(leaves, event_ns(members_[soonest()]));
}

void ElasticPool::step() {
  const std::int64_t leaves = queue_.empty() ? kNever : queue_.front().leaves_ns;
  const std::size_t index = soonest();
  // A slot that comes free at the last instant is still taken.
  if (members_.empty() || leaves < event_ns(members_[index])) {
    left_.push_back(queue_.front().request);
    queue_.pop_front();
    return;
  }
  Member& member = members_[index];
  if (member.due_ns != kNever) return come(member);
  const std::int64_t now_ns = member.engine.next_boundary().ns;
  boundary(member);
  if (member.phase == Phase::kDraining && member.inside.empty()) remove(index, now_ns);
}

void ElasticPool::come(Member& member) {
  const std::int64_t now_ns = member.due_ns;
  if (member.phase == Phase::kOrdered) {
    member.phase = Phase::kStarting;
    member.paid_from_ns = now_ns;
    member.due_ns = now_ns + settings_.cold_start.count();
    note_paid(now_ns, 1);
    return;
  }
  member.phase = Phase::kServing;
  member.due_ns = kNever;
  take_waiting(member, now_ns);
}

void ElasticPool::boundary(Member& member) {
  const std::size_t before = finished_.size();
  member.engine.complete(finished_);
  for (std::size_t i = before; i < finished_.size(); ++i) {
    const auto found =
        std::ranges::find(member.inside, finished_[i].tag, &Request::tag);
    *found = member.inside.back();
    member.inside.pop_back();
  }
  if (serves(member)) take_waiting(member, member.engine.next_boundary().ns);
  if (!member.engine.idle()) member.engine.plan();
}

// --- questions --------------------------------------------------------------------

std::size_t ElasticPool::in_system() const {
  std::size_t count = queue_.size();
  for (const Member& member : members_) count += member.inside.size();
  return count;
}

std::size_t ElasticPool::up() const {
  return static_cast<std::size_t>(std::ranges::count_if(members_, [&](const Member& m) {
    return serves(m) || m.phase == Phase::kDraining;
  }));
}

std::int64_t ElasticPool::wanted() const {
  return std::ranges::count_if(
      members_, [](const Member& m) { return m.phase != Phase::kDraining; });
}

std::int64_t ElasticPool::free_blocks() const {
  std::int64_t sum = 0;
  for (const Member& member : members_) sum += member.engine.free_blocks();
  return sum;
}

std::int64_t ElasticPool::all_blocks() const {
  return static_cast<std::int64_t>(members_.size()) * kind_.batching->kv_blocks;
}

}  // namespace isochrone::sim
