#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "place/verify/verify.h"

namespace isochrone::verify {

/// Collects what a plan claims wrongly. Every check says where, what and what instead.
class Faults {
 public:
  void add(std::string where, std::string message) {
    found_.push_back({std::move(where), std::move(message)});
  }

  /// Reports unless `claimed` equals `should`. True if it does.
  template <class Claimed, class Should>
  bool equal(std::string_view where, const Claimed& claimed, const Should& should) {
    if (claimed == should) return true;
    add(std::string(where),
        fmt::format("\"{}\", it should be \"{}\"", claimed, should));
    return false;
  }

  /// Reports unless two reals agree within `tolerance` (absolute). NaN never agrees.
  bool near(std::string_view where, double claimed, double should, double tolerance) {
    if (std::abs(claimed - should) <= tolerance) return true;
    add(std::string(where), fmt::format("{}, it should be {}", claimed, should));
    return false;
  }

  std::vector<Fault> take() { return std::move(found_); }
  bool empty() const { return found_.empty(); }

 private:
  std::vector<Fault> found_;
};

}  // namespace isochrone::verify
