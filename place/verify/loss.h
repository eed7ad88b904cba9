#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "place/verify/cell.h"
#include "place/verify/facts.h"

namespace isochrone::verify {

/// What is left of a plan after the loss of one element: which pools, and whom they may
/// serve on degraded terms. Batch pools are outside of it.
class Losses {
 public:
  explicit Losses(const Facts& facts);

  /// Elements that the plan uses and must survive the loss of; empty if none.
  const std::set<std::string>& elements() const { return elements_; }
  /// Pools that may serve the population after a loss, by index.
  const std::vector<std::size_t>& pools_of(scenarios::PopulationId id) const {
    return pools_of_[id.index()];
  }
  bool survives(std::size_t pool, const std::string& element) const {
    return element_of_pool_[pool] != element;
  }
  /// Degraded capacity of all pools that are left.
  std::int64_t surviving(const std::string& element) const;

  struct Worth {
    std::int64_t need = 0;
    std::int64_t left = 0;
  };
  /// Load of a cut's users, and capacity of the pools left within their degraded reach;
  /// nullopt if they are not ascending indices of the plan's populations.
  std::optional<Worth> measure(const std::string& element, const plan::Cut& cut,
                               const ServedLoads& loads,
                               const std::vector<std::int64_t>& capacity) const;
  /// Degraded capacities of the plan's pools.
  std::vector<std::int64_t> capacities() const;

  /// Whether all loads of a block find a place where each surviving pool carries
  /// `need / left` of its degraded capacity, rounded up.
  bool carried(const std::string& element, std::size_t block, const ServedLoads& loads,
               std::int64_t need, std::int64_t left) const;

  /// Loads that find no place at the plan's degraded capacities, and the users in the
  /// smallest cut.
  struct Shortfall {
    std::int64_t missing = 0;
    std::int64_t total = 0;
    std::vector<scenarios::PopulationId> cut;
  };
  Shortfall shortfall(const std::string& element, std::size_t block,
                      const ServedLoads& loads) const;

 private:
  Shortfall flow(const std::string& element, std::size_t block,
                 const ServedLoads& loads,
                 const std::vector<std::int64_t>& capacity) const;

  const Facts& facts_;
  std::vector<std::string> element_of_pool_;
  std::set<std::string> elements_;
  std::vector<std::vector<std::size_t>> pools_of_;  // by population
};

/// Load by block that must survive, of every population: what is not left out, rounded
/// down once.
ServedLoads loads_to_survive(const Facts& facts);

}  // namespace isochrone::verify
