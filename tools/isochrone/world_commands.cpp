#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "place/plan_file/table.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct CatalogOptions {
  std::string what;
  std::string gpu;
  std::string country;
};

std::string sites_table(const datasets::Catalog& catalog,
                        const CatalogOptions& options) {
  place::TextTable table(
      {"site", "class", "tier", "city", "in", "GPUs", "no price because"});
  for (const datasets::Site& site : catalog.sites) {
    if (!options.country.empty() && site.country.text() != options.country) continue;
    std::vector<std::string> gpus;
    for (const auto gpu : site.gpus) gpus.push_back(catalog.gpus[gpu].id);
    if (!options.gpu.empty() && std::ranges::count(gpus, options.gpu) == 0) continue;
    table.add({site.id, to_text(site.site_class), to_text(site.tier),
               catalog.locations[site.location].city, site.country.text(),
               fmt::format("{}", fmt::join(gpus, " ")), site.price_gap});
  }
  return table.text();
}

std::string prices_table(const datasets::Catalog& catalog,
                         const CatalogOptions& options) {
  place::TextTable table(
      {"provider", "where", "GPU", ">shape", "term", ">$/GPU-h", "as of", "source"});
  for (const datasets::PriceRow& row : catalog.prices) {
    if (!options.gpu.empty() && catalog.gpus[row.gpu].id != options.gpu) continue;
    if (!options.country.empty() &&
        (!row.site || catalog.sites[*row.site].country.text() != options.country)) {
      continue;
    }
    table.add(
        {row.provider,
         row.site ? catalog.sites[*row.site].id
                  : (row.area.empty() ? "list" : row.area),
         catalog.gpus[row.gpu].id, fmt::to_string(row.shape_gpus), to_text(row.term),
         fmt::format("{:.4f}", static_cast<double>(row.usd_per_gpu_hour.count()) / 1e6),
         row.as_of, row.source});
  }
  return table.text();
}

std::string gpus_table(const datasets::Catalog& catalog) {
  place::TextTable table(
      {"GPU", ">GB", ">GB/s", ">bf16 TFLOPS", ">fp8", ">fp64", "fabric"});
  for (const datasets::Gpu& gpu : catalog.gpus) {
    table.add({gpu.id, fmt::format("{:g}", gpu.memory_gb),
               fmt::format("{:g}", gpu.memory_gbs),
               fmt::format("{:g}", gpu.bf16_dense_tflops),
               gpu.fp8_dense_tflops ? fmt::format("{:g}", *gpu.fp8_dense_tflops) : "-",
               fmt::format("{:g}", gpu.fp64_tflops),
               fmt::format("{} {}", gpu.intra_fabric, gpu.fabric_domain_gpus)});
  }
  return table.text();
}

std::string profiles_table(const datasets::Catalog& catalog) {
  place::TextTable table(
      {"profile", ">t0 ms", ">KV blocks", "basis", ">+-%", "source"});
  for (const datasets::StepProfile& profile : catalog.profiles) {
    table.add({profile.id,
               fmt::format("{:.2f}", static_cast<double>(profile.step.t0) / 1e9),
               fmt::to_string(profile.kv_blocks), to_text(profile.basis),
               fmt::format("{:g}", profile.error_pct), profile.source});
  }
  return table.text();
}

std::string rules_table(const datasets::Catalog& catalog,
                        const CatalogOptions& options) {
  place::TextTable table(
      {"line", "jurisdiction", "class", "outcome", "needs", "from", "until", "regime"});
  for (const datasets::ResidencyRow& row : catalog.residency) {
    const auto country = geo::CountryCode::parse(options.country);
    if (country && !row.countries.contains(*country)) continue;
    table.add({fmt::to_string(row.line), row.jurisdiction, row.data_class, row.outcome,
               fmt::format("{}", fmt::join(row.needs, "|")), row.from_date,
               row.until_date, row.regime});
  }
  return table.text();
}

std::string overview(const datasets::Catalog& catalog) {
  return fmt::format(
      "{} sites in {} locations, {} metros, {} countries, {} GPUs, {} price rows,\n"
      "{} models, {} step profiles, {} residency rows, {} hubs, {} links, {} measured "
      "pairs\nSHA-256 {}\nEvery table was checked: keys, references, ranges, "
      "duplicates.\n",
      catalog.sites.size(), catalog.locations.size(), catalog.metros.size(),
      catalog.countries.size(), catalog.gpus.size(), catalog.prices.size(),
      catalog.models.size(), catalog.profiles.size(), catalog.residency.size(),
      catalog.network.hubs.size(), catalog.network.links.size(),
      catalog.network.measured.size(), catalog.hash);
}

void run_catalog(const CatalogOptions& options, Session& session) {
  const datasets::Catalog& catalog = session.catalog();
  print(options.what == "sites"      ? sites_table(catalog, options)
        : options.what == "offers"   ? prices_table(catalog, options)
        : options.what == "gpus"     ? gpus_table(catalog)
        : options.what == "profiles" ? profiles_table(catalog)
        : options.what == "rules"    ? rules_table(catalog, options)
                                     : overview(catalog));
}

}  // namespace

void add_catalog(CLI::App& app, Session& session) {
  auto options = std::make_shared<CatalogOptions>();
  CLI::App* command =
      app.add_subcommand("catalog", "What the program knows, with sources");
  command
      ->add_option("what", options->what,
                   "check, sites, offers, gpus, profiles or rules")
      ->check(CLI::IsMember({"check", "sites", "offers", "gpus", "profiles", "rules"}))
      ->default_val("check");
  command->add_option("--gpu", options->gpu, "Only this GPU");
  command->add_option("--country", options->country, "Only this country");
  command->callback([options, &session] { run_catalog(*options, session); });
}

}  // namespace isochrone::tools
