#pragma once

#include <exception>
#include <functional>

namespace isochrone {

/// Thrown out of work that nobody waits for any more. Not an error.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};

/// While one lives, the work of this thread, and whatever parallel work it starts, ends
/// with Stopped soon after `asked` is true: between the tasks of
/// parallel_for_each_index and wherever long work calls stop_if_asked(). `asked` is
/// called from many threads and must be cheap; an empty one never stops. The innermost
/// scope of a thread counts, so a part that must not be torn apart opens one of its
/// own. What has ended is never changed by it, so results do not depend on it.
class StopScope {
 public:
  explicit StopScope(std::function<bool()> asked);
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope();

 private:
  std::function<bool()> asked_;
  const std::function<bool()>* outer_;
};

/// Throws Stopped if the innermost scope is asked to stop. A few nanoseconds.
void stop_if_asked();

namespace stopping {

/// What the calling thread is asked to stop by; nullptr: nothing. For base/parallel,
/// which hands it to the threads that help.
const std::function<bool()>* current();
void adopt(const std::function<bool()>* asked);

}  // namespace stopping
}  // namespace isochrone
