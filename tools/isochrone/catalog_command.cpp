#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "datasets/audit.h"
#include "datasets/price_story.h"
#include "place/plan_file/table.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct CatalogOptions {
  std::string what;
  std::string gpu;
  std::string country;
};

/// What of a table is asked for.
struct Filter {
  std::optional<datasets::GpuId> gpu;
  std::optional<geo::CountryCode> country;

  bool holds(geo::CountryCode code) const { return !country || *country == code; }
};

Filter filter_of(const datasets::Catalog& catalog, const CatalogOptions& options) {
  Filter filter;
  if (!options.gpu.empty()) {
    filter.gpu = catalog.gpu(options.gpu);
    std::vector<std::string> known;
    for (const datasets::Gpu& gpu : catalog.gpus) known.push_back(gpu.id);
    if (!filter.gpu) {
      usage_error(fmt::format("no GPU is called \"{}\"", options.gpu),
                  did_you_mean(options.gpu, known));
    }
  }
  if (!options.country.empty()) {
    filter.country = geo::CountryCode::parse(options.country);
    if (!filter.country || !catalog.country(*filter.country)) {
      usage_error(fmt::format("\"{}\" is no country code", options.country),
                  country_hint(options.country, catalog));
    }
  }
  return filter;
}

std::vector<std::string> gpus_at(const datasets::Catalog& catalog,
                                 const datasets::Site& site) {
  std::vector<std::string> gpus;
  for (const datasets::GpuId gpu : site.gpus) gpus.push_back(catalog.gpus[gpu].id);
  return gpus;
}

std::string sites_table(const datasets::Catalog& catalog, const Filter& filter) {
  place::TextTable table(
      {"site", "class", "tier", "city", "in", "GPUs", "no price because"});
  for (const datasets::Site& site : catalog.sites) {
    if (!filter.holds(site.country)) continue;
    if (filter.gpu && std::ranges::count(site.gpus, *filter.gpu) == 0) continue;
    table.add({site.id, to_text(site.site_class), to_text(site.tier),
               catalog.locations[site.location].city, site.country.text(),
               fmt::format("{}", fmt::join(gpus_at(catalog, site), " ")),
               site.price_gap});
  }
  return table.text();
}

std::string where(const datasets::Catalog& catalog, const datasets::Site& site) {
  return fmt::format("{}  {}, {}, {}, {}", site.id, to_text(site.site_class),
                     to_text(site.tier), catalog.locations[site.location].city,
                     site.country.text());
}

std::string fate_line(const datasets::PriceFate& fate) {
  const datasets::PriceRow& row = *fate.row;
  const double usd = static_cast<double>(row.usd_per_gpu_hour.count()) / 1e6;
  return fmt::format(
      "  {} {:>8.4f} $/GPU-h in shapes of {}, {}: {} ({}{}, {})\n",
      fate.holds ? "+" : "-", usd, row.shape_gpus, to_text(row.term), fate.why,
      row.basis == datasets::Basis::kSeen ? "" : to_text(row.basis) + ", ", row.as_of,
      row.source);
}

/// The GPUs that were seen at a site, in brackets.
std::string shown_there(const datasets::Catalog& catalog, const datasets::Site& site) {
  if (site.gpu_status != "seen") return "";
  const std::vector<std::string> gpus = gpus_at(catalog, site);
  return gpus.empty() ? " (form not stated)"
                      : fmt::format(" (but {})", fmt::join(gpus, " "));
}

/// Prices of one GPU, site by site; then the sites that have none, by reason.
std::string offers_of(const datasets::Catalog& catalog, datasets::GpuId gpu,
                      const Filter& filter) {
  std::string text;
  std::map<std::string, std::vector<std::string>> without;
  std::size_t priced = 0;
  for (std::uint32_t i = 0; i < catalog.sites.size(); ++i) {
    const datasets::SiteId id{i};
    const datasets::Site& site = catalog.sites[id];
    if (!filter.holds(site.country)) continue;
    const datasets::PriceStory story = price_story(catalog, id, gpu);
    if (!story.none_because.empty()) {
      without[story.none_because].push_back(site.id + shown_there(catalog, site));
      continue;
    }
    ++priced;
    text += where(catalog, site) + "\n";
    if (!story.off_because.empty()) text += "  off: " + story.off_because + "\n";
    for (const datasets::PriceFate& fate : story.fates) text += fate_line(fate);
  }
  text += fmt::format(
      "{}{} in {}: {} sites with a price. Order: quote of a scenario, "
      "site, provider's area, provider's list, built.\n",
      text.empty() ? "" : "\n", catalog.gpus[gpu].id,
      filter.country ? filter.country->text() : "all countries", priced);
  for (const auto& [reason, sites] : without) {
    text += fmt::format("none, {}: {} sites\n", reason, sites.size());
    if (filter.country) text += fmt::format("  {}\n", fmt::join(sites, "\n  "));
  }
  return text;
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

/// Answers of 1000 tokens that a replica streams at `tokens_per_s` each, within its
/// cache.
std::string answers_at(const datasets::StepProfile& profile, double tokens_per_s) {
  constexpr std::int64_t kTokens = 1000;
  const std::int64_t step = std::llround(1e12 / tokens_per_s);
  const std::int64_t each = profile.step.b + profile.step.c * kTokens;
  const std::int64_t cache = profile.kv_blocks * profile.kv_block_tokens / kTokens;
  const std::int64_t room = each > 0 ? (step - profile.step.t0) / each : cache;
  return fmt::to_string(std::clamp<std::int64_t>(room, 0, cache));
}

std::string profiles_table(const datasets::Catalog& catalog) {
  place::TextTable table({"profile", ">t0 ms", ">KV blocks", ">at 30 tok/s",
                          ">at 80 tok/s", "basis", ">+-%", "source"});
  for (const datasets::StepProfile& profile : catalog.profiles) {
    table.add({profile.id,
               fmt::format("{:.2f}", static_cast<double>(profile.step.t0) / 1e9),
               fmt::to_string(profile.kv_blocks), answers_at(profile, 30),
               answers_at(profile, 80), to_text(profile.basis),
               fmt::format("{:g}", profile.error_pct), profile.source});
  }
  return table.text() +
         "at N tok/s: answers of 1000 tokens that one replica streams at that pace, "
         "within its cache; 0: not even one\n";
}

std::string rules_table(const datasets::Catalog& catalog, const Filter& filter) {
  place::TextTable table(
      {"line", "jurisdiction", "class", "outcome", "needs", "from", "until", "regime"});
  for (const datasets::ResidencyRow& row : catalog.residency) {
    if (filter.country && !row.countries.contains(*filter.country)) continue;
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
      "pairs\nSHA-256 {}\n",
      catalog.sites.size(), catalog.locations.size(), catalog.metros.size(),
      catalog.countries.size(), catalog.gpus.size(), catalog.prices.size(),
      catalog.models.size(), catalog.profiles.size(), catalog.residency.size(),
      catalog.network.hubs.size(), catalog.network.links.size(),
      catalog.network.measured.size(), catalog.hash);
}

/// Every promise with what was tried; false if one is broken.
bool run_check(const datasets::Catalog& catalog) {
  std::string text = overview(catalog);
  text +=
      "  ok    keys are unique, references whole, numbers in range: else nothing "
      "loads\n";
  bool sound = true;
  const auto outlines = datasets::CountryOutlines::load(datasets::default_folder());
  for (const datasets::AuditedPromise& one : datasets::audit(catalog, outlines)) {
    sound = sound && one.breaches.empty();
    text +=
        fmt::format("  {}  {} ({} looked at)\n", one.breaches.empty() ? "ok  " : "FAIL",
                    one.promise, one.looked_at);
    if (!one.remark.empty()) text += "        " + one.remark + "\n";
    for (const std::string& breach : one.breaches) text += "        " + breach + "\n";
  }
  print(text);
  return sound;
}

std::string offers_text(const datasets::Catalog& catalog, const Filter& filter) {
  if (filter.gpu) return offers_of(catalog, *filter.gpu, filter);
  std::string text;
  for (std::uint32_t i = 0; i < catalog.gpus.size(); ++i) {
    text += offers_of(catalog, datasets::GpuId{i}, filter) + "\n";
  }
  return text;
}

void run_catalog(const CatalogOptions& options, Session& session) {
  const datasets::Catalog& catalog = session.catalog();
  const Filter filter = filter_of(catalog, options);
  if (options.what == "check") {
    if (!run_check(catalog)) session.exit = kBadInput;
    return;
  }
  print(options.what == "sites"      ? sites_table(catalog, filter)
        : options.what == "offers"   ? offers_text(catalog, filter)
        : options.what == "gpus"     ? gpus_table(catalog)
        : options.what == "profiles" ? profiles_table(catalog)
                                     : rules_table(catalog, filter));
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
