#pragma once

#include <cstdint>

#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// Mean of a law of lengths or times, in its own unit. Throws InputError if its file
/// cannot be read.
double mean_of(const spec::Law& law, const Scenario& scenario);

/// Bytes that a mean request of the workload sends to its user: what egress is paid
/// for. 1 kB = 1000 bytes.
std::int64_t egress_bytes_per_request(const Scenario& scenario, std::size_t workload);

/// Round trips that a request makes before its answer can begin: 1 warm, 2 QUIC,
/// 3 TCP + TLS 1.3 (set-up and the request itself).
std::int64_t connection_trips(const spec::Workload& workload);

/// The same for a user who must connect anew, because the site that served it is lost:
/// 2 where the workload speaks QUIC, else 3.
std::int64_t reconnection_trips(const spec::Workload& workload);

/// Time to carry a request up, and for a service its answer down, at the download rate
/// of the population (no upload figures exist); 0 where the rate is not known.
double transfer_ms(const spec::Workload& workload, double download_mbps);

}  // namespace isochrone::scenarios
