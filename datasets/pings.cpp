#include "datasets/pings.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/csv.h"

namespace isochrone::datasets {
namespace {

constexpr double kSelfPingMs = 5;
constexpr double kAstrayKm = 2000;
// Real routes take 1.3 to 4 times as long as light along the great circle, so halves of
// them mostly fall below 1.
constexpr double kFarKm = 500;
constexpr std::size_t kEnough = 5;

using PlaceIndex = std::map<std::string, std::size_t>;

PlaceIndex read_places(const std::string& path, std::vector<PingPlace>& places) {
  const CsvTable table =
      CsvTable::read(path, {"place", "city", "country", "lat", "lon"});
  Diagnostics faults;
  PlaceIndex index;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string& name = table.text(row, "place");
    const auto country = geo::CountryCode::parse(table.text(row, "country"));
    if (!country) {
      faults.error(
          table.position(row, "country"),
          fmt::format("\"{}\" is no country code", table.text(row, "country")));
    }
    if (!index.emplace(name, places.size()).second) {
      faults.error(table.position(row, "place"),
                   fmt::format("place \"{}\" is given twice", name));
    }
    places.push_back({name,
                      {table.text(row, "city"),
                       country.value_or(geo::CountryCode{}),
                       {table.number_in(row, "lat", -90, 90, faults),
                        table.number_in(row, "lon", -180, 180, faults)}},
                      table.position(row, "place")});
  }
  faults.throw_if_errors();
  return index;
}

std::vector<Ping> read_rows(const std::string& path, const std::string& places_path,
                            const PlaceIndex& index) {
  const CsvTable table = CsvTable::read(path, {"from", "to", "rtt_ms_p50"});
  std::vector<std::string> known;
  for (const auto& [name, place] : index) known.push_back(name);
  std::vector<Ping> pings;
  Diagnostics faults;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto place = [&](const char* column) {
      const std::string& name = table.text(row, column);
      const auto found = index.find(name);
      if (found != index.end()) return found->second;
      faults.error(table.position(row, column),
                   fmt::format("place \"{}\" is not in {}", name, places_path),
                   did_you_mean(name, known));
      return std::size_t{0};
    };
    const std::size_t from = place("from");
    const std::size_t to = place("to");
    pings.push_back({from, to, table.number_in(row, "rtt_ms_p50", 0.001, 10000, faults),
                     table.position(row, "rtt_ms_p50")});
  }
  faults.throw_if_errors();
  return pings;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class SanityCheck {
 public:
  explicit SanityCheck(const PingFile& file) : file_(file) {}

  std::vector<Diagnostic> warnings() {
    repeated();
    self_pings();
    faster_than_light();
    if (!halved_as_a_whole()) halved_by_place();
    const auto all = found_.all();
    return {all.begin(), all.end()};
  }

 private:
  double km(const Ping& ping) const {
    return geo::great_circle_km(file_.places[ping.from].end.at,
                                file_.places[ping.to].end.at);
  }
  std::string pair(const Ping& ping) const {
    return file_.places[ping.from].name + " to " + file_.places[ping.to].name;
  }

  void repeated() {
    // Two places of one city at one spot are the same to whoever asks.
    std::map<std::pair<std::string, geo::Coordinates>, std::size_t> spots;
    std::vector<std::size_t> spot_of;
    for (const PingPlace& place : file_.places) {
      const auto spot = std::pair(place.end.name, place.end.at);
      spot_of.push_back(spots.try_emplace(spot, spots.size()).first->second);
    }
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> rows;
    for (std::size_t i = 0; i < file_.pings.size(); ++i) {
      rows.emplace_back(spot_of[file_.pings[i].from], spot_of[file_.pings[i].to], i);
    }
    std::ranges::sort(rows);
    std::size_t first = rows.size();
    std::size_t count = 0;
    for (std::size_t k = 1; k < rows.size(); ++k) {
      const auto& [from, to, row] = rows[k];
      if (from != std::get<0>(rows[k - 1]) || to != std::get<1>(rows[k - 1])) continue;
      ++count;
      first = std::min(first, row);
    }
    if (count == 0) return;
    const Ping& ping = file_.pings[first];
    found_.warning(ping.position,
                   fmt::format("{} rows repeat a pair of cities, {} first: each counts "
                               "where the model is judged, the first where it is "
                               "replaced",
                               count, pair(ping)));
  }

  void self_pings() {
    const Ping* worst = nullptr;
    std::size_t count = 0;
    for (const Ping& ping : file_.pings) {
      if (ping.from != ping.to || ping.rtt_ms <= kSelfPingMs) continue;
      ++count;
      if (worst == nullptr || ping.rtt_ms > worst->rtt_ms) worst = &ping;
    }
    if (worst == nullptr) return;
    found_.warning(
        worst->position,
        fmt::format("{} pings of a place to itself take more than {:g} ms, "
                    "most of all {} with {:g} ms",
                    count, kSelfPingMs, file_.places[worst->from].name, worst->rtt_ms));
  }

  void faster_than_light() {
    const Ping* worst = nullptr;
    double worst_ms = 0;
    std::size_t count = 0;
    for (const Ping& ping : file_.pings) {
      const double missing =
          geo::kFibreMsPerKm * km(ping) - kLightGraceMs - ping.rtt_ms;
      if (missing <= 0) continue;
      ++count;
      if (missing <= worst_ms) continue;
      worst_ms = missing;
      worst = &ping;
    }
    if (worst == nullptr) return;
    found_.warning(
        worst->position,
        fmt::format("{} round trips are faster than light in fibre, most of all {} "
                    "with {:g} ms over {:.0f} km, which light takes {:.1f} ms for",
                    count, pair(*worst), worst->rtt_ms, km(*worst),
                    geo::kFibreMsPerKm * km(*worst)));
  }

  bool halved_as_a_whole() {
    std::vector<double> stretches;
    for (const Ping& ping : file_.pings) {
      const double far = km(ping);
      if (far >= kFarKm) stretches.push_back(ping.rtt_ms / (geo::kFibreMsPerKm * far));
    }
    if (stretches.size() < kEnough || median(stretches) >= 1.05) return false;
    found_.warning(file_.pings.front().position,
                   fmt::format("the values look like one-way delays: half of those "
                               "over {:g} km are below {:.2f} times the round trip of "
                               "light in fibre; round trips are expected",
                               kFarKm, median(stretches)));
    return true;
  }

  void halved_by_place() {
    std::map<std::pair<std::size_t, std::size_t>, const Ping*> directed;
    for (const Ping& ping : file_.pings) directed[{ping.from, ping.to}] = &ping;
    std::map<std::size_t, std::vector<double>> outward;
    for (const auto& [ends, ping] : directed) {
      const auto back = directed.find({ends.second, ends.first});
      if (ends.first == ends.second || back == directed.end()) continue;
      outward[ends.first].push_back(ping->rtt_ms / back->second->rtt_ms);
    }
    for (const auto& [place, ratios] : outward) {
      if (ratios.size() < kEnough || median(ratios) > 0.7) continue;
      const auto first = std::ranges::find(file_.pings, place, &Ping::from);
      found_.warning(first->position,
                     fmt::format("values from {} look like one-way delays: half of "
                                 "them are below {:.2f} times the way back",
                                 file_.places[place].name, median(ratios)));
    }
  }

  const PingFile& file_;
  Diagnostics found_;
};

}  // namespace

PingFile PingFile::read(const std::string& file, const std::string& places) {
  PingFile pings;
  const PlaceIndex index = read_places(places, pings.places);
  pings.pings = read_rows(file, places, index);
  pings.warnings = SanityCheck(pings).warnings();
  if (pings.pings.empty()) {
    Diagnostics none;
    none.warning({file, 1, 1}, "has no rows: nothing is measured");
    pings.warnings.push_back(none.all().front());
  }
  return pings;
}

std::vector<Diagnostic> misplaced(const PingFile& file, const Catalog& catalog) {
  constexpr double kNowhere = std::numeric_limits<double>::infinity();
  struct Kind {
    const PingPlace* worst = nullptr;
    double km = 0;
    std::size_t count = 0;
  };
  Kind stateless;
  Kind astray;
  for (const PingPlace& place : file.places) {
    double km = kNowhere;
    for (const Metro& metro : catalog.metros) {
      if (metro.country != place.end.country) continue;
      km = std::min(km, geo::great_circle_km(metro.at, place.end.at));
    }
    if (km <= kAstrayKm) continue;
    Kind& kind = km == kNowhere ? stateless : astray;
    ++kind.count;
    if (km > kind.km) kind = {&place, km, kind.count};
  }
  Diagnostics found;
  if (stateless.worst != nullptr) {
    const geo::Endpoint& end = stateless.worst->end;
    const Metro& nearest = *std::ranges::min_element(
        catalog.metros, {},
        [&](const Metro& metro) { return geo::great_circle_km(metro.at, end.at); });
    found.warning(
        stateless.worst->position,
        fmt::format("{} places are of countries that are not known, {} of \"{}\" "
                    "first; the metro nearest to it is {}, {}",
                    stateless.count, stateless.worst->name, end.country.text(),
                    nearest.name, nearest.country.text()));
  }
  if (astray.worst != nullptr) {
    found.warning(
        astray.worst->position,
        fmt::format("{} places lie more than {:g} km from every metro of their "
                    "country, most of all {} with {:.0f} km from those of {}",
                    astray.count, kAstrayKm, astray.worst->name, astray.km,
                    astray.worst->end.country.text()));
  }
  const auto all = found.all();
  return {all.begin(), all.end()};
}

}  // namespace isochrone::datasets
