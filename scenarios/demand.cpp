// From "four million people" to a load per place and UTC hour.
//
// 1. spread.cpp says where the users of an entry are: metros, with small ones merged.
// 2. load_shape.cpp walks the real calendar of the horizon by each metro's clock and
//    gives, per UTC hour, the largest hourly mean and the sum over all days of a rate
//    whose mean is 1.
// 3. Here both are multiplied: load = rate x largest hourly mean x 10-minute factor x
//    headroom; requests = rate x sum / months.
//
// Clocks change by metro, so a block is a UTC hour and never a local one: on the day
// that has 23 or 25 local hours, UTC still has 24.
#include "scenarios/demand.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "scenarios/load_shape.h"
#include "scenarios/spread.h"

namespace isochrone::scenarios {
namespace {

using datasets::Catalog;

/// Largest 10-minute mean over the hourly mean, where no burstiness says more.
constexpr double kTenMinuteFactor = 1.3;
constexpr double kSecondsPerDay = 86400;

bool bursty(const spec::Demand& entry) {
  return entry.has_burstiness() && entry.burstiness().cv() > 1;
}

double ten_minute_factor(const spec::Demand& entry) {
  return bursty(entry) ? 1.0 : kTenMinuteFactor;
}

Modulation modulation_of(const spec::Demand& entry) {
  if (!bursty(entry)) return {};
  const double square = entry.burstiness().cv() * entry.burstiness().cv();
  return {(square + 1) / (square - 1), entry.burstiness().correlation_min() * 60};
}

/// Rounded up, but for the last bits of a double: 1500 stays 1500.
MicroRps rounded_up(double rps) {
  constexpr double kDust = 1e-3;
  return MicroRps::of(static_cast<std::int64_t>(std::ceil(rps * 1e6 - kDust)));
}

geo::AccessLaw constant_access(double rtt_ms) {
  return {rtt_ms, rtt_ms, rtt_ms, rtt_ms, rtt_ms, 0, false};
}

/// p50 and p75 of the mobile values; the tail is its p75 times the ratio that the
/// country's own tail has to its p75.
geo::AccessLaw mobile_access(const datasets::Country& country) {
  geo::AccessLaw law = country.access_mobile;
  const geo::AccessLaw& own = country.access;
  if (law.p75_ms <= 0 || own.p75_ms <= 0) return own;
  law.p90_ms = law.p75_ms * own.p90_ms / own.p75_ms;
  law.p95_ms = law.p75_ms * own.p95_ms / own.p75_ms;
  law.p99_ms = law.p75_ms * own.p99_ms / own.p75_ms;
  law.estimated = true;
  return law;
}

geo::AccessLaw access_of(const spec::Demand& entry, geo::CountryCode code,
                         const Catalog& catalog) {
  if (entry.access().has_rtt_ms()) return constant_access(entry.access().rtt_ms());
  if (entry.access().kind() == "none") return {};
  const auto country = catalog.country(code);
  if (!country) return {};
  const datasets::Country& row = catalog.countries[*country];
  return entry.access().kind() == "mobile" ? mobile_access(row) : row.access;
}

/// The reporting region of each country: the scenario's region with the fewest
/// countries that holds it, else itself.
class Reporting {
 public:
  Reporting(const Scenario& scenario, const Catalog& catalog) {
    for (const auto& [name, words] : scenario.spec.regions()) {
      regions_.emplace_back(name, expand(words.words(), catalog));
    }
    std::ranges::sort(regions_, {}, [](const auto& region) {
      return std::tuple(region.second.size(), region.first);
    });
  }

  std::string of(geo::CountryCode country) const {
    for (const auto& [name, countries] : regions_) {
      if (countries.contains(country)) return name;
    }
    return country.text();
  }

 private:
  std::vector<std::pair<std::string, CountrySet>> regions_;
};

/// Shapes by (week, growth, zone): entries that share a day share the walk.
class Shapes {
 public:
  explicit Shapes(HorizonDays days) : days_(days) {}

  const LoadShape& of(const WeekProfile& week, double growth, const std::string& zone) {
    const auto key = std::tuple(week, growth, zone);
    const auto found = shapes_.find(key);
    if (found != shapes_.end()) return found->second;
    return shapes_.emplace(key, load_shape(week, growth, days_, zone)).first->second;
  }

 private:
  HorizonDays days_;
  std::map<std::tuple<WeekProfile, double, std::string>, LoadShape> shapes_;
};

/// Mean requests per second of one user of an entry; for an entry that states its peak,
/// of the whole entry, such that its largest 10-minute mean is that peak.
double unit_rate(const spec::Demand& entry, const Spread& spread,
                 const WeekProfile& week, Shapes& shapes) {
  if (!entry.has_rps_peak()) return entry.requests_per_user_day() / kSecondsPerDay;
  std::array<double, kBlocks> total{};
  for (const PlacedUsers& place : spread.places) {
    const LoadShape& shape = shapes.of(week, 0, place.time_zone);
    for (std::size_t block = 0; block < kBlocks; ++block) {
      total[block] += place.users / spread.served * shape.peak[block];
    }
  }
  const double highest = *std::ranges::max_element(total);
  return highest > 0 ? entry.rps_peak() / (ten_minute_factor(entry) * highest) : 0;
}

class Expansion {
 public:
  Expansion(const Scenario& scenario, const Catalog& catalog)
      : scenario_(scenario),
        catalog_(catalog),
        reporting_(scenario, catalog),
        days_(horizon_days(scenario)),
        shapes_(days_) {}

  Demand run() {
    const int entries = scenario_.spec.demand_size();
    for (int i = 0; i < entries; ++i) add_entry(static_cast<std::size_t>(i));
    number_regions();
    note_totals();
    if (entries > 0 && demand_.populations.empty()) {
      throw InputError({{Severity::kError, scenario_.source.at("demand"),
                         "nobody is left to be served: every country of every entry is "
                         "embargoed, partner-run or without data",
                         "sites.countries.allow lifts the first two by country code"}});
    }
    return std::move(demand_);
  }

 private:
  void add_entry(std::size_t index) {
    const spec::Demand& entry = scenario_.spec.demand(static_cast<int>(index));
    const Spread spread = spread_users(scenario_, index, catalog_);
    const WeekProfile week = checked_week(entry, index);
    demand_.modulation.push_back(modulation_of(entry));
    if (!entry.has_rps_peak()) {
      demand_.users_asked += spread.asked;
      demand_.users_served += spread.served;
    }
    try {
      const double rate = unit_rate(entry, spread, week, shapes_);
      for (const PlacedUsers& place : spread.places) {
        add_population(entry, index, place, rate, week);
      }
    } catch (const std::runtime_error& fault) {
      throw InputError(
          {{Severity::kError, {}, fault.what(), "is the package tzdata installed?"}});
    }
    note_entry(entry, spread);
  }

  bool stays(const spec::Demand& entry) const {
    return scenario_.spec.workloads(static_cast<int>(workload_index(scenario_, entry)))
               .session()
               .sticky() == "site";
  }

  WeekProfile checked_week(const spec::Demand& entry, std::size_t index) const {
    try {
      return week_profile(entry.daily_profile(), catalog_);
    } catch (const std::invalid_argument& fault) {
      const std::string path = fmt::format("demand[{}].daily_profile", index);
      throw InputError(
          {{Severity::kError, scenario_.source.at(path), fault.what(), ""}});
    }
  }

  void add_population(const spec::Demand& entry, std::size_t index,
                      const PlacedUsers& place, double rate, const WeekProfile& week) {
    Population population;
    population.entry = index;
    population.workload = workload_index(scenario_, entry);
    population.metro = place.metro;
    population.endpoint = {place.name, place.country, place.at};
    population.users = entry.has_rps_peak() ? 0 : place.users;
    population.access = access_of(entry, place.country, catalog_);
    const LoadShape& shape =
        shapes_.of(week, entry.growth_pct_month() / 100, place.time_zone);
    const double mean = rate * place.users;
    const double margin = ten_minute_factor(entry) * headroom(scenario_);
    for (std::size_t block = 0; block < kBlocks; ++block) {
      population.load[block] = rounded_up(mean * shape.peak[block] * margin);
      population.requests_month[block] =
          std::llround(mean * 3600 * shape.sum[block] / days_.months);
    }
    // Shares that hold at all hours cannot follow the sun.
    if (stays(entry)) population.load.fill(std::ranges::max(population.load));
    region_names_.push_back(reporting_.of(place.country));
    demand_.populations.push_back(std::move(population));
  }

  void number_regions() {
    const std::set<std::string> names(region_names_.begin(), region_names_.end());
    std::map<std::string, RegionId> ids;
    for (const std::string& name : names) {
      ids[name] = demand_.regions.push_back({name});
    }
    auto name = region_names_.begin();
    for (Population& population : demand_.populations) population.region = ids[*name++];
  }

  void note_entry(const spec::Demand& entry, const Spread& spread) {
    std::map<std::string, std::pair<std::string, double>> by_reason;
    for (const auto& [country, why] : spread.left_out) {
      auto& [codes, users] = by_reason[why];
      codes += (codes.empty() ? "" : ", ") + country.text();
      users += spread.left_out_users.at(country);
    }
    for (const auto& [why, who] : by_reason) {
      const auto& [codes, users] = who;
      const std::string count = entry.has_rps_peak()
                                    ? fmt::format("{:.3g} % of the load", 100 * users)
                                    : fmt::format("{:.0f} users", users);
      demand_.notes.push_back(
          fmt::format("{}: left out, {}: {} ({})", entry.name(), why, codes, count));
    }
    if (spread.moved_users > 0) {
      demand_.notes.push_back(fmt::format(
          "{}: {} of {} metros kept; {:.1f} % of the users count at the nearest kept "
          "metro of their country",
          entry.name(), spread.places.size(), spread.metros,
          100 * spread.moved_users / spread.served));
    }
    note_load(entry);
  }

  void note_load(const spec::Demand& entry) {
    std::string& note = demand_.notes.emplace_back(entry.name());
    if (entry.has_rps_peak()) {
      note +=
          fmt::format(": largest 10-minute mean = {} rps, as stated", entry.rps_peak());
    } else {
      note +=
          fmt::format(": 10-minute mean = hourly mean x {}", ten_minute_factor(entry));
      if (bursty(entry)) note += " (burstiness is modelled instead)";
    }
    note += fmt::format(", x headroom {}", headroom(scenario_));
    const bool shaped =
        !entry.daily_profile().name().empty() || entry.daily_profile().hours_size() > 0;
    if (!shaped) note += "; no daily_profile: flat";
    if (stays(entry)) {
      note +=
          "; sessions stay at their site: shares hold at all hours, and the largest "
          "hour of each metro with them";
    }
    const std::string& access = entry.access().kind();
    if (access == "fixed")
      note += "; access fixed: the country's value, an upper bound";
    if (access == "mobile") note += "; access mobile: the tail above p75 is estimated";
  }

  void note_totals() {
    if (demand_.users_asked > demand_.users_served) {
      demand_.notes.insert(
          demand_.notes.begin(),
          fmt::format("{} asked, {} served", millions(demand_.users_asked),
                      millions(demand_.users_served)));
    }
    std::set<std::string> guessed;
    for (const Population& population : demand_.populations) {
      if (population.access.estimated)
        guessed.insert(population.endpoint.country.text());
    }
    if (!guessed.empty()) {
      demand_.notes.push_back(
          fmt::format("last mile estimated in {} countries", guessed.size()));
    }
  }

  static std::string millions(double users) {
    return users >= 1e6 ? fmt::format("{:.1f} M", users / 1e6)
                        : fmt::format("{:.0f}", users);
  }

  const Scenario& scenario_;
  const Catalog& catalog_;
  Reporting reporting_;
  HorizonDays days_;
  Shapes shapes_;
  Demand demand_;
  std::vector<std::string> region_names_;  // by population
};

}  // namespace

Demand expand_demand(const Scenario& scenario, const Catalog& catalog) {
  return Expansion(scenario, catalog).run();
}

}  // namespace isochrone::scenarios
