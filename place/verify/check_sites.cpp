#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "place/verify/checks.h"

namespace isochrone::verify {
namespace {

/// `*` stands for any text, everything else for itself.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (matches(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && pattern.front() == text.front() &&
         matches(pattern.substr(1), text.substr(1));
}

template <class Globs>
bool any_matches(const Globs& globs, const std::string& site) {
  return std::ranges::any_of(
      globs, [&](const std::string& glob) { return matches(glob, site); });
}

void check_site(const Facts& facts, Faults& faults, int index) {
  const plan::Site& claimed = facts.plan.sites(index);
  const std::string where = fmt::format("sites[{}]", index);
  const scenarios::CandidateSite* should = facts.candidate(claimed.name());
  if (should == nullptr) {
    faults.add(where + ".name",
               fmt::format("\"{}\" is no candidate of this scenario", claimed.name()));
    return;
  }
  const spec::Sites& rules = facts.scenario.spec.sites();
  if (any_matches(rules.forbid(), claimed.name())) {
    faults.add(where, fmt::format("{} is forbidden", claimed.name()));
  }
  if (!rules.only().empty() && !any_matches(rules.only(), claimed.name())) {
    faults.add(where, fmt::format("{} is not among the only sites", claimed.name()));
  }
  faults.equal(where + ".provider", claimed.provider(), should->provider);
  faults.equal(where + ".site_class", claimed.site_class(),
               datasets::to_text(should->site_class));
  faults.equal(where + ".location", claimed.location(), should->location);
  faults.equal(where + ".city", claimed.city(), should->endpoint.name);
  faults.equal(where + ".country", claimed.country(), should->endpoint.country.text());
  faults.near(where + ".lat", claimed.lat(), should->endpoint.at.lat, 1e-9);
  faults.near(where + ".lon", claimed.lon(), should->endpoint.at.lon, 1e-9);
  faults.equal(where + ".fixed_usd_micro", claimed.fixed_usd_micro(),
               should->fixed_month.count());
  const bool used =
      std::ranges::any_of(facts.plan.pools(), [&](const plan::Pool& pool) {
        return pool.site() == static_cast<std::uint32_t>(index);
      });
  if (!used && !should->pinned) faults.add(where, "it is open and has no pool");
}

void check_pins(const Facts& facts, Faults& faults) {
  for (const scenarios::CandidateSite& site : facts.candidates.sites) {
    if (!site.pinned) continue;
    std::int64_t gpus = 0;
    bool open = false;
    for (const plan::Site& built : facts.plan.sites()) open |= built.name() == site.id;
    for (const plan::Pool& pool : facts.plan.pools()) {
      if (facts.site_of(pool) != &site) continue;
      if (site.pinned_gpu && facts.catalog.gpus[*site.pinned_gpu].id != pool.gpu()) {
        continue;
      }
      gpus += pool.gpus();
    }
    if (!open) {
      faults.add("sites", fmt::format("{} is pinned and not open", site.id));
    } else if (gpus < site.pinned_min_gpus) {
      faults.add("pools",
                 fmt::format("{} is pinned with at least {} GPUs, {} stand there",
                             site.id, site.pinned_min_gpus, gpus));
    }
  }
}

}  // namespace

void check_sites(const Facts& facts, Faults& faults) {
  for (int i = 0; i < facts.plan.sites_size(); ++i) check_site(facts, faults, i);
  std::set<std::string> names;
  std::string last;
  for (const plan::Site& site : facts.plan.sites()) {
    if (!names.insert(site.name()).second) {
      faults.add("sites", fmt::format("{} stands there twice", site.name()));
    }
    if (site.name() < last) faults.add("sites", "they are not sorted by name");
    last = site.name();
  }
  const spec::Limits& limits = facts.scenario.spec.limits();
  if (limits.has_max_sites() && facts.plan.sites_size() > limits.max_sites()) {
    faults.add("sites", fmt::format("{} are open, {} may be", facts.plan.sites_size(),
                                    limits.max_sites()));
  }
  check_pins(facts, faults);
}

}  // namespace isochrone::verify
