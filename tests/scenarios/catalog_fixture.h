#pragma once

#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// The project's own tables, read once for all tests.
inline const datasets::Catalog& catalog() {
  static const datasets::Catalog tables =
      datasets::Catalog::load(ISOCHRONE_ROOT "/datasets");
  return tables;
}

inline const std::vector<std::string>& example_names() {
  static const std::vector<std::string> names = {"av-simulation",
                                                 "code-completion",
                                                 "drug-discovery",
                                                 "edge-voice",
                                                 "eu-bank-fraud",
                                                 "generative-video",
                                                 "global-chat",
                                                 "hospital-imaging",
                                                 "hyperscaler-vs-neocloud",
                                                 "southeast-asia-latency",
                                                 "training-and-inference"};
  return names;
}

inline std::string example_path(const std::string& name) {
  return ISOCHRONE_ROOT "/scenarios/examples/" + name + ".yaml";
}

/// The smallest scenario that is sound, without its demand. Ends in a line feed.
inline std::string without_demand() {
  return "name: small\n"
         "headroom: 1.2\n"
         "horizon: {order_date: 2026-12-01, start: 2027-04-01, months: 12}\n"
         "workloads:\n"
         "  - name: chat\n"
         "    kind: llm\n"
         "    model: llama-3.1-8b\n"
         "    input_tokens: {constant: 400}\n"
         "    output_tokens: {constant: 100}\n"
         "    slo: {ttft_p95_ms: 800}\n"
         "residency: {mode: off}\n";
}

/// The smallest scenario that is sound; its last line is the demand entry.
inline std::string small_scenario() {
  return without_demand() +
         "demand: [{name: users, workload: chat, users: {DE: 1000}, "
         "requests_per_user_day: 5}]\n";
}

inline Scenario parse(const std::string& yaml,
                      const std::vector<Setting>& settings = {}) {
  return parse_scenario(yaml, "s.yaml", ISOCHRONE_ROOT "/tests/scenarios", catalog(),
                        settings);
}

/// What a user sees; "" if the scenario is sound.
inline std::string faults_of(const std::string& yaml,
                             const std::vector<Setting>& settings = {}) {
  try {
    parse(yaml, settings);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace isochrone::scenarios
