#include "scenarios/traffic.h"

#include <cmath>
#include <vector>

#include "base/csv.h"

namespace isochrone::scenarios {
namespace {

double mean_of_file(const std::string& path) {
  const CsvTable table = CsvTable::read(path, {"value", "weight"});
  Diagnostics faults;
  double sum = 0;
  double weight = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const double w = table.number_in(row, "weight", 0, 1e12, faults);
    sum += w * table.number_in(row, "value", 0, 1e9, faults);
    weight += w;
  }
  faults.throw_if_errors();
  return weight > 0 ? sum / weight : 0;
}

double mean_of_trace(const std::string& path) {
  const CsvTable table = CsvTable::read(path, {});
  for (const char* column : {"GeneratedTokens", "output_length", "output_toks"}) {
    if (!table.has(column)) continue;
    Diagnostics faults;
    double sum = 0;
    for (std::size_t row = 0; row < table.size(); ++row) {
      sum += table.number_in(row, column, 0, 1e9, faults);
    }
    faults.throw_if_errors();
    return table.size() > 0 ? sum / static_cast<double>(table.size()) : 0;
  }
  Diagnostics faults;
  faults.error(
      {path, 1, 1},
      "no column of answer lengths: expected GeneratedTokens, output_length or "
      "output_toks");
  faults.throw_if_errors();
  return 0;
}

}  // namespace

double mean_of(const spec::Law& law, const Scenario& scenario) {
  if (law.has_constant()) return law.constant();
  if (law.has_uniform()) return (law.uniform().min() + law.uniform().max()) / 2;
  if (law.has_lognormal()) return law.lognormal().mean();
  if (law.has_empirical()) {
    return mean_of_file(file_path(scenario.folder, law.empirical()));
  }
  if (law.has_trace()) return mean_of_trace(file_path(scenario.folder, law.trace()));
  return 0;
}

std::int64_t egress_bytes_per_request(const Scenario& scenario, std::size_t workload) {
  const spec::Workload& w = scenario.spec.workloads(static_cast<int>(workload));
  double bytes = w.payload().down_kb() * 1000;
  if (w.has_output_tokens()) {
    bytes += w.payload().down_bytes_per_token() * mean_of(w.output_tokens(), scenario);
  }
  return std::llround(bytes);
}

std::int64_t connection_trips(const spec::Workload& workload) {
  if (workload.connection() == "cold_tls") return 3;
  if (workload.connection() == "cold_quic") return 2;
  return 1;
}

std::int64_t reconnection_trips(const spec::Workload& workload) {
  return workload.connection() == "cold_quic" ? 2 : 3;
}

double transfer_ms(const spec::Workload& workload, double download_mbps) {
  if (download_mbps <= 0) return 0;
  double kb = workload.payload().up_kb();
  if (workload.kind() == "service") kb += workload.payload().down_kb();
  return kb * 8 / download_mbps;  // kB * 8 = kbit; kbit / Mbit/s = ms
}

}  // namespace isochrone::scenarios
