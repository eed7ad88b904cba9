#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/diagnostics.h"
#include "datasets/catalog.h"
#include "geo/place.h"

namespace isochrone::datasets {

/// Names of one kind of thing -> their index, for references between tables.
using NameIndex = std::map<std::string, std::uint32_t, std::less<>>;

/// One row of a table, read cell by cell. A bad cell is reported at its place and read
/// as a harmless value, so that the rest of the row is read too.
class Row {
 public:
  Row(const CsvTable& table, std::size_t row, Diagnostics& faults)
      : table_(table), row_(row), faults_(faults) {}

  const std::string& text(std::string_view column) const {
    return table_.text(row_, column);
  }
  int line() const { return table_.line(row_); }
  bool has(std::string_view column) const { return table_.has(column); }
  bool empty(std::string_view column) const { return text(column).empty(); }

  /// Text that must not be empty.
  const std::string& required(std::string_view column) const;
  std::vector<std::string> list(std::string_view column) const {
    return table_.list(row_, column);
  }
  double number(std::string_view column, double low, double high) const {
    return table_.number_in(row_, column, low, high, faults_);
  }
  /// nullopt for an empty cell.
  std::optional<double> optional_number(std::string_view column, double low,
                                        double high) const;
  /// Must be whole.
  std::int64_t integer(std::string_view column, std::int64_t low,
                       std::int64_t high) const;
  /// `yes` or `no`.
  bool flag(std::string_view column) const;
  /// "" or YYYY, YYYY-MM, YYYY-MM-DD; `day` asks for the full form.
  const std::string& date(std::string_view column, bool day = false) const;
  geo::Coordinates coordinates() const;
  Origin origin() const;

  /// The value that belongs to the word; the first one after a fault.
  template <class T>
  T one_of(std::string_view column,
           std::span<const std::pair<std::string_view, T>> words) const {
    for (const auto& [word, value] : words) {
      if (text(column) == word) return value;
    }
    std::vector<std::string> known;
    for (const auto& entry : words) known.emplace_back(entry.first);
    unknown(column, text(column), known);
    return words.front().second;
  }
  /// The cell, which must be one of the words.
  const std::string& word(std::string_view column,
                          std::span<const std::string_view> words) const;

  /// Index of the thing that `name` (a part of the cell) refers to.
  std::optional<std::uint32_t> refer(std::string_view column, std::string_view name,
                                     const NameIndex& known) const;
  std::optional<std::uint32_t> refer(std::string_view column,
                                     const NameIndex& known) const {
    return refer(column, text(column), known);
  }

  void fault(std::string_view column, std::string message, std::string hint = "") const;
  void unknown(std::string_view column, std::string_view name,
               const std::vector<std::string>& known) const;

 private:
  const CsvTable& table_;
  std::size_t row_;
  Diagnostics& faults_;
};

/// Keys of one table: each may stand once.
class Keys {
 public:
  /// Reports a key that stands in an earlier row, with that row's line.
  void claim(const Row& row, std::string_view column, std::string key);

 private:
  std::map<std::string, int, std::less<>> first_line_;
};

}  // namespace isochrone::datasets
