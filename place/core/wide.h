#pragma once

#include <cstdint>
#include <limits>

namespace isochrone::place {

__extension__ typedef __int128 Wide;  ///< for sums and products of int64

/// Quotient rounded down; `divisor` > 0.
constexpr Wide floor_div(Wide value, Wide divisor) {
  const Wide quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

/// Quotient rounded up; `divisor` > 0.
constexpr Wide ceil_div(Wide value, Wide divisor) {
  const Wide quotient = value / divisor;
  return value % divisor > 0 ? quotient + 1 : quotient;
}

constexpr std::int64_t saturate(Wide value) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value > Limits::max()) return Limits::max();
  if (value < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(value);
}

}  // namespace isochrone::place
