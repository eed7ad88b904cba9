#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/catalog.h"
#include "datasets/outlines.h"

namespace isochrone::datasets {

/// One promise about the tables, tried on everything that it speaks of.
struct AuditedPromise {
  std::string promise;
  std::size_t looked_at = 0;  ///< rows or things that were tried
  std::string remark;         ///< what a reader should know beside it; may be empty
  std::vector<std::string> breaches;
};

/// What a strict load cannot see because it takes knowledge from outside the row: that
/// a place lies in its country, that a zone is the city's, that weights, memory, law
/// and prices make sense. Keys, references and ranges need no second look: a catalog
/// that loads has them. Deterministic; about 0.2 s.
std::vector<AuditedPromise> audit(const Catalog& catalog,
                                  const CountryOutlines& outlines);

}  // namespace isochrone::datasets
