#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/csv.h"

namespace isochrone::datasets {

/// Every table of a folder as text, before anything is understood.
struct Tables {
  std::map<std::string, CsvTable, std::less<>> by_name;  ///< "sites" -> sites.csv
  std::string hash;  ///< SHA-256 over names and contents, in order of name

  /// Throws InputError with the faults of all files: missing ones, missing columns, bad
  /// quotes, and rows without date, basis or source in the agreed form.
  static Tables read(const std::string& folder);

  const CsvTable& table(std::string_view name) const;
};

}  // namespace isochrone::datasets
