#include "base/parallel.h"

#include <exception>
#include <memory>
#include <thread>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

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
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count, 1),
      [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          try {
            body(i);
          } catch (...) {
            failures[i] = std::current_exception();
          }
        }
      },
      tbb::simple_partitioner());
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace isochrone
