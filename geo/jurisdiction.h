#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "geo/place.h"

namespace isochrone::geo {

/// Named groups of countries (EU, EEA, ASEAN, continents ...). No name equals a
/// country.
class Blocs {
 public:
  Blocs() = default;
  explicit Blocs(std::map<std::string, std::set<CountryCode>> members);

  /// Members of a bloc; nullptr if there is none of that name.
  const std::set<CountryCode>* find(std::string_view name) const;
  /// A country code or a bloc name as a set of countries; nullopt if it is neither. A
  /// two-letter word counts as a country only if it is in `known_countries`.
  std::optional<std::set<CountryCode>> expand(
      std::string_view word, const std::set<CountryCode>& known_countries) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, std::set<CountryCode>> members_;
};

}  // namespace isochrone::geo
