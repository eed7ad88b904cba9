#include "datasets/catalog_reader.h"

namespace isochrone::datasets {

Catalog CatalogReader::read() {
  read_countries();
  read_access();
  read_blocs();
  read_territories();
  read_restrictions();
  read_metros();
  read_locations();
  read_gpus();
  read_gpu_names();
  read_providers();
  read_certifications();
  read_sites();
  read_prices();
  read_egress();
  read_models();
  read_step_profiles();
  read_daily_profiles();
  read_residency();
  read_hubs();
  read_terrestrial_links();
  read_submarine_segments();
  read_transit_policy();
  read_transit_gates();
  read_neighbour_weights();
  read_regimes();
  read_measured();
  faults_.throw_if_errors();
  catalog_.hash = tables_.hash;
  return std::move(catalog_);
}

geo::CountryCode CatalogReader::country(const Row& row, std::string_view column) const {
  return country(row, column, row.text(column));
}

geo::CountryCode CatalogReader::country(const Row& row, std::string_view column,
                                        std::string_view name) const {
  const auto index = row.refer(column, name, catalog_.country_index_);
  return index ? catalog_.countries[CountryId{*index}].code : geo::CountryCode{};
}

}  // namespace isochrone::datasets
