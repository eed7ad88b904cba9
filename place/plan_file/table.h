#pragma once

#include <string>
#include <vector>

namespace isochrone::place {

/// Rows of text set in columns for a terminal: two blanks between, numbers to the
/// right.
class TextTable {
 public:
  /// A heading that begins with `>` stands, like its column, to the right.
  explicit TextTable(std::vector<std::string> headings);
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Heading and rows, each ended by a line feed, no trailing blanks. Widths count code
  /// points, so that "São Paulo" does not shift its row.
  std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace isochrone::place
