#include "datasets/tables.h"

#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "datasets/row.h"

namespace isochrone::datasets {
namespace {

struct TableForm {
  std::string_view name;
  std::string_view columns;  ///< that must be there, between spaces
};

constexpr TableForm kTables[] = {
    {"access",
     "country p50_ms p75_ms p90_ms p95_ms p99_ms mobile_p50_ms mobile_p75_ms "
     "download_mbps method as_of basis source"},
    {"blocs", "bloc countries as_of basis source"},
    {"certifications", "provider certification as_of basis source"},
    {"countries",
     "country name continent population internet_users as_of basis source"},
    {"daily_profiles", "profile day_type day_factor h00 h23 as_of basis source"},
    {"egress",
     "provider product applies_to destination destination_area from_gb to_gb "
     "usd_per_gb as_of basis source"},
    {"gpu_names", "name gpu also as_of basis source"},
    {"gpu_prices",
     "provider tier scope site area gpu shape_gpus term usd_per_gpu_hour as_of basis "
     "source"},
    {"gpus",
     "gpu vendor memory_gb memory_gbs bf16_dense_tflops fp8_dense_tflops fp64_tflops "
     "tdp_w graphics intra_fabric fabric_domain_gpus licence_note as_of basis source"},
    {"hubs", "hub country lat lon as_of basis source"},
    {"locations", "location city country lat lon as_of basis source"},
    {"measured_places", "place city country lat lon as_of basis source"},
    {"measured_rtt", "from to regime rtt_ms as_of basis source"},
    {"metros",
     "metro name country lat lon weight_population time_zone as_of basis source"},
    {"models",
     "model family layers hidden kv_heads head_dim params_total_b params_active_b "
     "kv_bytes_per_token_bf16 max_context as_of basis source"},
    {"neighbour_weights", "from to weight as_of basis source"},
    {"network_regimes",
     "regime stretch constant_ms domestic_ms near_ms ramp_km cap_until_km cap_factor "
     "cap_km neighbour_km source"},
    {"providers", "provider name home_country as_of basis source"},
    {"residency",
     "jurisdiction countries regime data_class outcome allow except needs stores "
     "combine scope from_date until_date as_of basis source"},
    {"restrictions", "country restriction applies_to as_of basis source"},
    {"sites",
     "site class tier location country lat lon gpu_names gpu_status access "
     "restriction price_gap as_of basis source"},
    {"step_profiles",
     "id model gpu tensor_parallel precision t0_ps b_ps c_ps t0_prefill_ps a_ps f_ps "
     "b_prefill_ps c_prefill_ps d_ps kv_block_tokens kv_blocks chunk_tokens "
     "front_end_ms basis error_pct source"},
    {"submarine_segments",
     "system from to route_km chokepoints status capacity_class as_of basis source"},
    {"terrestrial_links",
     "from to route_km chokepoints status capacity_class as_of basis source"},
    {"territories", "territory follows as_of basis source"},
    {"transit_gates", "group countries world_gates local_gates as_of basis source"},
    {"transit_policy", "scope a b weight reason as_of basis source"},
};

std::vector<std::string> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> parts;
  for (std::string word; in >> word;) parts.push_back(word);
  return parts;
}

void check_provenance(const CsvTable& table, Diagnostics& faults) {
  const bool dated = table.has("as_of");
  const bool based = table.has("basis");
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Row row(table, i, faults);
    if (dated) row.date("as_of");
    if (based) (void)row.one_of<Basis>("basis", basis_words());
    row.required("source");
  }
}

void keep_faults(const InputError& error, Diagnostics& faults) {
  for (const Diagnostic& fault : error.diagnostics()) {
    if (fault.severity != Severity::kError) continue;
    faults.error(fault.position, fault.message, fault.hint);
  }
}

}  // namespace

Tables Tables::read(const std::string& folder) {
  Diagnostics faults;
  Tables tables;
  std::string hashed;
  for (const TableForm& form : kTables) {
    const std::string path = fmt::format("{}/{}.csv", folder, form.name);
    try {
      const std::string text = read_file(path, CsvTable::kMostBytes);
      hashed += fmt::format("{}.csv {}\n{}", form.name, text.size(), text);
      CsvTable table = CsvTable::parse(text, path, words(form.columns));
      check_provenance(table, faults);
      tables.by_name.emplace(form.name, std::move(table));
    } catch (const InputError& error) {
      keep_faults(error, faults);
    }
  }
  faults.throw_if_errors();
  tables.hash = sha256(hashed);
  return tables;
}

const CsvTable& Tables::table(std::string_view name) const {
  const auto it = by_name.find(name);
  INVARIANT(it != by_name.end(), fmt::format("no table {}", name));
  return it->second;
}

}  // namespace isochrone::datasets
