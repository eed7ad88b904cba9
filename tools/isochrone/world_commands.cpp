#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "geo/network.h"
#include "place/plan_file/table.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct RttOptions {
  std::string from;
  std::string to;
  std::vector<std::string> cuts;
  std::string regime = "public";
};

/// A site (`aws/us-east-1`), a metro or a location by id, or a city by name.
geo::Endpoint find_endpoint(const datasets::Catalog& catalog, const std::string& word) {
  if (const auto site = catalog.site(word)) {
    const datasets::Site& s = catalog.sites[*site];
    return {s.id, s.country, s.at};
  }
  std::vector<std::string> known;
  const datasets::Metro* largest = nullptr;
  for (const datasets::Metro& metro : catalog.metros) {
    if (metro.id == word) return {metro.name, metro.country, metro.at};
    if (metro.name == word &&
        (largest == nullptr || metro.weight_population > largest->weight_population)) {
      largest = &metro;
    }
    known.push_back(metro.name);
  }
  if (largest != nullptr) return {largest->name, largest->country, largest->at};
  for (const datasets::Location& location : catalog.locations) {
    if (location.id == word || location.city == word) {
      return {location.city, location.country, location.at};
    }
  }
  for (const datasets::Site& site : catalog.sites) known.push_back(site.id);
  Diagnostics faults;
  faults.error({}, fmt::format("no site, metro or city is called \"{}\"", word),
               did_you_mean(word, known));
  faults.throw_if_errors();
  return {};
}

void run_rtt(const RttOptions& options, Session& session) {
  const datasets::Catalog& catalog = session.catalog();
  const geo::Endpoint from = find_endpoint(catalog, options.from);
  const geo::Endpoint to = find_endpoint(catalog, options.to);
  const auto regime =
      options.regime == "public" ? geo::Regime::kPublic : geo::Regime::kBackbone;
  const auto route_with = [&](const std::vector<std::string>& cuts) {
    try {
      return geo::NetworkModel(catalog.network, cuts).route(regime, from, to);
    } catch (const std::invalid_argument& unknown) {
      Diagnostics faults;
      faults.error({}, unknown.what());
      faults.throw_if_errors();
      throw;
    }
  };
  const geo::Route route = route_with(options.cuts);
  print(geo::to_text(route));
  if (!options.cuts.empty()) {
    const Micros before = route_with({}).total.rtt;
    print(fmt::format("without the cut: {}; the cut adds {}", to_text(before),
                      to_text(route.total.rtt - before)));
    if (route.total.rtt == before) {
      print(
          "the cut changes nothing on the shortest path: others run beside it (real "
          "cuts also take capacity away, which is not modelled)");
    }
  }
}

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

void add_rtt(CLI::App& app, Session& session) {
  auto options = std::make_shared<RttOptions>();
  CLI::App* command =
      app.add_subcommand("rtt", "Where the milliseconds between two places go");
  command->add_option("from", options->from, "Site id, metro id or city")->required();
  command->add_option("to", options->to, "Site id, metro id or city")->required();
  command
      ->add_option("--cut", options->cuts,
                   "chokepoint/NAME, cable/NAME, link/A-B or country/CC")
      ->allow_extra_args(false);
  command->add_option("--regime", options->regime, "public or backbone")
      ->check(CLI::IsMember({"public", "backbone"}))
      ->capture_default_str();
  command->callback([options, &session] { run_rtt(*options, session); });
}

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
