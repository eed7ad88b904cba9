#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "place/core/instance.h"

namespace isochrone::place {

/// A mixed-integer linear program: minimise cost, rows with bounds, columns in
/// [0, upper].
struct MixedInteger {
  struct Column {
    std::string name;
    double cost = 0;
    double upper = 1;
    bool integer = false;
    std::vector<std::pair<int, double>> entries;  ///< row, coefficient
  };
  enum class Sense { kLess, kEqual, kGreater };
  struct Row {
    std::string name;
    Sense sense = Sense::kLess;
    double limit = 0;
  };
  std::vector<Column> columns;
  std::vector<Row> rows;
  double constant = 0;  ///< of the objective

  std::int64_t nonzeros() const;
};

/// The whole instance as one program that any solver can be given: capacity tables as
/// multiple-choice binaries (one per site, option and number of replicas), shares per
/// demand, site and block, and survival as flows of their own per element and block.
/// Money in dollars, loads in requests per second. Every constraint that a plan must
/// keep is in it, shares of traffic in every block too, which the bound leaves out.
/// Meant for instances of moderate size: survival takes elements x blocks x arcs.
MixedInteger mixed_integer(const Instance& instance);

/// Free-format MPS. The constant stands as the right-hand side of the objective, with
/// its sign turned, as is usual.
void write_mps(const MixedInteger& program, const std::string& name, std::ostream& out);

}  // namespace isochrone::place
