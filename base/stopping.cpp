#include "base/stopping.h"

#include <utility>

namespace isochrone {
namespace {

// Of a thread, since several plans may be made side by side.
thread_local const std::function<bool()>* asked_here = nullptr;

}  // namespace

StopScope::StopScope(std::function<bool()> asked)
    : asked_(std::move(asked)), outer_(asked_here) {
  asked_here = asked_ ? &asked_ : nullptr;
}

StopScope::~StopScope() { asked_here = outer_; }

void stop_if_asked() {
  if (asked_here != nullptr && (*asked_here)()) throw Stopped();
}

namespace stopping {

const std::function<bool()>* current() { return asked_here; }
void adopt(const std::function<bool()>* asked) { asked_here = asked; }

}  // namespace stopping
}  // namespace isochrone
