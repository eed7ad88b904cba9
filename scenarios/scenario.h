#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "datasets/catalog.h"
#include "scenarios/scenario.pb.h"

namespace isochrone::scenarios {

/// Where each value of a scenario was written. Paths look like
/// `demand[0].regions[2]` or `workloads[1].slo.ttft_p95_ms`.
class SourceMap {
 public:
  void put(std::string path, SourcePosition position);
  /// True if the scenario gives a value at exactly this path.
  bool has(std::string_view path) const { return positions_.contains(path); }
  /// Position of the path, or of its nearest given ancestor.
  SourcePosition at(std::string_view path) const;
  /// `file:line: text of that line`, for messages that cite the scenario.
  std::string cite(std::string_view path) const;
  void set_source(std::string text) { source_ = std::move(text); }

 private:
  std::map<std::string, SourcePosition, std::less<>> positions_;
  std::string source_;
};

/// A scenario that has been read, checked against the catalog, and found sound: every
/// name resolves, every number is in range. Immutable.
struct Scenario {
  spec::Scenario spec;
  SourceMap source;
  std::vector<Diagnostic> warnings;
  std::string normalised;  ///< canonical text of `spec` (deterministic JSON)
  std::string hash;        ///< SHA-256 of `normalised`
  std::string folder;      ///< that relative file names start from
};

/// Where a file lies that a scenario in `folder` names; an absolute name stays as it
/// is.
std::string file_path(const std::string& folder, const std::string& file);

/// One `--set path=value`; the value is read as YAML.
struct Setting {
  std::string path;
  std::string value;
};

/// Reads and checks a scenario file. Throws InputError with every fault, each at its
/// line and column.
Scenario read_scenario(const std::string& path, const datasets::Catalog& catalog,
                       std::span<const Setting> settings = {});

/// The same for text; `name` stands in messages, relative files start from `folder`.
Scenario parse_scenario(std::string_view yaml, const std::string& name,
                        const std::string& folder, const datasets::Catalog& catalog,
                        std::span<const Setting> settings = {});

/// JSON Schema (2020-12) of the format, from the descriptors, for editors.
std::string json_schema();

/// Manual entry of a field path (`sites.build.pue`) or message, "" if there is none.
std::string manual(std::string_view topic);

// Values with their defaults applied, so that each default stands once.

inline constexpr std::uint64_t kDefaultSeed = 42;
inline constexpr double kDefaultGapPct = 1.0;
inline constexpr std::int64_t kDefaultMaxRequests = 10'000'000;
std::uint64_t seed(const Scenario& scenario);
double headroom(const Scenario& scenario);

/// Objectives of a demand entry: the workload's, with those that the entry gives
/// replaced. Sorted by (metric, percentile).
spec::Slo objectives(const Scenario& scenario, const spec::Demand& entry);
/// Degraded objectives; those that are not given are dropped.
spec::Slo degraded_objectives(const Scenario& scenario);

/// Index of the workload that an entry names.
std::size_t workload_index(const Scenario& scenario, const spec::Demand& entry);

}  // namespace isochrone::scenarios
