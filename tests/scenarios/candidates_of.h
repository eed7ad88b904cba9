#pragma once

#include <algorithm>
#include <string>

#include "scenarios/candidates.h"
#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {

inline const std::string kBuild = R"(build {
  amortise_months: 36 resale_share: 0.4 pue: 1.4
  colo_usd_kw_month { low: 120 mid: 180 high: 300 } lead_time_weeks: 44
  gpus { gpu: "H100-80GB-SXM" shape_gpus: 8 kw: 1.3
         capex_usd { low: 36000 mid: 45000 high: 55000 } } })";
inline const std::string kDiscount =
    R"(discount { key: "reserved_1y" value { low: 0.25 mid: 0.35 high: 0.45 } })";
inline const std::string kBothTerms =
    R"(terms { allow: ["on_demand", "reserved_1y"] )" + kDiscount + " } ";

inline Candidates candidates_of(const std::string& fields) {
  return find_candidates(small_scenario(fields), world());
}

inline const CandidateSite* site(const Candidates& candidates, const std::string& id) {
  const auto found = std::ranges::find(candidates.sites, id, &CandidateSite::id);
  return found == candidates.sites.end() ? nullptr : &*found;
}

inline const Offer* offer(const Candidates& candidates, const std::string& id,
                          const std::string& gpu, int shape, const std::string& term) {
  const CandidateSite* where = site(candidates, id);
  if (!where) return nullptr;
  for (const Offer& one : where->offers) {
    if (world().gpus[one.gpu].id == gpu && one.shape_gpus == shape &&
        one.term == term) {
      return &one;
    }
  }
  return nullptr;
}

inline bool noted(const Candidates& candidates, const std::string& part) {
  return std::ranges::any_of(candidates.notes, [&](const std::string& note) {
    return note.find(part) != std::string::npos;
  });
}

}  // namespace isochrone::scenarios
