#include "base/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/read_file.h"

namespace isochrone {
namespace {

struct Cell {
  std::string text;
  int line = 0;
  int column = 0;
};

/// Walks the text cell by cell, keeping the place.
class Scanner {
 public:
  Scanner(std::string_view text, std::string file, Diagnostics& faults)
      : text_(text), file_(std::move(file)), faults_(faults) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  bool at_end() const { return at_ >= text_.size(); }

  /// One record; the scanner stands at the start of the next one afterwards.
  std::vector<Cell> record() {
    std::vector<Cell> cells;
    cells.reserve(width_);
    while (true) {
      cells.push_back(cell());
      width_ = std::max(width_, cells.size());
      if (at_end()) return cells;
      const char stop = text_[at_++];
      ++column_;
      if (stop == ',') continue;
      if (stop == '\r' && !at_end() && text_[at_] == '\n') ++at_;
      ++line_;
      column_ = 1;
      return cells;
    }
  }

 private:
  Cell cell() {
    Cell cell{"", line_, column_};
    const bool quoted = !at_end() && text_[at_] == '"';
    if (quoted) {
      read_quoted(cell);
    } else {
      const auto stop = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      cell.text.assign(text_, at_, stop - at_);
      column_ += static_cast<int>(stop - at_);
      at_ = stop;
    }
    return cell;
  }

  void read_quoted(Cell& cell) {
    ++at_;
    ++column_;
    while (!at_end()) {
      const char c = text_[at_++];
      ++column_;
      if (c == '"') {
        if (at_end() || text_[at_] != '"') {
          if (!at_end() && text_[at_] != ',' && text_[at_] != '\n' &&
              text_[at_] != '\r') {
            faults_.error({file_, line_, column_}, "text after a closing quote");
            while (!at_end() && text_[at_] != ',' && text_[at_] != '\n') ++at_;
          }
          return;
        }
        ++at_;
        ++column_;
      }
      if (c == '\n') {
        ++line_;
        column_ = 1;
      }
      cell.text += c;
    }
    faults_.error({file_, cell.line, cell.column}, "quote is never closed");
  }

  std::string_view text_;
  std::string file_;
  Diagnostics& faults_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  std::size_t width_ = 0;  // of the widest record so far
};

}  // namespace

CsvTable CsvTable::read(const std::string& path,
                        const std::vector<std::string>& required_columns) {
  return parse(read_file(path, kMostBytes), path, required_columns);
}

CsvTable CsvTable::parse(std::string_view text, const std::string& name,
                         const std::vector<std::string>& required_columns) {
  Diagnostics faults;
  Scanner scanner(text, name, faults);
  CsvTable table;
  table.file_ = name;
  if (scanner.at_end()) faults.error({name, 1, 1}, "is empty: no header line");
  if (text.find('\0') != std::string_view::npos) {
    faults.error({name, 1, 1}, "is no text: it holds a NUL byte");
  }
  faults.throw_if_errors();
  for (Cell& cell : scanner.record()) {
    if (std::ranges::count(table.header_, cell.text) > 0) {
      faults.error({name, cell.line, cell.column},
                   fmt::format("column \"{}\" appears twice", cell.text));
    }
    table.header_.push_back(std::move(cell.text));
  }
  for (const std::string& column : required_columns) {
    if (!table.has(column)) {
      faults.error({name, 1, 1}, fmt::format("column \"{}\" is missing", column),
                   did_you_mean(column, table.header_));
    }
  }
  while (!scanner.at_end()) {
    std::vector<Cell> cells = scanner.record();
    if (cells.size() == 1 && cells[0].text.empty()) continue;
    if (cells.size() != table.header_.size()) {
      faults.error({name, cells[0].line, 1},
                   fmt::format("row has {} cells, the header has {}", cells.size(),
                               table.header_.size()));
      continue;
    }
    Row row{cells[0].line, {}, {}};
    for (Cell& cell : cells) {
      row.cells.push_back(std::move(cell.text));
      row.columns.push_back(cell.column);
    }
    table.rows_.push_back(std::move(row));
  }
  faults.throw_if_errors();
  return table;
}

bool CsvTable::has(std::string_view column) const {
  return std::ranges::count(header_, column) > 0;
}

std::size_t CsvTable::column_index(std::string_view column) const {
  const auto it = std::ranges::find(header_, column);
  INVARIANT(it != header_.end(), fmt::format("{}: no column {}", file_, column));
  return static_cast<std::size_t>(it - header_.begin());
}

const std::string& CsvTable::text(std::size_t row, std::string_view column) const {
  return rows_[row].cells[column_index(column)];
}

SourcePosition CsvTable::position(std::size_t row, std::string_view column) const {
  return {file_, rows_[row].line, rows_[row].columns[column_index(column)]};
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view column,
                                       Diagnostics& faults) const {
  const std::string& cell = text(row, column);
  if (cell.empty()) return std::nullopt;
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) {
    faults.error(position(row, column),
                 fmt::format("{} is \"{}\", expected a number", column, cell));
    return std::nullopt;
  }
  return value;
}

double CsvTable::number_in(std::size_t row, std::string_view column, double low,
                           double high, Diagnostics& faults) const {
  if (text(row, column).empty()) {
    faults.error(position(row, column),
                 fmt::format("{} is empty, expected a number", column));
    return low;
  }
  const auto value = number(row, column, faults);
  if (!value) return low;
  if (*value < low || *value > high) {
    faults.error(position(row, column),
                 fmt::format("{} is {}, expected {} to {}", column, *value, low, high));
    return low;
  }
  return *value;
}

std::vector<std::string> CsvTable::list(std::size_t row,
                                        std::string_view column) const {
  std::vector<std::string> parts;
  std::string_view rest = text(row, column);
  while (!rest.empty()) {
    const auto bar = rest.find('|');
    parts.emplace_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) break;
    rest.remove_prefix(bar + 1);
  }
  return parts;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace isochrone
