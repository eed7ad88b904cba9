#pragma once

#include <cstdint>
#include <vector>

#include "place/core/model.h"

namespace isochrone::place {

/// Whether no coverage row lets the demand go unserved, in whole or in part.
bool must_be_served(const Model& model, int demand);

/// What a site could reach and carry at most for a commodity, at its largest.
struct Reserve {
  Bits reached;
  std::int64_t capacity = 0;
};
Reserve reserve_of(const Model& model, int site, int commodity, bool degraded);

/// Adds proofs that count: demands that need more sites than are allowed (two where the
/// one that serves them may be lost), the largest allowed sites too small, shares of
/// too few or too small groups.
void find_by_counting(const Model& model, std::vector<Conflict>& found);

}  // namespace isochrone::place
