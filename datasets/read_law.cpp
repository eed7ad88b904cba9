#include <algorithm>

#include <fmt/format.h>

#include "datasets/catalog_reader.h"

namespace isochrone::datasets {
namespace {

constexpr std::string_view kDataClasses[] = {"general", "health", "financial"};
constexpr std::string_view kOutcomes[] = {"free", "conditional", "local_only",
                                          "local_copy"};
constexpr std::string_view kCombine[] = {"or", "and"};
constexpr std::string_view kScopes[] = {"whole", "note"};
constexpr std::string_view kMechanisms[] = {
    "adequacy", "dpf", "scc", "bcr", "consent", "certification", "baa", "approval"};

}  // namespace

std::set<geo::CountryCode> CatalogReader::countries_in(const Row& row,
                                                       std::string_view column) {
  std::set<geo::CountryCode> countries;
  for (const std::string& word : row.list(column)) {
    const auto expanded = catalog_.blocs.expand(word, country_codes_);
    if (expanded) {
      countries.insert(expanded->begin(), expanded->end());
      continue;
    }
    std::vector<std::string> known = catalog_.blocs.names();
    for (const geo::CountryCode code : country_codes_) known.push_back(code.text());
    row.unknown(column, word, known);
  }
  return countries;
}

ResidencyRow CatalogReader::residency_from(const Row& row) {
  ResidencyRow rule;
  rule.line = row.line();
  rule.jurisdiction = row.required("jurisdiction");
  rule.countries = countries_in(row, "countries");
  if (rule.countries.empty()) row.fault("countries", "a rule needs countries");
  rule.regime = row.required("regime");
  rule.data_class = row.word("data_class", kDataClasses);
  rule.outcome = row.word("outcome", kOutcomes);
  rule.allow_any = row.text("allow") == "*";
  if (!rule.allow_any) rule.allow = countries_in(row, "allow");
  if (!rule.allow_any && rule.allow.empty()) {
    row.fault("allow", "allow names no country", "write * for any");
  }
  rule.except = countries_in(row, "except");
  rule.stores = countries_in(row, "stores");
  rule.needs = row.list("needs");
  for (const std::string& mechanism : rule.needs) {
    if (std::ranges::find(kMechanisms, mechanism) == std::end(kMechanisms)) {
      row.unknown("needs", mechanism, {std::begin(kMechanisms), std::end(kMechanisms)});
    }
  }
  rule.and_rule = row.word("combine", kCombine) == "and";
  rule.note_only = row.word("scope", kScopes) == "note";
  rule.from_date = row.date("from_date", true);
  rule.until_date = row.date("until_date", true);
  if (!rule.from_date.empty() && !rule.until_date.empty() &&
      rule.until_date < rule.from_date) {
    row.fault("until_date", "until_date lies before from_date");
  }
  rule.basis = row.one_of<Basis>("basis", basis_words());
  rule.source = row.text("source");
  return rule;
}

void CatalogReader::read_residency() {
  each_row("residency",
           [&](const Row& row) { catalog_.residency.push_back(residency_from(row)); });
}

}  // namespace isochrone::datasets
