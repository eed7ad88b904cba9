#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "sim/engine.h"
#include "sim/replica.h"
#include "sim/work.h"

namespace isochrone::sim {

/// What a pool of changing size allows and costs in time.
struct ElasticSettings {
  Nanos provision{0};   ///< from order to a machine that is paid for
  Nanos cold_start{0};  ///< from there to the first request: paid, not serving
  Nanos min_stay{0};    ///< a machine is paid for at least so long
  /// Longest wait for a sequence slot, then the request leaves; unset: for ever.
  std::optional<Nanos> patience = {};
  /// Requests that may wait; more are turned away. Unset: any number.
  std::optional<std::size_t> admission = {};
};

/// Batching replicas that are ordered, paid for, started, drained and lost, behind one
/// first-come-first-served queue with the rules of PoolRun: as long as nothing of the
/// kind happens, both give the same outcomes to the nanosecond.
///
/// The caller owns the clock: next_event_ns() says when something happens here, and
/// step() lives through it; times given never go back.
class ElasticPool {
 public:
  /// A point in time from which so many replicas are paid for.
  struct Paid {
    std::int64_t from_ns = 0;
    std::int64_t replicas = 0;
  };

  /// Throws std::invalid_argument unless the kind batches and check(kind) passes.
  ElasticPool(const PoolKind& kind, const ElasticSettings& settings);

  /// Replicas that are there and serve from now on.
  void begin(std::int64_t replicas, std::int64_t now_ns);
  /// Orders or lets go until so many are wanted. First those still ordered go, then the
  /// latest that start, then the emptiest, which end what they run; nobody is let go
  /// before min_stay. Those that drain are called back before new ones are ordered.
  void want(std::int64_t replicas, std::int64_t now_ns);
  /// Takes away the serving replica `index` of those that serve or drain; what ran
  /// there is returned in the order of arrival, its KV and tokens lost.
  std::vector<Request> lose(std::size_t index, std::int64_t now_ns);

  /// False if it is turned away. Patience begins at `now_ns`.
  bool offer(const Request& request, std::int64_t now_ns);
  /// The largest value if nothing is to come.
  std::int64_t next_event_ns() const;
  void step();

  /// The caller clears both.
  std::vector<Outcome>& finished() { return finished_; }
  std::vector<Request>& left() { return left_; }  ///< their patience ended

  std::size_t waiting() const { return queue_.size(); }
  std::size_t in_system() const;
  /// Serving or draining.
  std::size_t up() const;
  /// Ordered, starting or serving: what want() has asked for.
  std::int64_t wanted() const;
  /// Every change of the number of paid replicas, ascending in time.
  const std::vector<Paid>& paid() const { return paid_; }
  /// Free KV blocks of all replicas that are up, beside all they have.
  std::int64_t free_blocks() const;
  std::int64_t all_blocks() const;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  enum class Phase : std::uint8_t { kOrdered, kStarting, kServing, kDraining };
  struct Member {
    BatchingReplica engine;
    Phase phase = Phase::kOrdered;
    std::int64_t due_ns = kNever;  // ordered: paid from; starting: serves from
    std::int64_t paid_from_ns = 0;
    std::vector<Request> inside = {};
  };
  struct Waiting {
    Request request;
    std::int64_t leaves_ns = kNever;
  };

  bool serves(const Member& member) const { return member.phase == Phase::kServing; }
  std::int64_t event_ns(const Member& member) const;
  std::size_t soonest() const;
  std::size_t roomiest() const;
  void assign(Member& member, const Request& request, std::int64_t now_ns);
  void boundary(Member& member);
  void come(Member& member);
  void take_waiting(Member& member, std::int64_t now_ns);
  bool let_one_go(std::int64_t now_ns);
  void remove(std::size_t index, std::int64_t now_ns);
  void note_paid(std::int64_t now_ns, std::int64_t change);

  PoolKind kind_;
  ElasticSettings settings_;
  std::vector<Member> members_;  // in the order of their orders
  std::deque<Waiting> queue_;
  std::vector<Outcome> finished_;
  std::vector<Request> left_;
  std::vector<Paid> paid_;
};

}  // namespace isochrone::sim
