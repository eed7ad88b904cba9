#include "scenarios/vocabulary.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {
namespace {

std::string in_case(std::string text, int (*convert)(int)) {
  for (char& c : text) {
    c = static_cast<char>(convert(static_cast<unsigned char>(c)));
  }
  return text;
}

std::vector<std::string> sorted(const std::set<std::string>& words) {
  return {words.begin(), words.end()};
}

std::optional<WordFault> known_fault(const std::string& text, std::string_view what,
                                     const std::vector<std::string>& known) {
  if (std::ranges::count(known, text) > 0) return std::nullopt;
  return WordFault{fmt::format("which is no known {}", what),
                   did_you_mean(text, known)};
}

std::optional<WordFault> date_fault(const std::string& text) {
  if (is_date(text)) return std::nullopt;
  return WordFault{"which is no day; expected one as 2026-12-01", ""};
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::optional<WordFault> name_fault(const std::string& text) {
  const bool odd = std::ranges::any_of(
      text, [](char c) { return is_control(c) || c == '[' || c == ']'; });
  if (!odd && text.size() <= 100 && !text.starts_with(' ') && !text.ends_with(' ')) {
    return std::nullopt;
  }
  return WordFault{
      "which is no name; expected 1 to 100 characters, without brackets, line breaks "
      "or outer spaces",
      ""};
}

std::optional<WordFault> glob_fault(const std::string& text) {
  const bool odd = std::ranges::any_of(
      text, [](char c) { return is_control(c) || c == ' ' || c == '[' || c == ']'; });
  if (!odd &&
      (text.find('/') != std::string::npos || text.find('*') != std::string::npos)) {
    return std::nullopt;
  }
  return WordFault{
      "which is no pattern of sites; expected provider/region, * and ? "
      "standing for any text and any character",
      odd ? "" : fmt::format("did you mean \"{}/*\"?", text)};
}

}  // namespace

Vocabulary::Vocabulary(const datasets::Catalog& catalog, std::string folder)
    : catalog_(catalog), folder_(std::move(folder)) {
  for (const datasets::Country& country : catalog.countries) {
    countries_.push_back(country.code.text());
    country_names_[in_case(country.name, std::tolower)] = country.code.text();
  }
  std::ranges::sort(countries_);
  places_ = countries_;
  for (std::string& bloc : catalog.blocs.names()) places_.push_back(std::move(bloc));
  for (const datasets::Gpu& gpu : catalog.gpus) gpus_.push_back(gpu.id);
  for (const datasets::Model& model : catalog.models) models_.push_back(model.id);
  for (const auto& profile : catalog.daily_profiles) profiles_.push_back(profile.name);
  std::set<std::string> providers;
  for (const datasets::Site& site : catalog.sites) {
    sites_.push_back(site.id);
    providers.insert(site.provider);
  }
  std::ranges::sort(sites_);
  providers_ = sorted(providers);
  std::set<std::string> certifications;
  for (const auto& [provider, held] : catalog.certifications) {
    certifications.insert(held.begin(), held.end());
  }
  certifications_ = sorted(certifications);
}

std::optional<WordFault> Vocabulary::fault(std::string_view kind,
                                           const std::string& text) const {
  if (kind == "country") return country_fault(text);
  if (kind == "place_word") return place_fault(text);
  if (kind == "date") return date_fault(text);
  if (kind == "profile") return known_fault(text, "daily profile", profiles_);
  if (kind == "gpu") return known_fault(text, "GPU", gpus_);
  if (kind == "model") return known_fault(text, "model", models_);
  if (kind == "glob") return glob_fault(text);
  if (kind == "file") return file_fault(text);
  if (kind == "name") return name_fault(text);
  // own_model needs the scenario's own models, so it is checked when all is read.
  INVARIANT(kind.empty() || kind == "own_model", "kind " + std::string(kind));
  return std::nullopt;
}

bool Vocabulary::is_country(std::string_view text) const {
  const auto code = geo::CountryCode::parse(text);
  return code && catalog_.country(*code).has_value();
}

std::string Vocabulary::place_hint(const std::string& text,
                                   const std::vector<std::string>& known) const {
  // Codes that are often mistaken for the ISO ones.
  static const std::map<std::string, std::string> usual = {{"UK", "GB"}, {"EL", "GR"}};
  const std::string upper = in_case(text, std::toupper);
  if (const auto it = usual.find(upper); it != usual.end()) {
    return fmt::format("did you mean \"{}\"?", it->second);
  }
  if (std::ranges::count(known, upper) > 0) {
    return fmt::format("did you mean \"{}\"?", upper);
  }
  const auto named = country_names_.find(in_case(text, std::tolower));
  if (named != country_names_.end()) {
    return fmt::format("did you mean \"{}\"?", named->second);
  }
  // Any two letters are near some code: a guess would mislead.
  return text.size() <= 2 ? "" : did_you_mean(upper, known);
}

std::optional<WordFault> Vocabulary::country_fault(const std::string& text) const {
  if (is_country(text)) return std::nullopt;
  if (catalog_.blocs.find(text) != nullptr) {
    return WordFault{"which is a bloc; expected one country", ""};
  }
  return WordFault{"which is no known country; expected an ISO code as DE",
                   place_hint(text, countries_)};
}

std::optional<WordFault> Vocabulary::place_fault(const std::string& text) const {
  if (is_country(text) || catalog_.blocs.find(text) != nullptr) return std::nullopt;
  return WordFault{"which is no known country or bloc", place_hint(text, places_)};
}

std::string Vocabulary::path_of(const std::string& file) const {
  return file_path(folder_, file);
}

std::optional<WordFault> Vocabulary::file_fault(const std::string& text) const {
  const std::filesystem::path path = path_of(text);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return WordFault{"which does not exist", ""};
  if (!std::filesystem::is_regular_file(status)) {
    return WordFault{"which is not a file", ""};
  }
  if (!std::ifstream(path)) return WordFault{"which cannot be read", ""};
  return std::nullopt;
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int numbers[3] = {};
  const std::pair<std::size_t, std::size_t> parts[3] = {{0, 4}, {5, 2}, {8, 2}};
  for (std::size_t i = 0; i < 3; ++i) {
    for (const char c : text.substr(parts[i].first, parts[i].second)) {
      if (c < '0' || c > '9') return false;
      numbers[i] = numbers[i] * 10 + (c - '0');
    }
  }
  const std::chrono::year_month_day day{
      std::chrono::year(numbers[0]),
      std::chrono::month(static_cast<unsigned>(numbers[1])),
      std::chrono::day(static_cast<unsigned>(numbers[2]))};
  return day.ok() && numbers[0] >= 2000 && numbers[0] < 2200;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  // After a mismatch the last star takes one character more; linear but for that.
  std::size_t p = 0;
  std::size_t t = 0;
  std::optional<std::size_t> star;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star) {
      p = *star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace isochrone::scenarios
