#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/parallel_in_order.h"
#include "base/stopping.h"

namespace isochrone {
namespace {

std::unique_ptr<tbb::global_control>& limit() {
  static std::unique_ptr<tbb::global_control> control;
  return control;
}

std::size_t& wanted() {
  static std::size_t threads = 0;
  return threads;
}

}  // namespace

void set_thread_count(std::size_t threads) {
  wanted() = threads;
  limit().reset();
  limit() = std::make_unique<tbb::global_control>(
      tbb::global_control::max_allowed_parallelism, thread_count());
}

std::size_t thread_count() {
  if (wanted() > 0) return wanted();
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

void parallel_for_each_index(std::size_t count,
                             const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> failures(count);
  const std::function<bool()>* const asked = stopping::current();
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count, 1),
      [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          const std::function<bool()>* const own = stopping::current();
          stopping::adopt(asked);
          try {
            stop_if_asked();
            body(i);
          } catch (...) {
            failures[i] = std::current_exception();
          }
          stopping::adopt(own);
        }
      },
      tbb::simple_partitioner());
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void parallel_in_order(std::size_t count, const std::function<void(std::size_t)>& body,
                       const std::function<void(std::size_t)>& done) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex reporting;
  std::vector<unsigned char> ended(count);
  std::size_t reported = 0;
  const auto report = [&](std::size_t i) {
    const std::lock_guard lock(reporting);
    ended[i] = 1;
    while (!failed && reported < count && ended[reported] != 0) done(reported++);
  };
  const auto take_turns = [&](std::size_t) {
    for (std::size_t i = next++; i < count && !failed; i = next++) {
      try {
        // A body that waits for its own parallel parts must not begin another body.
        tbb::this_task_arena::isolate([&] { body(i); });
        report(i);
      } catch (...) {
        failed = true;
        throw;
      }
    }
  };
  parallel_for_each_index(std::min(count, thread_count()), take_turns);
}

}  // namespace isochrone
