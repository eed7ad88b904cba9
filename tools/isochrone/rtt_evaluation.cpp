#include "tools/isochrone/rtt_evaluation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/csv.h"
#include "place/plan_file/table.h"
#include "scenarios/json.h"

namespace isochrone::tools {
namespace {

using scenarios::json_array;
using scenarios::json_member;
using scenarios::json_object;
using scenarios::json_text;

double error_of(const EvaluatedPing& ping) {
  return ping.judged.modelled_ms / ping.judged.measured_ms - 1;
}

std::vector<geo::JudgedPair> judged(const RttEvaluation& evaluation) {
  std::vector<geo::JudgedPair> pairs;
  for (const EvaluatedPing& ping : evaluation.pings) pairs.push_back(ping.judged);
  return pairs;
}

std::vector<EvaluatedPing> worst_pings(const RttEvaluation& evaluation,
                                       std::size_t count) {
  std::vector<EvaluatedPing> ranked = evaluation.pings;
  std::ranges::stable_sort(ranked, std::ranges::greater{},
                           [](const auto& ping) { return std::abs(error_of(ping)); });
  if (ranked.size() > count) ranked.resize(count);
  return ranked;
}

std::vector<std::string> summary_cells(const std::string& name,
                                       const geo::ErrorSummary& s) {
  if (s.n == 0) return {name, "0", "-", "-", "-", "-", "-"};
  return {name,
          fmt::to_string(s.n),
          fmt::format("{:.1f}", 100 * s.median),
          fmt::format("{:.1f}", 100 * s.p90),
          fmt::format("{:.1f}", s.median_ms),
          fmt::format("{:.1f}", s.p90_ms),
          fmt::format("{:+.1f}", 100 * s.bias)};
}

std::vector<std::string> summary_members(const geo::ErrorSummary& s) {
  const auto number = [&](double value) {
    return s.n == 0 ? std::string("null") : fmt::format("{:.3f}", value);
  };
  return {json_member("n", fmt::to_string(s.n)),
          json_member("median_error_pct", number(100 * s.median)),
          json_member("p90_error_pct", number(100 * s.p90)),
          json_member("median_error_ms", number(s.median_ms)),
          json_member("p90_error_ms", number(s.p90_ms)),
          json_member("bias_pct", number(100 * s.bias))};
}

const char* word(geo::Regime regime) {
  return regime == geo::Regime::kPublic ? "public" : "backbone";
}

/// The measured places of the tables by their name there, with the operator and without
/// (`aws/af-south-1`, `af-south-1`; the first of equal ones).
std::map<std::string, std::string> measured_names(const geo::NetworkTables& tables) {
  std::map<std::string, std::string> names;
  for (const geo::MeasuredRtt& pair : tables.measured) {
    for (const std::string& name : {pair.from.name, pair.to.name}) {
      names.emplace(name, name);
      names.emplace(name.substr(name.find('/') + 1), name);
    }
  }
  return names;
}

/// Some of all ends, each once.
struct Selection {
  std::vector<geo::Endpoint> ends;
  std::map<std::size_t, std::size_t> index;  // into `ends`, by place

  void add(std::size_t place, const std::vector<geo::Endpoint>& all) {
    if (index.try_emplace(place, ends.size()).second) ends.push_back(all[place]);
  }
};

/// Of the given rows. A few rows of places at a time: the matrix of all places with all
/// would not fit where a file has tens of thousands.
std::vector<geo::RttEntry> entries_of(const geo::NetworkModel& model,
                                      geo::Regime regime,
                                      const std::vector<geo::Endpoint>& ends,
                                      const std::vector<datasets::Ping>& pings,
                                      const std::vector<std::size_t>& rows) {
  constexpr std::size_t kPlacesAtOnce = 256;
  std::map<std::size_t, std::vector<std::size_t>> by_from;  // indices of `rows`
  for (std::size_t k = 0; k < rows.size(); ++k) {
    by_from[pings[rows[k]].from / kPlacesAtOnce].push_back(k);
  }
  std::vector<geo::RttEntry> entries(rows.size());
  for (const auto& [block, members] : by_from) {
    Selection from;
    Selection to;
    for (const std::size_t k : members) {
      from.add(pings[rows[k]].from, ends);
      to.add(pings[rows[k]].to, ends);
    }
    const geo::RttMatrix rtts = model.rtts(regime, from.ends, to.ends);
    for (const std::size_t k : members) {
      entries[k] =
          rtts.at(from.index.at(pings[rows[k]].from), to.index.at(pings[rows[k]].to));
    }
  }
  return entries;
}

}  // namespace

RttEvaluation evaluate_rtts(const datasets::Catalog& catalog,
                            const datasets::PingFile& file, geo::Regime regime,
                            bool overrides, double min_km) {
  geo::NetworkTables tables = catalog.network;
  if (!overrides) tables.measured.clear();
  const auto measured = measured_names(tables);
  std::vector<geo::Endpoint> ends;
  std::vector<std::string> continents;
  for (const datasets::PingPlace& place : file.places) {
    ends.push_back(place.end);
    // Several operators, or two regions of one, may stand in a city.
    if (const auto own = measured.find(place.name); own != measured.end()) {
      ends.back().name = own->second;
    }
    continents.push_back(catalog.continent_of(place.end.country));
  }
  RttEvaluation evaluation{regime, overrides, min_km, 0, {}};
  std::vector<std::size_t> rows;  // of the file that are judged
  for (std::size_t i = 0; i < file.pings.size(); ++i) {
    const datasets::Ping& ping = file.pings[i];
    const double km = geo::great_circle_km(ends[ping.from].at, ends[ping.to].at);
    if (ping.from == ping.to || km < min_km) {
      ++evaluation.too_near;
    } else {
      rows.push_back(i);
    }
  }
  const auto entries =
      entries_of(geo::NetworkModel(std::move(tables)), regime, ends, file.pings, rows);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const datasets::Ping& ping = file.pings[rows[k]];
    const auto [a, b] = std::minmax(continents[ping.from], continents[ping.to]);
    evaluation.pings.push_back(
        {file.places[ping.from].name,
         file.places[ping.to].name,
         geo::great_circle_km(ends[ping.from].at, ends[ping.to].at),
         {ping.rtt_ms, to_ms(entries[k].rtt), a + " - " + b},
         entries[k].basis});
  }
  return evaluation;
}

std::string evaluation_table(const RttEvaluation& evaluation, std::size_t worst) {
  const auto pairs = judged(evaluation);
  const auto groups = geo::summarise_groups(pairs);
  std::string text = fmt::format(
      "{} regime, overrides {}; {} directed pairs of {:g} km and more ({} nearer left "
      "out)\n\n",
      word(evaluation.regime), evaluation.overrides ? "on" : "off", pairs.size(),
      evaluation.min_km, evaluation.too_near);
  place::TextTable summary(
      {"", ">n", ">median %", ">p90 %", ">median ms", ">p90 ms", ">bias %"});
  summary.add(summary_cells("all", geo::summarise_errors(pairs)));
  for (const auto& [name, group] : groups) summary.add(summary_cells(name, group));
  text += summary.text();
  if (pairs.empty()) return text;
  text += fmt::format("mean of the continent pairs' medians: {:.1f} %\n",
                      100 * geo::mean_of_medians(groups));
  if (worst == 0) return text;
  place::TextTable table(
      {"worst pairs", "", ">km", ">measured ms", ">modelled ms", ">error %", "basis"});
  for (const EvaluatedPing& ping : worst_pings(evaluation, worst)) {
    table.add({ping.from, ping.to, fmt::format("{:.0f}", ping.km),
               fmt::format("{:.1f}", ping.judged.measured_ms),
               fmt::format("{:.1f}", ping.judged.modelled_ms),
               fmt::format("{:+.0f}", 100 * error_of(ping)), to_text(ping.basis)});
  }
  return text + "\n" + table.text();
}

std::string evaluation_json(const RttEvaluation& evaluation, std::size_t worst) {
  const auto pairs = judged(evaluation);
  const auto groups = geo::summarise_groups(pairs);
  std::vector<std::string> group_items;
  for (const auto& [name, group] : groups) {
    auto members = summary_members(group);
    members.insert(members.begin(), json_member("continents", json_text(name)));
    group_items.push_back(json_object(members));
  }
  std::vector<std::string> worst_items;
  for (const EvaluatedPing& ping : worst_pings(evaluation, worst)) {
    worst_items.push_back(json_object(
        {json_member("from", json_text(ping.from)),
         json_member("to", json_text(ping.to)),
         json_member("great_circle_km", fmt::format("{:.0f}", ping.km)),
         json_member("measured_ms", fmt::format("{:.3f}", ping.judged.measured_ms)),
         json_member("modelled_ms", fmt::format("{:.3f}", ping.judged.modelled_ms)),
         json_member("error_pct", fmt::format("{:.3f}", 100 * error_of(ping))),
         json_member("basis", json_text(to_text(ping.basis)))}));
  }
  return scenarios::json_indented(json_object(
      {json_member("regime", json_text(word(evaluation.regime))),
       json_member("overrides", evaluation.overrides ? "true" : "false"),
       json_member("min_km", fmt::format("{:g}", evaluation.min_km)),
       json_member("left_out", fmt::to_string(evaluation.too_near)),
       json_member("overall",
                   json_object(summary_members(geo::summarise_errors(pairs)))),
       json_member("mean_of_continent_pair_medians_pct",
                   pairs.empty()
                       ? "null"
                       : fmt::format("{:.3f}", 100 * geo::mean_of_medians(groups))),
       json_member("continent_pairs", json_array(group_items)),
       json_member("worst", json_array(worst_items))}));
}

std::string evaluation_csv(const RttEvaluation& evaluation) {
  std::string text =
      "from,to,great_circle_km,measured_ms,modelled_ms,error_pct,basis,continents\n";
  for (const EvaluatedPing& ping : evaluation.pings) {
    text += fmt::format("{},{},{:.1f},{:.3f},{:.3f},{:.3f},{},{}\n",
                        csv_cell(ping.from), csv_cell(ping.to), ping.km,
                        ping.judged.measured_ms, ping.judged.modelled_ms,
                        100 * error_of(ping), to_text(ping.basis), ping.judged.group);
  }
  return text;
}

}  // namespace isochrone::tools
