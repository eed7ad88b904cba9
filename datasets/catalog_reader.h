#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "datasets/catalog.h"
#include "datasets/row.h"
#include "datasets/tables.h"

namespace isochrone::datasets {

/// Builds a Catalog from its tables. Each step reads what the steps before it have
/// named, goes on after a fault, and leaves the throwing to read().
class CatalogReader {
 public:
  explicit CatalogReader(const std::string& folder) : tables_(Tables::read(folder)) {}

  /// Once. Throws InputError with all faults.
  Catalog read();

 private:
  // read_places.cpp
  void read_countries();
  void read_access();
  void read_blocs();
  void read_territories();
  void read_restrictions();
  void read_metros();
  void read_locations();
  // read_offers.cpp
  void read_gpus();
  void read_gpu_names();
  void read_providers();
  void read_certifications();
  void read_sites();
  Site site_from(const Row& row);
  void read_prices();
  PriceRow price_from(const Row& row);
  void read_egress();
  void check_applies_to(const Row& row);
  // read_engines.cpp
  void read_models();
  void read_step_profiles();
  void read_daily_profiles();
  // read_law.cpp
  void read_residency();
  ResidencyRow residency_from(const Row& row);
  std::set<geo::CountryCode> countries_in(const Row& row, std::string_view column);
  // read_network.cpp
  void read_hubs();
  void read_terrestrial_links();
  void read_submarine_segments();
  void read_link(const Row& row, std::string name, bool submarine);
  void read_transit_policy();
  void read_transit_gates();
  void read_neighbour_weights();
  void read_regimes();
  void read_measured();

  /// Calls `read_row` for each row of the table.
  template <class F>
  void each_row(std::string_view table, F read_row) {
    const CsvTable& rows = tables_.table(table);
    for (std::size_t i = 0; i < rows.size(); ++i) read_row(Row(rows, i, faults_));
  }
  /// A country of the countries table; Catalog{}'s default code after a fault.
  geo::CountryCode country(const Row& row, std::string_view column) const;
  geo::CountryCode country(const Row& row, std::string_view column,
                           std::string_view name) const;

  Tables tables_;
  Diagnostics faults_;
  Catalog catalog_;
  std::set<geo::CountryCode> country_codes_;
  NameIndex location_index_, hub_index_, provider_index_, bloc_index_;
  /// Short name of sites.csv -> GPUs that a price row may sell under it.
  std::map<std::string, std::vector<GpuId>, std::less<>> gpu_names_;
  // Rows of other tables are judged by these only where they are whole themselves.
  bool locations_sound_ = false;
  bool gpu_names_sound_ = false;
};

}  // namespace isochrone::datasets
