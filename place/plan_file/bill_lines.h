#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "place/plan.pb.h"

namespace isochrone::place {

/// Kind of a line, and whether it is outside of the bill.
inline std::string told_kind(const plan::BillLine& line) {
  if (line.in_bill()) return line.kind();
  return line.kind() + (line.reported() ? " (reported)" : " (not billed)");
}

/// MicroUsd a month of each pool's GPUs, from the bill: it has one gpu line for each
/// pool, in their order. A batch pool on demand pays for hours, so its rent does not
/// follow from its GPUs. Pools without a line are left out at the end.
inline std::vector<std::int64_t> pool_rents(const plan::Plan& plan) {
  std::vector<std::int64_t> rents;
  for (const plan::BillLine& line : plan.bill()) {
    if (line.kind() == "gpu") rents.push_back(line.usd_micro());
  }
  return rents;
}

}  // namespace isochrone::place
