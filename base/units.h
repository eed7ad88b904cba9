#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

namespace isochrone {

using Micros = std::chrono::microseconds;                      ///< network round trips
using Nanos = std::chrono::nanoseconds;                        ///< simulated time
using Picos = std::chrono::duration<std::int64_t, std::pico>;  ///< step coefficients

/// A number that knows what it counts. Made by of(), read by count(), never by
/// accident.
template <class Tag, class Rep>
class Quantity {
 public:
  using rep = Rep;
  constexpr Quantity() = default;
  static constexpr Quantity of(Rep value) { return Quantity(value); }
  constexpr Rep count() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep times) {
    return Quantity(a.value_ * times);
  }
  friend constexpr Quantity operator*(Rep times, Quantity a) { return a * times; }

 private:
  explicit constexpr Quantity(Rep value) : value_(value) {}
  Rep value_{};
};

/// Money in millionths of a US dollar. Integer, so sums do not depend on their order.
using MicroUsd = Quantity<struct MicroUsdTag, std::int64_t>;
using MicroUsdPerHour = Quantity<struct MicroUsdPerHourTag, std::int64_t>;

/// Offered load in millionths of a request per second.
using MicroRps = Quantity<struct MicroRpsTag, std::int64_t>;

/// Hours in the month that prices and plans use.
inline constexpr std::int64_t kHoursPerMonth = 730;

/// Price of one unit for a month of 730 h.
constexpr MicroUsd per_month(MicroUsdPerHour price) {
  return MicroUsd::of(price.count() * kHoursPerMonth);
}

/// Rounds to the nearest micro-dollar, halves away from zero. Throws
/// std::invalid_argument unless `usd` is finite and below 9e12.
MicroUsd usd(double usd);
MicroUsdPerHour usd_per_hour(double usd);
MicroRps requests_per_second(double rps);

constexpr double to_usd(MicroUsd money) {
  return static_cast<double>(money.count()) / 1e6;
}
constexpr double to_rps(MicroRps load) {
  return static_cast<double>(load.count()) / 1e6;
}
constexpr double to_ms(Micros time) { return static_cast<double>(time.count()) / 1e3; }
Micros micros_from_ms(double ms);

/// "$1,234,567" to whole dollars, "$12.34" below one hundred.
std::string to_text(MicroUsd money);
/// "12.3 ms"
std::string to_text(Micros time);

}  // namespace isochrone
