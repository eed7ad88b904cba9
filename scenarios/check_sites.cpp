#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "scenarios/checks.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

std::string provider_of(const std::string& site) {
  return site.substr(0, site.find('/'));
}

template <class List>
bool names(const List& list, std::string_view word) {
  return std::ranges::count(list, word) > 0;
}

/// Sites and providers that the scenario may name: those of the catalog and its own.
struct Known {
  std::vector<std::string> sites;
  std::vector<std::string> providers;

  explicit Known(const CheckContext& context)
      : sites(context.vocabulary.sites()), providers(context.vocabulary.providers()) {
    for (const spec::AddedSite& site : context.spec.sites().add()) {
      sites.push_back(site.name());
      providers.push_back(provider_of(site.name()));
    }
  }
};

void check_site(const CheckContext& context, const Known& known,
                const std::string& site, const std::string& path) {
  if (site.empty() || names(known.sites, site)) return;
  context.error(path, fmt::format("{} is \"{}\", which is no known site", path, site),
                did_you_mean(site, known.sites));
}

void check_provider(const CheckContext& context, const Known& known,
                    const std::string& provider, const std::string& path) {
  if (provider.empty() || names(known.providers, provider)) return;
  context.error(path,
                fmt::format("{} is \"{}\", which is no known provider", path, provider),
                did_you_mean(provider, known.providers));
}

template <class AllowDeny>
void check_both(const CheckContext& context, const AllowDeny& lists,
                const std::string& path) {
  for (int i = 0; i < lists.deny_size(); ++i) {
    if (!names(lists.allow(), lists.deny(i))) continue;
    context.error(fmt::format("{}.deny[{}]", path, i),
                  fmt::format("{} both allows and denies \"{}\"", path, lists.deny(i)));
  }
}

void check_filters(const CheckContext& context, const Known& known) {
  const spec::Sites& sites = context.spec.sites();
  for (int i = 0; i < sites.providers().allow_size(); ++i) {
    check_provider(context, known, sites.providers().allow(i),
                   fmt::format("sites.providers.allow[{}]", i));
  }
  for (int i = 0; i < sites.providers().deny_size(); ++i) {
    check_provider(context, known, sites.providers().deny(i),
                   fmt::format("sites.providers.deny[{}]", i));
  }
  check_both(context, sites.providers(), "sites.providers");
  check_both(context, sites.countries(), "sites.countries");
  for (int i = 0; i < sites.prefer_size(); ++i) {
    check_provider(context, known, sites.prefer(i).provider(),
                   fmt::format("sites.prefer[{}].provider", i));
  }
  std::vector<std::string> certifications = context.vocabulary.certifications();
  // Ids of the format; that nobody is known to hold one is no fault of the scenario.
  for (const char* id :
       {"iso27001", "soc2", "hds", "c5", "baa", "pci", "fedramp", "dpf"}) {
    certifications.emplace_back(id);
  }
  for (int i = 0; i < sites.certifications_size(); ++i) {
    const std::string& id = sites.certifications(i);
    if (names(certifications, id)) continue;
    const std::string path = fmt::format("sites.certifications[{}]", i);
    context.error(
        path, fmt::format("{} is \"{}\", which is no known certification", path, id),
        did_you_mean(id, certifications));
  }
}

template <class Globs>
void check_globs(const CheckContext& context, const Known& known, const Globs& globs,
                 const std::string& path) {
  for (int i = 0; i < globs.size(); ++i) {
    const std::string& glob = globs.Get(i);
    if (std::ranges::any_of(known.sites, [&](const std::string& site) {
          return glob_matches(glob, site);
        })) {
      continue;
    }
    context.warning(fmt::format("{}[{}]", path, i),
                    fmt::format("{}[{}], \"{}\", matches no site", path, i, glob));
  }
}

void check_classes(const CheckContext& context) {
  const spec::Sites& sites = context.spec.sites();
  const bool colo = names(sites.class_(), "colo");
  if (colo && !context.given("sites.build")) {
    context.warning("sites.class",
                    "sites.class names colo and there is no build: "
                    "nothing can stand at such sites");
  }
  if (!colo && sites.has_build()) {
    context.warning("sites.build",
                    "sites.build has no effect: sites.class does not "
                    "name colo");
  }
  if (colo && sites.tiers_size() > 0 && !names(sites.tiers(), "colo")) {
    context.warning("sites.tiers", "sites.class names colo, sites.tiers does not");
  }
  if (sites.prices() == "seen_only" && sites.has_build()) {
    context.warning("sites.build", "sites.build has no effect with prices: seen_only");
  }
}

void check_build(const CheckContext& context) {
  const spec::Build& build = context.spec.sites().build();
  check_low_mid_high(context, build.colo_usd_kw_month(),
                     "sites.build.colo_usd_kw_month");
  std::set<std::pair<std::string, int>> seen;
  for (int i = 0; i < build.gpus_size(); ++i) {
    const spec::BuildGpu& gpu = build.gpus(i);
    const std::string path = fmt::format("sites.build.gpus[{}]", i);
    check_low_mid_high(context, gpu.capex_usd(), path + ".capex_usd");
    if (gpu.gpu().empty() || seen.emplace(gpu.gpu(), gpu.shape_gpus()).second) continue;
    context.error(path, fmt::format("{} repeats the one of {} x {}", path,
                                    gpu.shape_gpus(), gpu.gpu()));
  }
}

void check_added(const CheckContext& context) {
  std::set<std::string> seen;
  const auto& added = context.spec.sites().add();
  for (int i = 0; i < added.size(); ++i) {
    const spec::AddedSite& site = added.Get(i);
    const std::string path = fmt::format("sites.add[{}]", i);
    check_place(context, site.city(), site.country(), path);
    const std::string& name = site.name();
    if (name.empty()) continue;
    const auto slash = name.find('/');
    if (slash == 0 || slash == std::string::npos || slash + 1 == name.size()) {
      context.error(path + ".name", fmt::format("{}.name is \"{}\", expected "
                                                "provider/region",
                                                path, name));
    }
    if (!seen.insert(name).second) {
      context.error(path + ".name",
                    fmt::format("two added sites are named \"{}\"", name));
    }
    if (names(context.vocabulary.sites(), name)) {
      context.error(path + ".name",
                    fmt::format("\"{}\" is a site of the catalog", name),
                    "quotes for it belong to sites.override");
    }
    std::set<std::tuple<std::string, int, std::string>> offers;
    for (int j = 0; j < site.offers_size(); ++j) {
      const spec::QuotedOffer& offer = site.offers(j);
      if (offer.gpu().empty() || offer.term().empty()) continue;
      if (offers.emplace(offer.gpu(), offer.shape_gpus(), offer.term()).second)
        continue;
      context.error(fmt::format("{}.offers[{}]", path, j),
                    fmt::format("{} quotes {} x {} {} twice", path, offer.shape_gpus(),
                                offer.gpu(), offer.term()));
    }
  }
}

void check_overrides(const CheckContext& context, const Known& known) {
  std::set<std::tuple<std::string, std::string, int, std::string>> seen;
  const auto& overrides = context.spec.sites().override();
  for (int i = 0; i < overrides.size(); ++i) {
    const spec::Override& quote = overrides.Get(i);
    const std::string path = fmt::format("sites.override[{}]", i);
    check_site(context, known, quote.site(), path + ".site");
    const bool says_something = std::ranges::any_of(
        std::vector<std::string>{"usd_per_gpu_hour", "available_gpus", "lead_time_days",
                                 "fabric"},
        [&](const auto& key) {
          return context.given(fmt::format("{}.{}", path, key));
        });
    if (!says_something) {
      context.error(path, fmt::format("{} states neither price nor stock nor lead time "
                                      "nor fabric",
                                      path));
    }
    if (quote.site().empty() || quote.gpu().empty()) continue;
    const std::string term = quote.has_term() ? quote.term() : "on_demand";
    if (seen.emplace(quote.site(), quote.gpu(), quote.shape_gpus(), term).second)
      continue;
    context.error(path, fmt::format("{} is the second quote for {} {} at {}", path,
                                    term, quote.gpu(), quote.site()));
  }
}

void check_keeps(const CheckContext& context, const Known& known) {
  std::set<std::string> seen;
  const auto& keeps = context.spec.sites().keep();
  for (int i = 0; i < keeps.size(); ++i) {
    const spec::Keep& keep = keeps.Get(i);
    const std::string path = fmt::format("sites.keep[{}]", i);
    check_site(context, known, keep.site(), path + ".site");
    if (!keep.name().empty() && !seen.insert(keep.name()).second) {
      context.error(path + ".name",
                    fmt::format("two kept ones are named \"{}\"", keep.name()));
    }
    const std::string& start = context.spec.horizon().start();
    if (keep.until().empty() || start.empty() || keep.until() >= start) continue;
    context.warning(path + ".until",
                    fmt::format("{} ends on {}, before the service starts on {}", path,
                                keep.until(), start));
  }
}

void check_pins(const CheckContext& context, const Known& known) {
  const spec::Sites& sites = context.spec.sites();
  const auto matches = [](const auto& globs, const std::string& site) {
    return std::ranges::any_of(
        globs, [&](const std::string& glob) { return glob_matches(glob, site); });
  };
  std::set<std::string> seen;
  for (int i = 0; i < sites.pin_size(); ++i) {
    const std::string& site = sites.pin(i).site();
    const std::string path = fmt::format("sites.pin[{}].site", i);
    check_site(context, known, site, path);
    if (site.empty()) continue;
    if (!seen.insert(site + " " + sites.pin(i).gpu()).second) {
      context.error(path, fmt::format("{}, \"{}\", is pinned twice", path, site));
    }
    if (matches(sites.forbid(), site)) {
      context.error(
          path, fmt::format("{}, \"{}\", is forbidden by sites.forbid", path, site));
    }
    if (sites.only_size() > 0 && !matches(sites.only(), site)) {
      context.error(path, fmt::format("{}, \"{}\", is not in sites.only", path, site));
    }
  }
}

}  // namespace

void check_sites(const CheckContext& context) {
  const Known known(context);
  check_filters(context, known);
  check_globs(context, known, context.spec.sites().only(), "sites.only");
  check_globs(context, known, context.spec.sites().forbid(), "sites.forbid");
  check_classes(context);
  check_build(context);
  check_added(context);
  check_overrides(context, known);
  check_keeps(context, known);
  check_pins(context, known);
}

}  // namespace isochrone::scenarios
