#include "datasets/row.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace isochrone::datasets {
namespace {

bool digits(std::string_view text, std::size_t from, std::size_t count) {
  const std::string_view part = text.substr(from, count);
  return part.size() == count &&
         std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
}

bool in_range(std::string_view two_digits, int low, int high) {
  const int value = (two_digits[0] - '0') * 10 + (two_digits[1] - '0');
  return value >= low && value <= high;
}

bool is_date(std::string_view text, bool day) {
  if (!digits(text, 0, 4)) return false;
  if (text.size() == 4) return !day;
  if (text[4] != '-' || !digits(text, 5, 2) || !in_range(text.substr(5), 1, 12)) {
    return false;
  }
  if (text.size() == 7) return !day;
  return text.size() == 10 && text[7] == '-' && digits(text, 8, 2) &&
         in_range(text.substr(8), 1, 31);
}

}  // namespace

const std::string& Row::required(std::string_view column) const {
  const std::string& cell = text(column);
  if (cell.empty()) fault(column, fmt::format("{} is empty", column));
  return cell;
}

std::optional<double> Row::optional_number(std::string_view column, double low,
                                           double high) const {
  if (empty(column)) return std::nullopt;
  return number(column, low, high);
}

std::int64_t Row::integer(std::string_view column, std::int64_t low,
                          std::int64_t high) const {
  const double value =
      number(column, static_cast<double>(low), static_cast<double>(high));
  if (value != std::floor(value)) {
    fault(column, fmt::format("{} is {}, expected a whole number", column, value));
    return low;
  }
  return static_cast<std::int64_t>(value);
}

bool Row::flag(std::string_view column) const {
  static constexpr std::string_view kWords[] = {"no", "yes"};
  return word(column, kWords) == "yes";
}

const std::string& Row::date(std::string_view column, bool day) const {
  const std::string& cell = text(column);
  if (!cell.empty() && !is_date(cell, day)) {
    fault(column, fmt::format("{} is \"{}\", expected {}", column, cell,
                              day ? "YYYY-MM-DD" : "YYYY, YYYY-MM or YYYY-MM-DD"));
  }
  return cell;
}

geo::Coordinates Row::coordinates() const {
  return {number("lat", -90, 90), number("lon", -180, 180)};
}

Origin Row::origin() const {
  return {one_of<Basis>("basis", basis_words()), text("as_of"), text("source")};
}

const std::string& Row::word(std::string_view column,
                             std::span<const std::string_view> words) const {
  const std::string& cell = text(column);
  if (std::ranges::find(words, cell) == words.end()) {
    unknown(column, cell, std::vector<std::string>(words.begin(), words.end()));
  }
  return cell;
}

std::optional<std::uint32_t> Row::refer(std::string_view column, std::string_view name,
                                        const NameIndex& known) const {
  if (const auto it = known.find(name); it != known.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& entry : known) names.push_back(entry.first);
  unknown(column, name, names);
  return std::nullopt;
}

void Row::fault(std::string_view column, std::string message, std::string hint) const {
  faults_.error(table_.position(row_, column), std::move(message), std::move(hint));
}

void Row::unknown(std::string_view column, std::string_view name,
                  const std::vector<std::string>& known) const {
  std::string hint = did_you_mean(name, known);
  if (hint.empty() && known.size() <= 8) {
    hint = fmt::format("expected one of: {}", fmt::join(known, ", "));
  }
  fault(column, fmt::format("unknown {} \"{}\"", column, name), std::move(hint));
}

void Keys::claim(const Row& row, std::string_view column, std::string key) {
  const auto [it, fresh] = first_line_.emplace(std::move(key), row.line());
  if (!fresh) {
    row.fault(column, fmt::format("{} \"{}\" stands twice (first in line {})", column,
                                  it->first, it->second));
  }
}

}  // namespace isochrone::datasets
