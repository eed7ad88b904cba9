#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "geo/network.h"

namespace isochrone::geo {

inline constexpr Micros kSatelliteRtt{600'000};

/// What is known about a pair before it is turned into time.
struct PairPath {
  bool reachable = false;
  bool domestic = false;
  int satellite_hops = 0;
  std::int64_t path_m = 0;    ///< after cap and cuts
  std::int64_t intact_m = 0;  ///< the same without the cuts
  double neighbours = 0;      ///< logarithm of what measured neighbours differ by
};

/// The constant of a path of ramp_km and more.
double full_constant_ms(const RegimeCoefficients& coefficients, bool domestic);
/// How much of it, beyond near_ms, a path pays: 0 .. 1.
double grown_share(const RegimeCoefficients& coefficients, double path_km);

/// A regime's coefficients turned into times. Throws std::invalid_argument where they
/// let an RTT beat light in fibre.
class RegimeLaw {
 public:
  RegimeLaw(const RegimeCoefficients& coefficients, const char* regime);

  const RegimeCoefficients& coefficients() const { return c_; }

  Micros travel_time(std::int64_t path_m) const;
  /// Grows from near_ms to its full value with the path; never falls.
  Micros constant(const PairPath& pair, std::int64_t path_m) const;
  /// What measured neighbours add on the intact path (may be negative), such that the
  /// sum of all never beats light over the path that stands.
  Micros neighbours(const PairPath& pair) const;

  RttEntry modelled(const PairPath& pair) const;
  /// A measurement was made on the intact network: where a cut has changed the path,
  /// what the model says of the change is added, and the result is no longer called
  /// measured.
  RttEntry with_measured(const PairPath& pair, Micros measured) const;

 private:
  RegimeCoefficients c_;
};

/// Collects hops. Times are differences of rounded running totals, so that they sum to
/// the rounded total.
class HopList {
 public:
  explicit HopList(const RegimeLaw& law) : law_(law) {}

  void travel(std::string what, std::string from, std::string to, std::int64_t metres);
  void add(std::string what, std::string from, std::string to, Micros rtt,
           double km = 0);
  std::vector<Hop> take() { return std::move(hops_); }

 private:
  const RegimeLaw& law_;
  std::vector<Hop> hops_;
  std::int64_t path_m_ = 0;
};

}  // namespace isochrone::geo
