#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "place/verify/facts.h"
#include "place/verify/faults.h"

namespace isochrone::verify {

/// What a cell is about: workload, region, objective, limit in ms.
using CellKey = std::tuple<std::string, std::string, std::string, double>;

/// The cells that must be there: every objective, with the blocks in which somebody
/// whom it holds for sends requests; and the blocks of its workload and region, of
/// which the worst three stand alone.
struct Asked {
  std::map<CellKey, std::set<std::size_t>> blocks;
  std::map<std::pair<std::string, std::string>, std::set<std::size_t>> place_blocks;
  std::vector<CellKey> order;  ///< in which they stand
};

/// Load by block of everybody whom the plan serves, in the order of the populations:
/// part of each assignment rounded down.
using ServedLoads = std::vector<std::array<std::int64_t, scenarios::kBlocks>>;
ServedLoads served_loads(const Facts& facts);

/// Cells of the day, in all blocks that `simulate.hours` covers; and of a drill in one
/// block, under the degraded objectives.
Asked asked_of_day(const Facts& facts, const ServedLoads& served);
Asked asked_of_drill(const Facts& facts, const ServedLoads& served, std::size_t block);

/// Each cell against itself, and all against what is asked; `where` is "cells" or
/// "drills[2].cells".
void check_cell_list(const google::protobuf::RepeatedPtrField<plan::Cell>& cells,
                     const Asked& asked, const std::string& where, Faults& faults);

/// Requests that a list of cells shows: each is simulated once, whatever objectives it
/// counts for.
std::uint64_t requests_shown(
    const google::protobuf::RepeatedPtrField<plan::Cell>& cells);

}  // namespace isochrone::verify
