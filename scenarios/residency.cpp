// May these users' data be processed there, on every day of the horizon?
//
// For one day and one data class the rows of the users' country are read as the table
// says: rows joined by `or` are alternative bases of a transfer, one of which must
// admit the destination; rows joined by `and` are further laws, each of which must.
// A row admits what is in `allow`, not in `except`, if it needs no mechanism or one
// that the company has. Rows change on known days, so a horizon is decided by its first
// day and the days of change. Verdicts of days, of classes, and of law and policy join
// the same way: a refusal wins over "unknown", which wins over an admission.
#include "scenarios/residency.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "scenarios/countries.h"

namespace isochrone::scenarios {
namespace {

using datasets::Catalog;
using geo::CountryCode;

std::string cite(const datasets::ResidencyRow& row) {
  const bool from_memory = row.basis == datasets::Basis::kRecalled;
  return fmt::format("datasets/residency.csv:{}: {} ({}{})", row.line, row.regime,
                     row.data_class, from_memory ? ", recalled" : "");
}

bool holds_on(const datasets::ResidencyRow& row, Day day) {
  if (!row.from_date.empty() && day < parse_day(row.from_date)) return false;
  return row.until_date.empty() || day <= parse_day(row.until_date);
}

/// Adds a mechanism to `a + b` unless it is there; plain freedom adds nothing to
/// others.
void add_mechanism(std::string& all, const std::string& one) {
  if (one.empty() || all == one || one == "free") {
    if (all.empty()) all = one;
    return;
  }
  if (all.empty() || all == "free") {
    all = one;
  } else if ((" + " + all + " + ").find(" + " + one + " + ") == std::string::npos) {
    all += " + " + one;
  }
}

void join(Verdict& all, Verdict one) {
  const bool refused = (!all.allowed && !all.unknown) || (!one.allowed && !one.unknown);
  all.unknown = !refused && (all.unknown || one.unknown);
  all.allowed = all.allowed && one.allowed;
  if (all.allowed) {
    add_mechanism(all.mechanism, one.mechanism);
  } else {
    all.mechanism.clear();
  }
  for (std::string& line : one.chain) {
    if (std::ranges::find(all.chain, line) == all.chain.end()) {
      all.chain.push_back(std::move(line));
    }
  }
}

/// The classes whose rules a workload's data meet; none for data of class `none` alone.
std::vector<std::string> data_classes(const spec::Workload& workload) {
  if (workload.data().empty()) return {"general"};
  std::vector<std::string> classes;
  for (const std::string& data : workload.data()) {
    if (data != "none") classes.push_back(data);
  }
  return classes;
}

}  // namespace

std::vector<std::string> unclaimed_mechanisms(const spec::Residency& residency) {
  const auto& claimed = residency.law().mechanisms();
  const auto* field = spec::Residency::Law::descriptor()->FindFieldByName("mechanisms");
  std::vector<std::string> words;
  for (const std::string& word : field->options().GetExtension(spec::format).words()) {
    if (std::ranges::count(claimed, word) == 0) words.push_back(word);
  }
  return words;
}

ResidencyRules::ResidencyRules(const Scenario& scenario, const Catalog& catalog)
    : scenario_(scenario), catalog_(catalog) {
  const HorizonDays horizon = horizon_days(scenario);
  std::set<Day> days{horizon.first};
  const auto add_day = [&](Day day) {
    if (day > horizon.first && day <= horizon.last) days.insert(day);
  };
  for (const Row& row : catalog.residency) {
    for (const CountryCode country : row.countries) {
      rows_[{country, row.data_class}].push_back(&row);
    }
    if (!row.from_date.empty()) add_day(parse_day(row.from_date));
    if (!row.until_date.empty())
      add_day(parse_day(row.until_date) + std::chrono::days{1});
  }
  days_.assign(days.begin(), days.end());

  const spec::Residency& residency = scenario.spec.residency();
  for (int i = 0; i < residency.rules_size(); ++i) {
    const spec::Residency::Rule& rule = residency.rules(i);
    rules_.push_back({expand(rule.from(), catalog),
                      {rule.data().begin(), rule.data().end()},
                      expand(rule.allow(), catalog),
                      "",
                      scenario.source.cite(fmt::format("residency.rules[{}]", i))});
  }
  for (int i = 0; i < residency.assume_size(); ++i) {
    const spec::Residency::Assume& assume = residency.assume(i);
    assumptions_.push_back(
        {expand(assume.from(), catalog),
         {assume.data().begin(), assume.data().end()},
         expand(assume.allow(), catalog),
         assume.because(),
         scenario.source.cite(fmt::format("residency.assume[{}]", i))});
  }
}

bool ResidencyRules::names(const Line& line, CountryCode from,
                           const std::string& data) const {
  if (!line.data.empty() && !line.data.contains(data)) return false;
  return line.from.contains(from) || line.from.contains(catalog_.law_of(from));
}

Verdict ResidencyRules::verdict(CountryCode from, std::size_t workload,
                                CountryCode to) const {
  const std::string& mode = scenario_.spec.residency().mode();
  if (mode == "off") return {true, false, "off", {"residency.mode: off"}};
  const std::vector<std::string> classes =
      data_classes(scenario_.spec.workloads(static_cast<int>(workload)));
  if (classes.empty()) {
    return {true, false, "no rule applies", {"data: [none]: no rule applies"}};
  }
  Verdict all{true, false, "", {}};
  if (mode != "policy") {
    join(all, law(from, "general", to));
    for (const std::string& data : classes) join(all, law(from, data, to));
  }
  if (mode != "law") {
    for (const std::string& data : classes) join(all, policy(from, data, to));
  }
  return all;
}

Verdict ResidencyRules::law(CountryCode from, const std::string& data,
                            CountryCode to) const {
  if (catalog_.law_of(from) == catalog_.law_of(to)) {
    std::string why = from == to ? fmt::format("{}: the own country", from.text())
                                 : fmt::format("{} and {}: the law of {}", from.text(),
                                               to.text(), catalog_.law_of(from).text());
    return {true, false, "home", {std::move(why)}};
  }
  Verdict all = law_on(days_.front(), from, data, to);
  for (std::size_t i = 1; i < days_.size(); ++i) {
    Verdict later = law_on(days_[i], from, data, to);
    if (later.allowed == all.allowed && later.chain == all.chain) continue;
    if (later.allowed != all.allowed) {
      later.chain.insert(later.chain.begin(),
                         fmt::format("from {}:", to_text(days_[i])));
    }
    join(all, std::move(later));
  }
  add_notes(from, data, all);
  return all;
}

Verdict ResidencyRules::law_on(Day day, CountryCode from, const std::string& data,
                               CountryCode to) const {
  const auto rows = rows_.find({catalog_.law_of(from), data});
  std::vector<const Row*> whole;
  if (rows != rows_.end()) {
    std::ranges::copy_if(rows->second, std::back_inserter(whole), [&](const Row* row) {
      return !row->note_only && holds_on(*row, day);
    });
  }
  if (whole.empty()) return no_law(from, data, to);

  Verdict all{true, false, "free", {}};
  Verdict basis;  // the best of the alternative ones
  bool alternatives = false;
  for (const Row* row : whole) {
    Verdict one = reading(*row, to);
    if (row->and_rule) {
      join(all, std::move(one));
      continue;
    }
    alternatives = true;
    const bool better = one.allowed && (!basis.allowed || one.mechanism == "free");
    if (better && basis.mechanism != "free") {
      basis = std::move(one);
    } else if (!basis.allowed && !one.chain.empty()) {
      std::ranges::move(one.chain, std::back_inserter(basis.chain));
    }
  }
  if (alternatives) {
    if (!basis.allowed) {
      basis.chain.push_back(fmt::format("no basis in the law of {} ({}) admits {}",
                                        catalog_.law_of(from).text(), data, to.text()));
    }
    join(all, std::move(basis));
  }
  return all;
}

Verdict ResidencyRules::reading(const Row& row, CountryCode to) const {
  const bool listed = row.allow_any || row.allow.contains(to) ||
                      row.allow.contains(catalog_.law_of(to));
  if (!listed || row.except.contains(to) || row.except.contains(catalog_.law_of(to))) {
    // Of alternative rows only those that speak of the destination are worth citing.
    if (!row.and_rule) return {};
    return {false, false, "", {cite(row) + ": does not admit " + to.text()}};
  }
  std::string storage;
  for (const CountryCode country : row.stores) {
    storage += "; a copy must be stored in " + country.text();
  }
  if (row.needs.empty()) {
    return {true, false, "free", {cite(row) + ": admits " + to.text() + storage}};
  }
  const auto& held = scenario_.spec.residency().law().mechanisms();
  for (const std::string& need : row.needs) {
    if (std::ranges::find(held, need) == held.end()) continue;
    return {true,
            false,
            need,
            {cite(row) + ": admits " + to.text() + " under " + need + storage}};
  }
  return {false,
          false,
          "",
          {fmt::format("{}: would admit {} under {}, not in law.mechanisms", cite(row),
                       to.text(), fmt::join(row.needs, " or "))}};
}

Verdict ResidencyRules::no_law(CountryCode from, const std::string& data,
                               CountryCode to) const {
  for (const Line& line : assumptions_) {
    if (!names(line, from, data) || !line.allow.contains(to)) continue;
    return {true, false, "assumed", {line.cite + ": assumed, " + line.because}};
  }
  const spec::Residency::Law& law = scenario_.spec.residency().law();
  return {
      false,
      true,
      "",
      {fmt::format("no rule of {} for {} data is known (unknown: {}): only {} itself",
                   from.text(), data, law.has_unknown() ? law.unknown() : "deny",
                   from.text())}};
}

void ResidencyRules::add_notes(CountryCode from, const std::string& data,
                               Verdict& verdict) const {
  const auto rows = rows_.find({catalog_.law_of(from), data});
  const bool refused = !verdict.allowed && !verdict.unknown;
  if (refused || rows == rows_.end()) return;
  for (const Row* row : rows->second) {
    if (!row->note_only) continue;
    verdict.chain.push_back("note: " + cite(*row) +
                            ": another rule for part of the country or of the data");
  }
}

Verdict ResidencyRules::policy(CountryCode from, const std::string& data,
                               CountryCode to) const {
  Verdict all{true, false, "", {}};
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Line& rule = rules_[i];
    if (!names(rule, from, data)) continue;
    const bool admits = rule.allow.contains(to);
    join(all, {admits,
               false,
               fmt::format("policy rule {}", i + 1),
               {rule.cite + (admits ? ": lists " : ": does not list ") + to.text()}});
  }
  if (!all.chain.empty()) return all;

  const spec::Residency& residency = scenario_.spec.residency();
  const std::string otherwise =
      residency.has_otherwise() ? residency.otherwise() : "home";
  const bool home = catalog_.law_of(from) == catalog_.law_of(to);
  std::string why = fmt::format("no policy rule names {} ({}): otherwise {}",
                                from.text(), data, otherwise);
  if (otherwise == "any") return {true, false, "any", {std::move(why)}};
  return {otherwise == "home" && home,
          false,
          otherwise == "home" && home ? "home" : "",
          {std::move(why)}};
}

}  // namespace isochrone::scenarios
