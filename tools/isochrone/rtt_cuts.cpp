#include "tools/isochrone/rtt_cuts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "geo/corridors.h"
#include "geo/network.h"
#include "place/plan_file/table.h"

namespace isochrone::tools {
namespace {

// A millisecond is less than any objective can feel.
constexpr Micros kFelt{1000};

struct Change {
  std::size_t from = 0;
  std::size_t to = 0;
  Micros before{0};
  Micros after{0};

  Micros rise() const { return after - before; }
};

std::string ms(Micros time) { return fmt::format("{:.1f}", to_ms(time)); }

/// Worst first; ties keep their order.
void sort_by_rise(std::vector<Change>& changes) {
  std::ranges::stable_sort(changes, std::ranges::greater{}, &Change::rise);
}

std::vector<geo::Endpoint> largest_metros(const datasets::Catalog& catalog) {
  std::map<geo::CountryCode, const datasets::Metro*> largest;
  for (const datasets::Metro& metro : catalog.metros) {
    const datasets::Metro*& kept = largest[metro.country];
    if (kept == nullptr || metro.weight_population > kept->weight_population) {
      kept = &metro;
    }
  }
  std::vector<geo::Endpoint> ends;
  for (const auto& [country, metro] : largest) {
    ends.push_back({metro->name, country, metro->at});
  }
  return ends;
}

std::string pairs_text(const geo::NetworkModel& intact, const geo::NetworkModel& cut,
                       geo::Regime regime, const datasets::Catalog& catalog,
                       std::size_t worst) {
  const auto ends = largest_metros(catalog);
  const geo::RttMatrix before = intact.rtts(regime, ends, ends);
  const geo::RttMatrix after = cut.rtts_from_intact(regime, ends, ends, before);
  std::vector<Change> changes;
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (std::size_t j = i + 1; j < ends.size(); ++j) {
      ++pairs;
      const Change change{i, j, before.at(i, j).rtt, after.at(i, j).rtt};
      if (change.rise() != Micros{0}) changes.push_back(change);
    }
  }
  std::string text = fmt::format("{} of {} pairs of countries' largest metros change\n",
                                 changes.size(), pairs);
  if (changes.empty()) {
    return text + fmt::format("the cut changes nothing on any shortest path{}\n",
                              kOthersBeside);
  }
  sort_by_rise(changes);
  text += fmt::format("half of those by {} ms and more\n\n",
                      ms(changes[changes.size() / 2].rise()));
  place::TextTable table(
      {"pair", "", ">before ms", ">after ms", ">adds ms", "after the cut"});
  for (const Change& c : changes) {
    if (worst-- == 0) break;
    table.add({fmt::format("{} ({})", ends[c.from].name, ends[c.from].country.text()),
               fmt::format("{} ({})", ends[c.to].name, ends[c.to].country.text()),
               ms(c.before), ms(c.after), ms(c.rise()),
               to_text(after.at(c.from, c.to).basis)});
  }
  return text + table.text();
}

/// Internet users of each metro: its country's, by weight population.
std::vector<double> users_of_metros(const datasets::Catalog& catalog) {
  std::map<geo::CountryCode, double> weight;
  for (const datasets::Metro& metro : catalog.metros) {
    weight[metro.country] += metro.weight_population;
  }
  std::vector<double> users;
  for (const datasets::Metro& metro : catalog.metros) {
    const auto country = catalog.country(metro.country);
    const double all = country ? catalog.countries[*country].internet_users : 0;
    users.push_back(all * metro.weight_population / weight[metro.country]);
  }
  return users;
}

std::vector<Micros> nearest(const geo::RttMatrix& rtts) {
  std::vector<Micros> nearest;
  for (std::size_t i = 0; i < rtts.rows(); ++i) {
    Micros best = Micros::max();
    for (std::size_t j = 0; j < rtts.columns(); ++j) {
      best = std::min(best, rtts.at(i, j).rtt);
    }
    nearest.push_back(best);
  }
  return nearest;
}

std::string users_text(const geo::NetworkModel& intact, const geo::NetworkModel& cut,
                       const datasets::Catalog& catalog, std::size_t worst) {
  std::vector<geo::Endpoint> metros;
  for (const datasets::Metro& metro : catalog.metros) {
    metros.push_back({metro.name, metro.country, metro.at});
  }
  std::vector<geo::Endpoint> locations;
  for (const datasets::Location& location : catalog.locations) {
    locations.push_back({location.city, location.country, location.at});
  }
  const auto users = users_of_metros(catalog);
  const geo::RttMatrix all = intact.rtts(geo::Regime::kPublic, metros, locations);
  const auto before = nearest(all);
  const auto after =
      nearest(cut.rtts_from_intact(geo::Regime::kPublic, metros, locations, all));
  std::vector<Change> changes;
  double farther = 0;
  for (std::size_t i = 0; i < metros.size(); ++i) {
    const Change change{i, i, before[i], after[i]};
    if (change.rise() < kFelt) continue;
    changes.push_back(change);
    farther += users[i];
  }
  sort_by_rise(changes);
  std::string text = fmt::format(
      "\n{:.1f} million Internet users are 1 ms and more farther from their nearest "
      "site location\n",
      farther / 1e6);
  if (changes.empty()) return text;
  place::TextTable table(
      {"users in", ">million", ">nearest before ms", ">after ms", ">adds ms"});
  for (const Change& c : changes) {
    if (worst-- == 0) break;
    table.add(
        {fmt::format("{} ({})", metros[c.from].name, metros[c.from].country.text()),
         fmt::format("{:.2f}", users[c.from] / 1e6), ms(c.before), ms(c.after),
         ms(c.rise())});
  }
  return text + table.text();
}

}  // namespace

std::vector<std::string> CutRequest::all(const geo::NetworkTables& tables) const {
  if (!reserve_pct) return names;
  return geo::with_full_corridors(tables, names, *reserve_pct);
}

std::string corridor_text(const geo::NetworkTables& tables, const CutRequest& request) {
  std::string text;
  for (const geo::CorridorLoss& loss : geo::corridor_losses(tables, request.names)) {
    text += fmt::format("about {:.0f} % of the capacity of {} is gone (estimated), {}",
                        100 * loss.lost_share, loss.corridor,
                        loss.left == 1 ? "1 cable or land link is left; "
                                       : fmt::format("{} cables or land links are "
                                                     "left; ",
                                                     loss.left));
    if (!request.reserve_pct) {
      text +=
          fmt::format("what cannot go there goes as with --cut {}\n", loss.corridor);
    } else if (loss.exceeds(*request.reserve_pct)) {
      text += "more than its reserve: it counts as cut\n";
    } else {
      text += "its reserve carries that\n";
    }
  }
  return text;
}

std::string cut_effects(const datasets::Catalog& catalog, geo::Regime regime,
                        const CutRequest& request, std::size_t worst) {
  const geo::NetworkModel intact(catalog.network);
  const geo::NetworkModel cut(catalog.network, request.all(catalog.network));
  return corridor_text(catalog.network, request) +
         pairs_text(intact, cut, regime, catalog, worst) +
         users_text(intact, cut, catalog, worst);
}

}  // namespace isochrone::tools
