#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isochrone::sim {

/// The numbers of a CSV or JSON Lines file, by row and column. Dates with a time of day
/// count as seconds since 1970; other text and absent cells are nullopt.
class NumberTable {
 public:
  /// By the file's ending: .csv, else JSON Lines. Throws InputError if it cannot be
  /// read or a line is no object.
  static NumberTable read(const std::string& path);

  std::size_t size() const { return rows_.size(); }
  std::optional<std::size_t> column(std::string_view name) const;
  std::optional<double> at(std::size_t row, std::size_t column) const {
    return rows_[row].cells[column];
  }
  /// Line of the file.
  int line(std::size_t row) const { return rows_[row].line; }

 private:
  struct Row {
    int line = 0;
    std::vector<std::optional<double>> cells;
  };
  static NumberTable read_csv(const std::string& path);
  static NumberTable read_json_lines(const std::string& path);

  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace isochrone::sim
