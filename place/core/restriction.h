#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace isochrone::place {

/// A part of all plans: what every site may still do. Ranks are those of
/// Model::ranks().
struct Restriction {
  enum class Open : std::int8_t { kFree, kNo, kYes };
  struct Range {
    int first = 0;  ///< rank 0: nothing is built
    int last = std::numeric_limits<int>::max();
    bool holds(int rank) const { return rank >= first && rank <= last; }
    bool whole() const { return first == 0 && last == std::numeric_limits<int>::max(); }
  };

  Restriction(std::size_t sites, std::size_t commodities)
      : open(sites, Open::kFree), range(sites * commodities) {}

  std::vector<Open> open;    ///< by site
  std::vector<Range> range;  ///< [site * commodities + commodity]
};

}  // namespace isochrone::place
