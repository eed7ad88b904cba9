#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/catalog.h"

namespace isochrone::scenarios {

/// Why a text is not what it must be: `which is no known GPU`, `did you mean "..."?`.
struct WordFault {
  std::string reason;
  std::string hint;
};

/// What the texts of a scenario may name: countries, blocs, GPUs, models ... of the
/// catalog, and the files beside the scenario.
class Vocabulary {
 public:
  Vocabulary(const datasets::Catalog& catalog, std::string folder);

  /// nullopt if `text` is a proper `kind` (the kinds of format.proto).
  std::optional<WordFault> fault(std::string_view kind, const std::string& text) const;

  /// Where a file named by the scenario lies.
  std::string path_of(const std::string& file) const;

  const datasets::Catalog& catalog() const { return catalog_; }
  const std::vector<std::string>& sites() const { return sites_; }
  const std::vector<std::string>& providers() const { return providers_; }
  const std::vector<std::string>& models() const { return models_; }
  const std::vector<std::string>& certifications() const { return certifications_; }

 private:
  std::optional<WordFault> country_fault(const std::string& text) const;
  std::optional<WordFault> place_fault(const std::string& text) const;
  std::optional<WordFault> file_fault(const std::string& text) const;
  bool is_country(std::string_view text) const;
  std::string place_hint(const std::string& text,
                         const std::vector<std::string>& known) const;

  const datasets::Catalog& catalog_;
  std::string folder_;
  std::vector<std::string> countries_;
  std::vector<std::string> places_;
  std::map<std::string, std::string> country_names_;  // in lower case -> code
  std::vector<std::string> gpus_;
  std::vector<std::string> models_;
  std::vector<std::string> profiles_;
  std::vector<std::string> sites_;
  std::vector<std::string> providers_;
  std::vector<std::string> certifications_;
};

/// True if `text` is YYYY-MM-DD and a day of the calendar, in 2000 to 2199. Such days
/// order as their texts do.
bool is_date(std::string_view text);

/// Glob with `*` (any text) and `?` (one character), over the whole text.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace isochrone::scenarios
