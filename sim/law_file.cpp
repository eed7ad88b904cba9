#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/diagnostics.h"
#include "scenarios/scenario.h"
#include "sim/law.h"

namespace isochrone::sim {
namespace {

std::int64_t whole(double value, std::int64_t cap) {
  if (!(value < static_cast<double>(cap))) return cap;
  return std::clamp<std::int64_t>(std::llround(value), 1, cap);
}

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
  throw InputError({{Severity::kError, {file, 0, 0}, message, ""}});
}

struct Weighted {
  double value = 0;
  double weight = 0;
};

std::vector<std::int64_t> empirical_cells(std::vector<Weighted> points, double unit,
                                          std::int64_t cap, const std::string& path) {
  double total = 0;
  for (const Weighted& point : points) total += point.weight;
  if (!(total > 0)) refuse(path, "holds no value with a positive weight");
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.value < b.value; });
  std::size_t at = 0;
  double below = points[0].weight;
  std::vector<std::int64_t> cells(IntegerLaw::kCells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double p =
        (static_cast<double>(i) + 0.5) / static_cast<double>(IntegerLaw::kCells);
    while (at + 1 < points.size() && below < p * total) below += points[++at].weight;
    cells[i] = whole(points[at].value * unit, cap);
  }
  return cells;
}

std::vector<Weighted> read_empirical(const std::string& path) {
  const CsvTable table = CsvTable::read(path, {"value", "weight"});
  Diagnostics faults;
  std::vector<Weighted> points;
  for (std::size_t row = 0; row < table.size(); ++row) {
    points.push_back({table.number_in(row, "value", 0, 1e15, faults),
                      table.number_in(row, "weight", 0, 1e15, faults)});
  }
  faults.throw_if_errors();
  return points;
}

std::string trace_column(const CsvTable& table, const std::string& path,
                         Quantity quantity) {
  static const std::vector<std::string> prompt{"ContextTokens", "input_length",
                                               "input_toks"};
  static const std::vector<std::string> answer{"GeneratedTokens", "output_length",
                                               "output_toks"};
  static const std::vector<std::string> other{"value"};
  const auto& names = quantity == Quantity::kPrompt   ? prompt
                      : quantity == Quantity::kAnswer ? answer
                                                      : other;
  for (const std::string& name : names) {
    if (table.has(name)) return name;
  }
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  refuse(path, "has no column of this quantity (known: " + known + ")");
}

std::vector<Weighted> read_trace(const std::string& path, Quantity quantity) {
  const CsvTable table = CsvTable::read(path, {});
  const std::string column = trace_column(table, path, quantity);
  Diagnostics faults;
  std::vector<Weighted> points;
  for (std::size_t row = 0; row < table.size(); ++row) {
    points.push_back({table.number_in(row, column, 0, 1e15, faults), 1.0});
  }
  faults.throw_if_errors();
  return points;
}

IntegerLaw read_law(const spec::Law& law, double unit, std::int64_t cap,
                    const scenarios::Scenario& scenario, Quantity quantity) {
  if (law.has_constant()) {
    return IntegerLaw::constant(whole(law.constant() * unit, cap));
  }
  if (law.has_uniform()) {
    return IntegerLaw::uniform(law.uniform().min() * unit, law.uniform().max() * unit,
                               cap);
  }
  if (law.has_lognormal()) {
    const double mean = law.lognormal().mean();
    const double p99 = law.lognormal().p99();
    if (!IntegerLaw::lognormal_exists(mean, p99)) {
      refuse(scenario.folder, "no lognormal law has mean " + std::to_string(mean) +
                                  " and p99 " + std::to_string(p99) +
                                  "; p99 lies between 1 and 14.9 means");
    }
    return IntegerLaw::lognormal(mean * unit, p99 * unit, cap);
  }
  if (law.has_empirical()) {
    const std::string path = scenarios::file_path(scenario.folder, law.empirical());
    return IntegerLaw(empirical_cells(read_empirical(path), unit, cap, path));
  }
  if (law.has_trace()) {
    const std::string path = scenarios::file_path(scenario.folder, law.trace());
    return IntegerLaw(empirical_cells(read_trace(path, quantity), unit, cap, path));
  }
  return IntegerLaw::constant(1);
}

}  // namespace

IntegerLaw::IntegerLaw(const spec::Law& law, double unit, std::int64_t cap,
                       const scenarios::Scenario& scenario, Quantity quantity)
    : IntegerLaw(read_law(law, unit, cap, scenario, quantity)) {}

}  // namespace isochrone::sim
