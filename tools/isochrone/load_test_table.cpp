#include "tools/isochrone/load_test_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "base/diagnostics.h"

namespace isochrone::tools {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

/// The first of these columns that the table has, else "" and a fault.
std::string first_of(const CsvTable& table, const std::vector<std::string>& columns,
                     Diagnostics& faults) {
  for (const std::string& column : columns) {
    if (table.has(column)) return column;
  }
  faults.error({table.name(), 1, 0},
               fmt::format("has no column {}", fmt::join(columns, " or ")),
               did_you_mean(columns.front(), table.columns()));
  return "";
}

/// "meta-llama/Llama-3.1-8B-Instruct-FP8" is the model of that id with which it begins.
std::string model_of(const std::string& path, const datasets::Catalog& catalog) {
  const std::string name = lower(path.substr(path.rfind('/') + 1));
  std::string best = name;
  std::size_t longest = 0;
  for (const datasets::Model& model : catalog.models) {
    if (name.starts_with(model.id) && model.id.size() > longest) {
      best = model.id;
      longest = model.id.size();
    }
  }
  return best;
}

/// The first GPU whose id has every part of "h100_sxm".
std::string gpu_of(const std::string& system, const datasets::Catalog& catalog) {
  for (const datasets::Gpu& gpu : catalog.gpus) {
    std::stringstream parts(lower(system));
    bool all = true;
    for (std::string part; std::getline(parts, part, '_');) {
      all = all && ("-" + lower(gpu.id) + "-").find(part) != std::string::npos;
    }
    if (all) return gpu.id;
  }
  return system;
}

std::string profile_of(const CsvTable& table, std::size_t row,
                       const datasets::Catalog& catalog, Diagnostics& faults) {
  if (table.has("profile")) return table.text(row, "profile");
  const std::string precision = table.text(row, "precision");
  return fmt::format("{}/{}/tp{}/{}", model_of(table.text(row, "model_path"), catalog),
                     gpu_of(table.text(row, "system"), catalog),
                     std::llround(table.number_in(row, "tp_size", 1, 72, faults)),
                     precision.empty() ? "bf16" : precision);
}

}  // namespace

std::optional<CsvTable> load_test_table(const std::string& path) {
  if (!path.ends_with(".csv")) return std::nullopt;
  CsvTable table = CsvTable::read(path, {});
  if (!table.has("in_flight") && !table.has("concurrency")) return std::nullopt;
  return table;
}

std::vector<MeasuredLoadTest> read_load_tests(const CsvTable& table,
                                              const datasets::Catalog& catalog) {
  Diagnostics faults;
  if (!table.has("profile")) {
    for (const char* key : {"model_path", "system", "tp_size", "precision"}) {
      first_of(table, {key}, faults);
    }
  }
  const std::string input = first_of(table, {"input_tokens", "isl"}, faults);
  const std::string output = first_of(table, {"output_tokens", "osl"}, faults);
  const std::string in_flight = first_of(table, {"in_flight", "concurrency"}, faults);
  const std::string ttft = first_of(table, {"ttft_ms", "silicon_ttft_ms"}, faults);
  const std::string tpot = first_of(table, {"tpot_ms", "silicon_tpot_ms"}, faults);
  faults.throw_if_errors();
  const auto whole = [&](std::size_t row, const std::string& column, double low) {
    return std::llround(table.number_in(row, column, low, 1e7, faults));
  };
  std::vector<MeasuredLoadTest> tests;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.has("mode") && table.text(i, "mode") != "agg") continue;
    MeasuredLoadTest one;
    one.profile = profile_of(table, i, catalog, faults);
    one.engine = table.has("engine")    ? table.text(i, "engine")
                 : table.has("backend") ? table.text(i, "backend")
                                        : "";
    one.test = {whole(i, input, 1), whole(i, output, 2), whole(i, in_flight, 1)};
    one.ttft_ms = table.number_in(i, ttft, 0.001, 1e9, faults);
    one.tpot_ms = table.number_in(i, tpot, 0.001, 1e9, faults);
    tests.push_back(one);
  }
  faults.throw_if_errors();
  return tests;
}

}  // namespace isochrone::tools
