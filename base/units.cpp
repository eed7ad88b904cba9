#include "base/units.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace isochrone {
namespace {

std::int64_t millionths(double value) {
  if (!std::isfinite(value) || std::abs(value) >= 9e12) {
    throw std::invalid_argument(fmt::format("{} does not fit in millionths", value));
  }
  return std::llround(value * 1e6);
}

}  // namespace

MicroUsd usd(double usd) { return MicroUsd::of(millionths(usd)); }

MicroUsdPerHour usd_per_hour(double usd) {
  return MicroUsdPerHour::of(millionths(usd));
}

MicroRps requests_per_second(double rps) { return MicroRps::of(millionths(rps)); }

Micros micros_from_ms(double ms) { return Micros{millionths(ms / 1e3)}; }

std::string to_text(MicroUsd money) {
  const std::int64_t count = money.count();
  const std::string sign = count < 0 ? "-" : "";
  const double dollars = std::abs(static_cast<double>(count)) / 1e6;
  if (dollars < 100) return fmt::format("{}${:.2f}", sign, dollars);
  std::string digits = fmt::format("{:.0f}", dollars);
  for (std::ptrdiff_t i = std::ssize(digits) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), ",");
  }
  return sign + "$" + digits;
}

std::string to_text(Micros time) { return fmt::format("{:.1f} ms", to_ms(time)); }

}  // namespace isochrone
