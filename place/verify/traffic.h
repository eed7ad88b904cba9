#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "place/verify/facts.h"

namespace isochrone::verify {

/// Time on the wire of what a request sends up, and of what a service sends down, at
/// the population's download rate; 0 where that is not known.
double transfer_ms(const spec::Workload& workload, const geo::AccessLaw& access);

/// Round trips before an answer can begin: 1 warm, 2 QUIC, 3 TCP with TLS 1.3.
std::int64_t connection_trips(const spec::Workload& workload);
/// The same of a user who must connect anew: 2 QUIC, else 3.
std::int64_t reconnection_trips(const spec::Workload& workload);

/// What leaves the sites, in bytes, and what it costs. 1 GB = 10^9 bytes; rates are
/// whole micro-dollars per GB.
class Traffic {
 public:
  explicit Traffic(const Facts& facts);

  std::int64_t bytes_per_request(std::size_t workload) const {
    return bytes_[workload];
  }

  /// Lowest paid rate of a site's tiers below a volume; 0 if nothing is ever paid.
  static std::int64_t lowest_paid_rate(const datasets::EgressPrice& price,
                                       std::int64_t volume);
  /// The same for all the traffic of the scenario.
  std::int64_t lowest_paid_rate(const datasets::EgressPrice& price) const {
    return lowest_paid_rate(price, everything_);
  }

  /// Bytes times rate never exceeds the bill by more than this: the free tier.
  std::int64_t free_allowance(const datasets::EgressPrice& price) const;

  /// Bill of a volume through the tiers, whole micro-dollars.
  static std::int64_t bill(const datasets::EgressPrice& price, std::int64_t volume);

  /// Bytes that leave each site of the plan in a mean month, by site name.
  std::map<std::string, std::int64_t> by_site() const;

 private:
  const Facts& facts_;
  std::vector<std::int64_t> bytes_;
  std::int64_t everything_ = 1;
};

/// bytes at a rate, rounded down.
std::int64_t at_rate(std::int64_t bytes, std::int64_t usd_micro_per_gb);

}  // namespace isochrone::verify
