#pragma once

#include <stdexcept>
#include <string>

#include <google/protobuf/text_format.h>

#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// The tables of the project.
inline const datasets::Catalog& world() {
  static const datasets::Catalog kWorld =
      datasets::Catalog::load(ISOCHRONE_ROOT "/datasets");
  return kWorld;
}

/// One llm workload "chat" from 2027-01-01 for 12 months, residency off; `fields` in
/// protobuf text format is merged over it.
inline Scenario small_scenario(const std::string& fields) {
  Scenario scenario;
  const std::string text = R"(
    name: "small"
    horizon { order_date: "2026-01-01" start: "2027-01-01" months: 12 }
    workloads { name: "chat" kind: "llm" }
    residency { mode: "off" })";
  google::protobuf::TextFormat::Parser parser;
  parser.AllowPartialMessage(true);
  if (!parser.ParseFromString(text, &scenario.spec) ||
      !parser.MergeFromString(fields, &scenario.spec)) {
    throw std::logic_error("bad text: " + fields);
  }
  return scenario;
}

inline geo::CountryCode country(const std::string& code) {
  return geo::CountryCode::parse(code).value();
}

}  // namespace isochrone::scenarios
