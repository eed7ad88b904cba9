#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"

namespace isochrone {

/// A CSV table (RFC 4180, UTF-8, header line, LF or CRLF) held as text, with readers
/// that name file, line and column of a bad cell in `Diagnostics` and go on.
class CsvTable {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

  /// Throws InputError if the file cannot be read or is larger than that, or has a
  /// malformed quote, a row of a different width, a repeated or a missing column.
  /// Columns not asked for are kept.
  static CsvTable read(const std::string& path,
                       const std::vector<std::string>& required_columns);
  static CsvTable parse(std::string_view text, const std::string& name,
                        const std::vector<std::string>& required_columns);

  std::size_t size() const { return rows_.size(); }
  const std::string& name() const { return file_; }
  const std::vector<std::string>& columns() const { return header_; }
  /// Line of the file in which the row begins.
  int line(std::size_t row) const { return rows_[row].line; }
  bool has(std::string_view column) const;

  /// The cell as text, "" if empty. The column must exist.
  const std::string& text(std::size_t row, std::string_view column) const;
  SourcePosition position(std::size_t row, std::string_view column) const;

  /// Empty cell or bad number: nullopt; a bad one is also reported.
  std::optional<double> number(std::size_t row, std::string_view column,
                               Diagnostics& faults) const;
  /// Like number(), but an empty cell is a fault too, and the result lies in [low,
  /// high] or is reported. Returns `low` on a fault.
  double number_in(std::size_t row, std::string_view column, double low, double high,
                   Diagnostics& faults) const;
  /// Parts between `|`; none for an empty cell.
  std::vector<std::string> list(std::size_t row, std::string_view column) const;

 private:
  std::size_t column_index(std::string_view column) const;

  struct Row {
    int line = 0;
    std::vector<std::string> cells;
    std::vector<int> columns;  // 1-based start of each cell
  };
  std::string file_;
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

/// The text as a cell: in quotes where it holds a comma, a quote or a line break.
std::string csv_cell(const std::string& text);

}  // namespace isochrone
