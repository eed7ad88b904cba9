#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "base/csv.h"
#include "base/diagnostics.h"
#include "place/plan_file/exports.h"

namespace isochrone::place {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

// Each name is that of the plan's list but `reach`, which lies inside the tables.
constexpr std::array<std::string_view, 11> kTables{
    "sites", "pools", "assignments", "populations", "unserved", "bill",
    "reach", "cells", "drills",      "law",         "spend"};

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

/// One value as text; `index` -1 for a field that is no list.
std::string value_text(const pb::Message& message, const Field* field, int index) {
  const pb::Reflection* reflection = message.GetReflection();
  const bool list = index >= 0;
  switch (field->cpp_type()) {
    case Field::CPPTYPE_STRING:
      return list ? reflection->GetRepeatedString(message, field, index)
                  : reflection->GetString(message, field);
    case Field::CPPTYPE_DOUBLE:
      return shortest(list ? reflection->GetRepeatedDouble(message, field, index)
                           : reflection->GetDouble(message, field));
    case Field::CPPTYPE_INT32:
      return fmt::to_string(list ? reflection->GetRepeatedInt32(message, field, index)
                                 : reflection->GetInt32(message, field));
    case Field::CPPTYPE_INT64:
      return fmt::to_string(list ? reflection->GetRepeatedInt64(message, field, index)
                                 : reflection->GetInt64(message, field));
    case Field::CPPTYPE_UINT32:
      return fmt::to_string(list ? reflection->GetRepeatedUInt32(message, field, index)
                                 : reflection->GetUInt32(message, field));
    case Field::CPPTYPE_UINT64:
      return fmt::to_string(list ? reflection->GetRepeatedUInt64(message, field, index)
                                 : reflection->GetUInt64(message, field));
    case Field::CPPTYPE_BOOL:
      return reflection->GetBool(message, field) ? "true" : "false";
    default:
      INVARIANT(false, "plan.proto has a field type that CSV does not know");
  }
}

std::string cell_text(const pb::Message& message, const Field* field) {
  if (!field->is_repeated()) return value_text(message, field, -1);
  std::string joined;
  const int size = message.GetReflection()->FieldSize(message, field);
  for (int i = 0; i < size; ++i) {
    if (i > 0) joined += '|';
    joined += value_text(message, field, i);
  }
  return joined;
}

std::vector<const Field*> columns_of(const pb::Descriptor* row) {
  std::vector<const Field*> columns;
  for (int i = 0; i < row->field_count(); ++i) {
    if (row->field(i)->cpp_type() != Field::CPPTYPE_MESSAGE) {
      columns.push_back(row->field(i));
    }
  }
  return columns;
}

std::string site_name(const plan::Plan& plan, std::uint32_t site) {
  return site < static_cast<std::uint32_t>(plan.sites_size())
             ? plan.sites(static_cast<int>(site)).name()
             : "";
}

/// What the indices of a row point at: names of columns, or their values.
std::vector<std::string> pointed_at(std::string_view table) {
  if (table == "pools") return {"site_name"};
  if (table == "assignments") return {"site_name", "workload", "profile"};
  return {};
}

std::vector<std::string> pointed_at(const plan::Plan& plan, std::string_view table,
                                    int row) {
  if (table == "pools") return {site_name(plan, plan.pools(row).site())};
  if (table != "assignments") return {};
  const std::uint32_t index = plan.assignments(row).pool();
  if (index >= static_cast<std::uint32_t>(plan.pools_size())) return {"", "", ""};
  const plan::Pool& pool = plan.pools(static_cast<int>(index));
  return {site_name(plan, pool.site()), pool.workload(), pool.profile()};
}

void add_line(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    out += csv_cell(cells[i]);
  }
  out += '\n';
}

std::string list_csv(const plan::Plan& plan, std::string_view table) {
  const Field* list = plan.GetDescriptor()->FindFieldByName(std::string(table));
  const std::vector<const Field*> columns = columns_of(list->message_type());
  std::vector<std::string> cells = pointed_at(table);
  for (const Field* column : columns) cells.push_back(column->name());
  std::string out;
  add_line(out, cells);
  const int rows = plan.GetReflection()->FieldSize(plan, list);
  for (int row = 0; row < rows; ++row) {
    const pb::Message& message =
        plan.GetReflection()->GetRepeatedMessage(plan, list, row);
    cells = pointed_at(plan, table, row);
    for (const Field* column : columns) cells.push_back(cell_text(message, column));
    add_line(out, cells);
  }
  return out;
}

/// The isochrones: how far each level may reach into each country.
std::string reach_csv(const plan::Plan& plan) {
  std::string out;
  add_line(out, {"workload", "profile", "max_num_seqs", "wait_budget_ms", "demand",
                 "country", "rtt_us", "degraded_rtt_us"});
  for (const plan::Table& table : plan.tables()) {
    for (const plan::Reach& reach : table.reach()) {
      add_line(
          out,
          {table.workload(), table.profile(), fmt::to_string(table.max_num_seqs()),
           shortest(table.wait_budget_ms()), reach.demand(), reach.country(),
           fmt::to_string(reach.rtt_us()), fmt::to_string(reach.degraded_rtt_us())});
    }
  }
  return out;
}

}  // namespace

std::span<const std::string_view> csv_tables() { return kTables; }

std::string to_csv(const plan::Plan& plan, std::string_view table) {
  if (std::ranges::find(kTables, table) == kTables.end()) {
    const std::vector<std::string> known(kTables.begin(), kTables.end());
    throw std::invalid_argument(
        fmt::format("a plan has no table \"{}\" (it has {}); {}", table,
                    fmt::join(known, ", "), did_you_mean(table, known)));
  }
  return table == "reach" ? reach_csv(plan) : list_csv(plan, table);
}

}  // namespace isochrone::place
