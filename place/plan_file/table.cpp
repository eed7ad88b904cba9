#include "place/plan_file/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/diagnostics.h"

namespace isochrone::place {
namespace {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headings)
    : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
}

void TextTable::add(std::vector<std::string> cells) {
  INVARIANT(cells.size() == headings_.size(), "a row has another width than the table");
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < headings_.size(); ++column) {
    widths.push_back(width(headings_[column]));
    for (const auto& row : rows_) {
      widths[column] = std::max(widths[column], width(row[column]));
    }
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string built;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const std::string padding(widths[column] - width(cells[column]), ' ');
      if (column > 0) built += "  ";
      built += right_[column] ? padding + cells[column] : cells[column] + padding;
    }
    built.erase(built.find_last_not_of(' ') + 1);
    out += built + '\n';
  };
  line(headings_);
  for (const auto& row : rows_) line(row);
  return out;
}

}  // namespace isochrone::place
