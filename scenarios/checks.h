#pragma once

#include "base/diagnostics.h"
#include "scenarios/scenario.h"
#include "scenarios/vocabulary.h"

namespace isochrone::scenarios {

/// What a check needs: the messages, where each value stands, what may be named, and
/// where faults go. Values that the reader has refused may be unset in `spec` although
/// they are in `source`: presence is asked of `source`.
struct CheckContext {
  const spec::Scenario& spec;
  const SourceMap& source;
  const Vocabulary& vocabulary;
  Diagnostics& faults;

  bool given(const std::string& path) const { return source.has(path); }
  void error(const std::string& path, std::string message, std::string hint = "") const;
  void warning(const std::string& path, std::string message,
               std::string hint = "") const;
};

// What a value means together with others. Each reports all faults of its part.

void check_horizon(const CheckContext& context);
void check_regions(const CheckContext& context);
void check_models(const CheckContext& context);
void check_workloads(const CheckContext& context);
void check_demand(const CheckContext& context);
void check_sites(const CheckContext& context);
void check_terms(const CheckContext& context);
void check_residency(const CheckContext& context);
void check_limits(const CheckContext& context);
void check_network(const CheckContext& context);

/// `slo` at `path` has only objectives that the kind of the workload can have.
void check_metrics(const CheckContext& context, const spec::Workload& workload,
                   const spec::Slo& slo, const std::string& path);
/// Shared by workloads, demand and resilience: `slo` at `path`.
void check_objectives(const CheckContext& context, const spec::Slo& slo,
                      const std::string& path);
/// A length or time at `path`: its parts fit together.
void check_law(const CheckContext& context, const spec::Law& law,
               const std::string& path);
/// A place at `path`: a city of the country, or both coordinates.
void check_place(const CheckContext& context, const std::string& city,
                 const std::string& country, const std::string& path);
void check_low_mid_high(const CheckContext& context, const spec::LowMidHigh& range,
                        const std::string& path);

}  // namespace isochrone::scenarios
