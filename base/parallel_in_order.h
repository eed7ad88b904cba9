#pragma once

#include <cstddef>
#include <functional>

namespace isochrone {

/// Starts body(0), body(1), ... in this order on several threads, and calls done(i)
/// once for each, in this order and one at a time, as soon as bodies 0 to i have ended:
/// so hardly more results wait than there are threads. After an exception nothing
/// further begins, and it is thrown when all that runs has ended.
void parallel_in_order(std::size_t count, const std::function<void(std::size_t)>& body,
                       const std::function<void(std::size_t)>& done);

}  // namespace isochrone
