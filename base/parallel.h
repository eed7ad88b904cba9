#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace isochrone {

/// Threads that parallel_map may use from now on, in the whole process; 0 = as many as
/// the machine has. Never changes a result, only how soon it is there.
void set_thread_count(std::size_t threads);
std::size_t thread_count();

/// Calls body(0) .. body(count - 1), in any order, on several threads. The first
/// exception by index is thrown after all have ended. Stops between bodies where the
/// caller is within a StopScope (base/stopping.h).
void parallel_for_each_index(std::size_t count,
                             const std::function<void(std::size_t)>& body);

/// Result i is f(i), whoever computed it. `f` shares nothing mutable.
template <class F>
auto parallel_map(std::size_t count, F&& f) {
  using Result = decltype(f(std::size_t{}));
  // Truths are kept in bytes: neighbours in a vector<bool> share a word, and to write
  // them from two threads is a race.
  using Kept = std::conditional_t<std::is_same_v<Result, bool>, unsigned char, Result>;
  std::vector<Kept> results(count);
  parallel_for_each_index(count, [&](std::size_t i) { results[i] = f(i); });
  return results;
}

}  // namespace isochrone
