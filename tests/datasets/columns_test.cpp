#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

using Columns = std::map<std::string, std::set<std::string>>;  // table -> columns

/// What the page says: names between backquotes at the head of each item.
Columns documented() {
  std::ifstream in(kFolder + "/COLUMNS.md");
  Columns columns;
  std::string table;
  bool in_names = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) {
      table = line.substr(3);
      in_names = false;
      continue;
    }
    if (line.starts_with("- ")) in_names = true;
    if (!in_names) continue;
    const auto colon = line.find("`:");
    const std::string names = line.substr(0, std::min(colon, line.size()) + 1);
    for (auto at = names.find('`'); at != std::string::npos && at < names.size();) {
      const auto end = names.find('`', at + 1);
      if (end == std::string::npos) break;
      columns[table].insert(names.substr(at + 1, end - at - 1));
      at = names.find('`', end + 1);
    }
    if (colon != std::string::npos) in_names = false;
  }
  return columns;
}

Columns in_files() {
  Columns columns;
  for (const auto& file : std::filesystem::directory_iterator(kFolder)) {
    if (file.path().extension() != ".csv") continue;
    std::ifstream in(file.path());
    std::string header;
    std::getline(in, header);
    std::istringstream cells(header);
    for (std::string cell; std::getline(cells, cell, ',');) {
      if (cell == "as_of" || cell == "basis" || cell == "source") continue;
      columns[file.path().stem().string()].insert(cell);
    }
  }
  return columns;
}

TEST_SUITE("datasets/columns") {
  TEST_CASE("every column of every table is explained, and no other") {
    const Columns said = documented();
    const Columns there = in_files();

    for (const auto& [table, columns] : there) {
      CAPTURE(table);
      REQUIRE(said.contains(table));
      CHECK(said.at(table) == columns);
    }
    CHECK(said.size() == there.size());
  }

  TEST_CASE("every table has a line in SOURCES.md") {
    std::ifstream in(kFolder + "/SOURCES.md");
    std::stringstream text;
    text << in.rdbuf();
    for (const auto& [table, columns] : in_files()) {
      CAPTURE(table);
      CHECK(text.str().find(table) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace isochrone::datasets
