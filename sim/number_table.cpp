#include "sim/number_table.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <utility>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/read_file.h"

namespace isochrone::sim {
namespace {

[[noreturn]] void refuse(const std::string& file, int line, const std::string& why) {
  throw InputError({{Severity::kError, {file, line, 0}, why, ""}});
}

/// Days since 1970-01-01 of a civil date (Howard Hinnant's days_from_civil).
std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year =
      (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, fault] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "2023-11-16 18:15:46.6805900", with T or a blank between, Z or +00:00 at the end.
std::optional<double> date_and_time(std::string_view text) {
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[13] != ':') {
    return std::nullopt;
  }
  for (const std::string_view zone : {"Z", "+00:00"}) {
    if (text.ends_with(zone)) text.remove_suffix(zone.size());
  }
  const auto part = [&](std::size_t from, std::size_t count) {
    return plain_number(text.substr(from, count));
  };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2);
  const auto hour = part(11, 2), minute = part(14, 2);
  const auto second = plain_number(text.substr(17));
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::int64_t days = days_since_1970(static_cast<std::int64_t>(*year),
                                            static_cast<std::int64_t>(*month),
                                            static_cast<std::int64_t>(*day));
  return static_cast<double>(days) * 86400 + *hour * 3600 + *minute * 60 + *second;
}

std::optional<double> number_of(std::string_view text) {
  if (const auto plain = plain_number(text)) return plain;
  return date_and_time(text);
}

std::optional<double> number_of(const google::protobuf::Value& value) {
  if (value.kind_case() == google::protobuf::Value::kNumberValue) {
    return value.number_value();
  }
  if (value.kind_case() == google::protobuf::Value::kStringValue) {
    return number_of(std::string_view(value.string_value()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> NumberTable::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

NumberTable NumberTable::read(const std::string& path) {
  NumberTable table = path.ends_with(".csv") ? read_csv(path) : read_json_lines(path);
  if (table.size() == 0) refuse(path, 0, "holds no request");
  return table;
}

NumberTable NumberTable::read_csv(const std::string& path) {
  const CsvTable csv = CsvTable::read(path, {});
  NumberTable table;
  table.columns_ = csv.columns();
  for (std::size_t i = 0; i < csv.size(); ++i) {
    Row row{csv.line(i), {}};
    for (const std::string& name : table.columns_) {
      row.cells.push_back(number_of(std::string_view(csv.text(i, name))));
    }
    table.rows_.push_back(std::move(row));
  }
  return table;
}

NumberTable NumberTable::read_json_lines(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{512} << 20;
  std::istringstream lines(read_file(path, kMostBytes));
  NumberTable table;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    google::protobuf::Struct object;
    if (!google::protobuf::util::JsonStringToMessage(line, &object).ok()) {
      refuse(path, number, "is no JSON object on one line");
    }
    if (table.columns_.empty()) {
      for (const auto& [name, value] : object.fields()) table.columns_.push_back(name);
      std::ranges::sort(table.columns_);
    }
    Row row{number, {}};
    for (const std::string& name : table.columns_) {
      const auto found = object.fields().find(name);
      row.cells.push_back(found == object.fields().end() ? std::nullopt
                                                         : number_of(found->second));
    }
    table.rows_.push_back(std::move(row));
  }
  return table;
}

}  // namespace isochrone::sim
