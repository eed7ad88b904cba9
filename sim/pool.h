#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine.h"
#include "sim/replica.h"
#include "sim/work.h"

namespace isochrone::sim {

/// First in, first out, on a ring that grows to what was needed once.
class RequestQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const Request& front() const { return ring_[head_]; }  ///< not of an empty queue
  void push(const Request& request);
  Request pop();

 private:
  std::vector<Request> ring_ = std::vector<Request>(64);
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

/// Replicas of one kind behind one first-come-first-served queue: an arriving request
/// goes to the replica with room that holds the fewest requests (the lowest index among
/// equals), else it waits and the next replica that has room takes it. Single-threaded;
/// does not allocate once queue and outcomes have reached their size.
class PoolRun {
 public:
  /// Throws std::invalid_argument unless `replicas` >= 1 and check(kind) passes.
  PoolRun(const PoolKind& kind, std::int64_t replicas);

  /// A request arrives; times never go back. It is seen by a step boundary of the same
  /// instant.
  void offer(const Request& request);
  /// Lives through everything before `ns`.
  void run_until(std::int64_t ns);
  /// Lives through the next boundary, if anything is running.
  bool run_next();

  bool idle() const;
  /// Whole ns of the next boundary; the largest value if nothing is running.
  std::int64_t next_boundary_ns() const;
  /// Of requests that have ended, in the order of their end (slot engines: of their
  /// start). The caller clears them.
  std::vector<Outcome>& finished() { return finished_; }
  std::size_t waiting() const { return queue_.size(); }
  /// Arrival of the head of the queue; the largest value if nobody waits.
  std::int64_t waiting_since_ns() const;
  /// Batching engines: requests that wait or run.
  std::size_t in_system() const;

 private:
  void boundary(std::size_t replica);
  void refresh(std::size_t replica);
  std::size_t roomiest() const;
  void settle(std::size_t replica);
  void serve_in_slot(const Request& request);

  // Batching engines.
  std::vector<BatchingReplica> replicas_;
  std::vector<std::uint32_t> load_;  // requests in the system; kFull: has no room
  std::vector<std::uint32_t>
      winners_;  // tournament: the replica with the next boundary
  std::size_t leaves_ = 1;
  RequestQueue queue_;

  // Slot engines: the times at which slots become free, a heap.
  bool slotted_ = false;
  SlotEngine slots_;
  double computed_share_ = 1;
  std::vector<std::int64_t> free_at_;

  std::vector<Outcome> finished_;
};

}  // namespace isochrone::sim
