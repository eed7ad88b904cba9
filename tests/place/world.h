#pragma once

#include <string>

#include <fmt/format.h>

#include "datasets/catalog.h"

namespace isochrone {

/// The tables of the project, read once.
inline const datasets::Catalog& world() {
  static const datasets::Catalog kWorld =
      datasets::Catalog::load(ISOCHRONE_ROOT "/datasets");
  return kWorld;
}

/// An entry of `sites.add` that offers 64 single L40S on demand.
inline std::string l40s_site(const std::string& name, const std::string& city,
                             const std::string& country, double usd_per_hour) {
  return fmt::format(
      "{{name: {}, city: {}, country: {}, offers: [{{gpu: L40S-48GB, shape_gpus: 1, "
      "term: on_demand, usd_per_gpu_hour: {}, available_gpus: 64, "
      "lead_time_days: 10}}]}}",
      name, city, country, usd_per_hour);
}

}  // namespace isochrone
