#include "geo/regime_law.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace isochrone::geo {
namespace {

Micros at_stretch(std::int64_t path_m, double stretch) {
  const double km = static_cast<double>(path_m) / 1e3;
  return Micros{std::llround(2e6 * km / kFibreKmPerSecond * stretch)};
}

}  // namespace

double full_constant_ms(const RegimeCoefficients& c, bool domestic) {
  return domestic ? c.domestic_ms.value_or(c.constant_ms) : c.constant_ms;
}

double grown_share(const RegimeCoefficients& c, double path_km) {
  return c.ramp_km > 0 ? std::min(1.0, path_km / c.ramp_km) : 1.0;
}

RegimeLaw::RegimeLaw(const RegimeCoefficients& coefficients, const char* regime)
    : c_(coefficients) {
  if (!(c_.stretch >= 1) || !(c_.near_ms >= 0) || !(c_.constant_ms >= c_.near_ms) ||
      !(c_.domestic_ms.value_or(c_.near_ms) >= c_.near_ms) || !(c_.cap_factor >= 1) ||
      !(c_.cap_km >= 0)) {
    throw std::invalid_argument(
        fmt::format("{} coefficients let an RTT beat light in fibre", regime));
  }
}

Micros RegimeLaw::travel_time(std::int64_t path_m) const {
  return at_stretch(path_m, c_.stretch);
}

Micros RegimeLaw::constant(const PairPath& pair, std::int64_t path_m) const {
  const double km = static_cast<double>(path_m) / 1e3;
  const double full_ms = full_constant_ms(c_, pair.domestic);
  return micros_from_ms(c_.near_ms + (full_ms - c_.near_ms) * grown_share(c_, km));
}

Micros RegimeLaw::neighbours(const PairPath& pair) const {
  if (pair.neighbours == 0) return Micros{0};
  const Micros intact = travel_time(pair.intact_m) + constant(pair, pair.intact_m);
  const Micros added{
      std::llround(static_cast<double>(intact.count()) * std::expm1(pair.neighbours))};
  const Micros base = travel_time(pair.path_m) + constant(pair, pair.path_m);
  return std::max(added, at_stretch(pair.path_m, 1) - base);
}

RttEntry RegimeLaw::modelled(const PairPath& pair) const {
  if (!pair.reachable) {
    return {kSatelliteRtt + micros_from_ms(c_.constant_ms), RttBasis::kSatellite};
  }
  const Micros rtt =
      travel_time(pair.path_m) + constant(pair, pair.path_m) + neighbours(pair);
  if (pair.satellite_hops == 0) return {rtt, RttBasis::kModelled};
  return {rtt + pair.satellite_hops * kSatelliteRtt, RttBasis::kSatellite};
}

RttEntry RegimeLaw::with_measured(const PairPath& pair, Micros measured) const {
  if (pair.path_m == pair.intact_m) return {measured, RttBasis::kMeasured};
  const RttEntry model = modelled(pair);
  if (model.basis == RttBasis::kSatellite) return model;
  const Micros change = travel_time(pair.path_m) + constant(pair, pair.path_m) -
                        travel_time(pair.intact_m) - constant(pair, pair.intact_m);
  return {measured + std::max(Micros{0}, change), RttBasis::kModelled};
}

void HopList::travel(std::string what, std::string from, std::string to,
                     std::int64_t metres) {
  const Micros before = law_.travel_time(path_m_);
  path_m_ += metres;
  add(std::move(what), std::move(from), std::move(to),
      law_.travel_time(path_m_) - before, static_cast<double>(metres) / 1e3);
}

void HopList::add(std::string what, std::string from, std::string to, Micros rtt,
                  double km) {
  hops_.push_back({std::move(what), std::move(from), std::move(to), km, rtt});
}

}  // namespace isochrone::geo
